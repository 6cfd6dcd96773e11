"""Events read as changes: one per record, compound fields flattened, gaps named, the unreadable kept.

Salesforce merges equal changes of several records into one event; such an event gives several changes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from lead_router.core.ids import to18
from lead_router.ports import Change, Unreadable
from lead_router.salesforce.names import CLIENT, LeadFields, Objects, RequestFields, Standard

REQUESTED = "REQUESTED"
OVERFLOW = "GAP_OVERFLOW"
CHANGE_TYPES = frozenset(
    {"CREATE", "UPDATE", "DELETE", "UNDELETE", "GAP_CREATE", "GAP_UPDATE", "GAP_DELETE", "GAP_UNDELETE", OVERFLOW}
)
ZERO_ID = "000000000000000AAA"
COMPOUNDS = frozenset({"Name", "Address"})
_ROUTING = frozenset(value for name, value in vars(LeadFields).items() if not name.startswith("_"))
_BESIDE = frozenset({Standard.OWNER, Standard.MODIFIED_AT, "LastModifiedById"})
_SHORT = 15
_KEY = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class Reading:
    """What one event says. `replay_id` is None where the event bears none that can be resumed from."""

    changes: tuple[Change, ...] = ()
    unreadable: Unreadable | None = None
    replay_id: int | None = None
    gap: str | None = None


class _Malformed(Exception):
    """The event lacks what every event of its kind has; the text names the member and never its value."""


def read_event(channel: str, event: Any, *, entity: str = Objects.LEAD) -> Reading:
    """Read one event as decoded from JSON; never raises. `channel` is the subscription's, for what cannot be read.

    Changes of other entities than `entity` give no change, yet their replay id counts.
    """
    replay_id = _replay_id(event)
    try:
        changes, gap, faults = _read(event, entity)
    except _Malformed as fault:
        return Reading((), _kept(channel, event, str(fault)), replay_id)
    if replay_id is None:
        faults = [*faults, "event.replayId is no whole number"]
    return Reading(changes, _kept(channel, event, "; ".join(faults)) if faults else None, replay_id, gap)


def read_payload(channel: str, payload: Mapping[str, Any], event_uuid: str, *, entity: str = Objects.LEAD) -> Reading:
    """Read a payload that came over Pub/Sub API, in the shape that CometD gives it; never raises.

    Its position is not part of it, so the reading has no replay id.
    """
    event = {"data": {"payload": payload, "event": {"EventUuid": event_uuid}}}
    try:
        changes, gap, faults = _read(event, entity)
    except _Malformed as fault:
        return Reading((), _kept(channel, event, str(fault)))
    return Reading(changes, _kept(channel, event, "; ".join(faults)) if faults else None, None, gap)


def own_change(change: Change, *, user_id: str, client: str = CLIENT) -> bool:
    """Whether the change is an echo of this program's own write, to be dropped.

    It is when its origin names our client; or, as some calls may lose that name, when our user changed nothing but
    routing fields, the owner only together with the stamp. Creations never are: the program creates no leads.
    """
    if change.change_type not in {"UPDATE", "GAP_UPDATE"}:
        return False
    if f"client={client}" in change.origin.split(";")[1:]:
        return True
    if not change.commit_user or change.commit_user[:_SHORT] != user_id[:_SHORT]:
        return False
    changed = change.changed_fields
    stamped = LeadFields.STAMP in changed or Standard.OWNER not in changed
    return stamped and bool(changed & _ROUTING) and changed <= _ROUTING | _BESIDE


def _read(event: Any, entity: str) -> tuple[tuple[Change, ...], str | None, list[str]]:
    payload = _member(_member(event, "data", dict), "payload", dict)
    if "ChangeEventHeader" in payload:
        header = _member(payload, "ChangeEventHeader", dict)
        if _member(header, "entityName", str) != entity:
            return (), None, []
        return _changes(header, payload)
    if RequestFields.LEAD_ID in payload:
        return (_requested(event["data"], payload),), None, []
    raise _Malformed(f"neither ChangeEventHeader nor {RequestFields.LEAD_ID} is present")


def _changes(header: Mapping[str, Any], payload: Mapping[str, Any]) -> tuple[tuple[Change, ...], str | None, list[str]]:
    change_type = _member(header, "changeType", str)
    if change_type not in CHANGE_TYPES:
        raise _Malformed("changeType is not one that this program knows")
    if change_type == OVERFLOW:
        return (), "GAP_OVERFLOW: one transaction changed more than Salesforce lists", []
    fields = {} if change_type.startswith("GAP_") else flat(payload)
    committed_at = _moment(_member(header, "commitTimestamp", int))
    identity = f"{_key(header, 'transactionKey')}.{_member(header, 'sequenceNumber', int)}"
    ids, vague, malformed = _record_ids(_member(header, "recordIds", list))
    changed_fields = _changed_fields(header, change_type, fields)
    changes = tuple(
        Change(
            record_id=record_id,
            change_type=change_type,
            identity=identity,
            origin=_text(header, "changeOrigin"),
            commit_user=_text(header, "commitUser"),
            committed_at=committed_at,
            changed_fields=changed_fields,
            fields=fields,
            stamped=LeadFields.STAMP in changed_fields or LeadFields.STAMP in fields,
        )
        for record_id in ids
    )
    gap = f"{change_type} names records by a wildcard" if vague else None
    return changes, gap, ["recordIds holds something that is no record id"] if malformed else []


def _record_ids(listed: list[Any]) -> tuple[list[str], bool, bool]:
    """The ids in 18 characters, whether a wildcard or the zero id is among them, and whether something else is."""
    ids: dict[str, None] = {}
    vague, malformed = False, not listed
    for record_id in listed:
        if isinstance(record_id, str) and ("*" in record_id or record_id == ZERO_ID):
            vague = True
            continue
        try:
            ids[to18(record_id if isinstance(record_id, str) else "")] = None
        except ValueError:
            malformed = True
    return list(ids), vague, malformed


def _requested(envelope: Mapping[str, Any], payload: Mapping[str, Any]) -> Change:
    uuid = _key(_member(envelope, "event", dict), "EventUuid")
    try:
        record_id = to18(_member(payload, RequestFields.LEAD_ID, str))
        created = payload.get("CreatedDate")
        whole = isinstance(created, int)
        at = _moment(_member(payload, "CreatedDate", int)) if whole else datetime.fromisoformat(str(created))
    except ValueError:
        raise _Malformed(f"{RequestFields.LEAD_ID} or CreatedDate cannot be read") from None
    return Change(
        record_id=record_id,
        change_type=REQUESTED,
        identity=uuid,
        origin="",
        commit_user=_text(payload, "CreatedById"),
        committed_at=at if at.tzinfo else at.replace(tzinfo=UTC),
        changed_fields=frozenset(),
        fields={},
    )


def flat(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a change without its header; parts of Name and Address stand among the others, as on the record."""
    fields: dict[str, Any] = {}
    for name, value in payload.items():
        if name in COMPOUNDS and isinstance(value, dict):
            fields |= value
        elif name != "ChangeEventHeader":
            fields[name] = value
    return fields


