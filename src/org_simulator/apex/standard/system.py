"""System, UserInfo, FeatureManagement, Limits, Crypto, EncodingUtil, Blob and UUID."""

from __future__ import annotations

import base64
import hashlib
import uuid
from typing import Any
from urllib.parse import quote_plus, unquote_plus

from org_simulator.apex.contexts import EVENTS
from org_simulator.apex.faults import Unsupported
from org_simulator.apex.platform import constant, method, static
from org_simulator.apex.raising import null_pointer
from org_simulator.apex.texts import text
from org_simulator.apex.values import EnumValue, Id, Native

LEVELS = ("NONE", "ERROR", "WARN", "INFO", "DEBUG", "FINE", "FINER", "FINEST")
for _place, _name in enumerate(LEVELS):
    constant(
        f"LoggingLevel.{_name}",
        "LoggingLevel",
        lambda _name=_name, _place=_place: EnumValue("LoggingLevel", _name, _place),  # type: ignore[misc]
    )
for _event in EVENTS:
    constant(
        f"TriggerOperation.{_event}",
        "TriggerOperation",
        lambda _event=_event: EnumValue("TriggerOperation", _event, EVENTS.index(_event)),  # type: ignore[misc]
    )


@static("System.debug", "void", 1, 2)
def debug(session: Any, *given: Any) -> None:
    session.log.append(text(given[-1], session.zone()))


# ---- who runs -------------------------------------------------------------------------------------------------------


def _user(session: Any) -> Any:
    return session.tx.any_row("User", session.tx.user_id) or {}


@static("UserInfo.getUserId", "Id")
def get_user_id(session: Any) -> Id:
    return Id(session.tx.user_id)


@static("UserInfo.getOrganizationId", "Id")
def get_organization_id(session: Any) -> Id:
    return Id(session.org.org_id)


@static("UserInfo.getUserName", "String")
def get_user_name(session: Any) -> Any:
    return _user(session).get("Username")


@static("UserInfo.getName", "String")
def get_name(session: Any) -> Any:
    return _user(session).get("Name")


@static("UserInfo.getProfileId", "Id")
def get_profile_id(session: Any) -> Any:
    found = _user(session).get("ProfileId")
    return None if found is None else Id(found)


@static("UserInfo.getUserType", "String")
def get_user_type(session: Any) -> Any:
    return _user(session).get("UserType")


@static("FeatureManagement.checkPermission", "Boolean", 1)
def check_permission(session: Any, name: str) -> bool:
    """Whether the running user has a custom permission, by assignments of this transaction too."""
    if name is None:
        raise null_pointer()
    return name.lower() in {each.lower() for each in _permissions(session)}


def _permissions(session: Any) -> set[str]:
    tx = session.tx
    found: set[str] = set()
    for row in tx.rows_by("PermissionSetAssignment", "AssigneeId", [tx.user_id]) or ():
        owned = tx.any_row("PermissionSet", row["PermissionSetId"]) or {}
        known = session.org.schema.permission_sets.get(owned.get("Name"))
        found |= known.custom_permissions if known is not None else set()
    return found


# ---- limits ---------------------------------------------------------------------------------------------------------

_FIGURES = {
    "Queries": "queries",
    "QueryRows": "query_rows",
    "AggregateQueries": "aggregate_queries",
    "DmlStatements": "dml_statements",
    "DmlRows": "dml_rows",
    "QueueableJobs": "queueable_jobs",
    "FutureCalls": "future_calls",
    "EmailInvocations": "email_invocations",
    "PublishImmediateDML": "publish_immediate",
}


def _figure(name: str, key: str) -> None:
    static(f"Limits.get{name}", "Integer")(lambda session: session.limits.used[key])
    static(f"Limits.getLimit{name}", "Integer")(lambda session: session.limits.most[key])


for _name, _key in _FIGURES.items():
    _figure(_name, _key)


@static("Limits.getCpuTime|Limits.getHeapSize", "Integer")
def not_measured(_session: Any) -> int:
    """Time and heap are not claimed: 0."""
    return 0


@static("Limits.getLimitCpuTime", "Integer")
def limit_cpu_time(session: Any) -> int:
    return 60_000 if session.asynchronous else 10_000


@static("Limits.getLimitHeapSize", "Integer")
def limit_heap_size(session: Any) -> int:
    return 12_000_000 if session.asynchronous else 6_000_000


# ---- digests and encodings ------------------------------------------------------------------------------------------

_DIGESTS = {"sha-256": "sha256", "sha256": "sha256", "sha-512": "sha512", "sha1": "sha1", "sha-1": "sha1", "md5": "md5"}


@static("Crypto.generateDigest", "Blob", 2)
def generate_digest(_session: Any, algorithm: Any, data: Any) -> bytes:
    if algorithm is None or data is None:
        raise null_pointer()
    if algorithm.lower() not in _DIGESTS:
        raise Unsupported(f"the digest {algorithm}")
    return hashlib.new(_DIGESTS[algorithm.lower()], data).digest()


@static("Crypto.getRandomInteger", "Integer")
def get_random_integer(session: Any) -> int:
    return int(session.org.dice.randrange(-(2**31), 2**31))


@static("UUID.randomUUID", "UUID")
def random_uuid(session: Any) -> Native:
    return Native("UUID", str(uuid.UUID(int=session.org.dice.getrandbits(128), version=4)))


@method("UUID.toString", "String")
def uuid_text(_session: Any, value: Native) -> str:
    return str(value.held)


@static("EncodingUtil.convertToHex", "String", 1)
def convert_to_hex(_session: Any, data: bytes) -> str:
    return data.hex()


@static("EncodingUtil.convertFromHex", "Blob", 1)
def convert_from_hex(_session: Any, value: str) -> bytes:
    return bytes.fromhex(value)


@static("EncodingUtil.base64Encode", "String", 1)
def base64_encode(_session: Any, data: bytes) -> str:
    return base64.b64encode(data).decode()


@static("EncodingUtil.base64Decode", "Blob", 1)
def base64_decode(_session: Any, value: str) -> bytes:
    return base64.b64decode(value)


@static("EncodingUtil.urlEncode", "String", 2)
def url_encode(_session: Any, value: str, _charset: str) -> str:
    return quote_plus(value)


@static("EncodingUtil.urlDecode", "String", 2)
def url_decode(_session: Any, value: str, _charset: str) -> str:
    return unquote_plus(value)


@static("Blob.valueOf", "Blob", 1)
def blob_value_of(_session: Any, value: str) -> bytes:
    return value.encode()


@method("Blob.toString", "String")
def blob_text(_session: Any, value: bytes) -> str:
    return value.decode()


@method("Blob.size", "Integer")
def blob_size(_session: Any, value: bytes) -> int:
    return len(value)


@static("System.isBatch|System.isFuture|System.isScheduled", "Boolean")
def never(_session: Any) -> bool:
    return False


@static("System.isQueueable", "Boolean")
def is_queueable(session: Any) -> bool:
    return bool(session.asynchronous)