def _changed_fields(header: Mapping[str, Any], change_type: str, fields: Mapping[str, Any]) -> frozenset[str]:
    """The header's changedFields without compound prefix; where CometD omits them, the fields of an update's body."""
    listed = header.get("changedFields")
    if isinstance(listed, list) and listed:
        names = (name for name in listed if isinstance(name, str))
        return frozenset(name.removeprefix("Name.").removeprefix("Address.") for name in names)
    return frozenset(fields) if change_type == "UPDATE" else frozenset()


def _replay_id(event: Any) -> int | None:
    try:
        replay_id = int(_member(_member(_member(event, "data", dict), "event", dict), "replayId", int))
    except _Malformed:
        return None
    return replay_id if replay_id >= 0 else None


def _kept(channel: str, event: Any, reason: str) -> Unreadable:
    try:
        body = json.dumps(event, separators=(",", ":"), default=str)  # Avro has bytes, times and decimals
    except RecursionError:
        body, reason = "null", f"{reason}; nested too deep to be kept"
    return Unreadable(channel, body.encode(), reason)


def _moment(milliseconds: int) -> datetime:
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        raise _Malformed("a time is out of range") from None


def _member(parent: Any, name: str, kind: type[Any]) -> Any:
    value = parent.get(name) if isinstance(parent, dict) else None
    if not isinstance(value, kind) or isinstance(value, bool) or value == "":
        raise _Malformed(f"{name} is missing or of another type")
    return value


def _key(parent: Any, name: str) -> str:
    """A member that becomes part of an idempotency key, which has an alphabet and a length."""
    value = str(_member(parent, name, str))
    if _KEY.fullmatch(value) is None:
        raise _Malformed(f"{name} is no key")
    return value


def _text(parent: Mapping[str, Any], name: str) -> str:
    value = parent.get(name)
    return value if isinstance(value, str) else ""
