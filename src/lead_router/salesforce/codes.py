"""One table from Salesforce's status codes to what this program makes of them, and the exceptions for whole requests.

The codes and their texts are those of the REST API guide's "Status Codes and Error Responses" and of the partner
WSDL's StatusCode list. Texts are told without the values that Salesforce repeats from a lead.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from lead_router.core.hidden import scrub, without_numbers
from lead_router.errors import (
    BadSetup,
    ContractMismatch,
    LeadRouterError,
    LoginRefused,
    OutcomeUnknown,
    RateLimited,
    Rejected,
    RowLocked,
    SessionExpired,
    Unreachable,
)

DAILY_PAUSE_S = 60.0  # the daily allowance is a rolling 24 hours, so some of it comes back all the time
BURST_PAUSE_S = 10.0  # long requests of others must end first; the worker adds jitter
TEXT_MAX = 200  # characters of a foreign text that are told
ADDRESS_MAX = 254  # characters of an e-mail address
LOOKED_AT_MAX = 4_000  # characters of it that are looked at: a page may have millions


class Kind(StrEnum):
    """What a code means for the caller; the remedy differs, not the sender."""

    SESSION = "the access token was refused"
    LIMIT = "an allowance is used up"
    LOCK = "another transaction holds the record"
    DUPLICATE = "a unique key is taken"
    RULE = "a validation rule or a trigger's addError refused"
    TRIGGER = "a trigger failed; the cause is in its text"
    MOVED = "the record changed since it was read"
    GONE = "the record was deleted or converted"
    REFERENCE = "a record that this one names is not there"
    OWNER = "the new owner cannot own leads"
    SECONDARY = "rolled back because another record failed"
    SERVER = "Salesforce could not carry it out now"
    CONTRACT = "the org is not as the router needs it"
    SETUP = "a person must change the org's setup"
    LOGIN = "the integration user may not use the API"
    REJECTED = "the record is refused"
    UNKNOWN = "a code that this program does not know"


CODES: Mapping[str, Kind] = {
    "INVALID_SESSION_ID": Kind.SESSION,
    "REQUEST_LIMIT_EXCEEDED": Kind.LIMIT,
    "UNABLE_TO_LOCK_ROW": Kind.LOCK,
    "DUPLICATE_VALUE": Kind.DUPLICATE,
    "FIELD_CUSTOM_VALIDATION_EXCEPTION": Kind.RULE,
    "CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY": Kind.TRIGGER,
    "ENTITY_FAILED_IFLASTMODIFIED_ON_UPDATE": Kind.MOVED,
    "ENTITY_IS_DELETED": Kind.GONE,
    "CANNOT_UPDATE_CONVERTED_LEAD": Kind.GONE,
    "INVALID_CROSS_REFERENCE_KEY": Kind.REFERENCE,
    "INACTIVE_OWNER_OR_USER": Kind.OWNER,
    "TRANSFER_REQUIRES_READ": Kind.OWNER,
    "ALL_OR_NONE_OPERATION_ROLLED_BACK": Kind.SECONDARY,
    "PROCESSING_HALTED": Kind.SECONDARY,
    "SERVER_UNAVAILABLE": Kind.SERVER,
    "UNKNOWN_EXCEPTION": Kind.SERVER,
    "NOT_FOUND": Kind.CONTRACT,
    "INVALID_FIELD": Kind.CONTRACT,
    "INVALID_TYPE": Kind.CONTRACT,
    "INVALID_FIELD_FOR_INSERT_UPDATE": Kind.CONTRACT,
    "MALFORMED_QUERY": Kind.CONTRACT,
    "STORAGE_LIMIT_EXCEEDED": Kind.SETUP,
    "API_DISABLED_FOR_ORG": Kind.LOGIN,
    "API_CURRENTLY_DISABLED": Kind.LOGIN,
    "DUPLICATES_DETECTED": Kind.REJECTED,
    "MALFORMED_ID": Kind.REJECTED,
    "REQUIRED_FIELD_MISSING": Kind.REJECTED,
    "INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST": Kind.REJECTED,
    "INSUFFICIENT_ACCESS_OR_READONLY": Kind.REJECTED,
    "STRING_TOO_LONG": Kind.REJECTED,
    "ENTITY_IS_LOCKED": Kind.REJECTED,
    "FIELD_INTEGRITY_EXCEPTION": Kind.REJECTED,
    "FIELD_FILTER_VALIDATION_EXCEPTION": Kind.REJECTED,
    "INVALID_EMAIL_ADDRESS": Kind.REJECTED,
    "REQUEST_RUNNING_TOO_LONG": Kind.REJECTED,
    "QUERY_TIMEOUT": Kind.REJECTED,
}

REMEDIES: Mapping[str, str] = {
    "DUPLICATES_DETECTED": "let the duplicate rule allow the integration user, or exclude it from the rule",
    "INSUFFICIENT_ACCESS_OR_READONLY": "give the integration user the permission set Lead_Router_Integration",
    "ENTITY_IS_LOCKED": "an approval process holds the record: approve, reject or recall it",
    "INVALID_FIELD": "deploy salesforce_metadata and give the integration user its permission set; correct rules and "
    "members that name a field which is gone",
    "INVALID_TYPE": "deploy salesforce_metadata and give the integration user its permission set",
    "INVALID_FIELD_FOR_INSERT_UPDATE": "give the integration user the permission set Lead_Router_Integration",
    "STORAGE_LIMIT_EXCEEDED": "free data storage in the org",
    "API_DISABLED_FOR_ORG": "give the integration user the right 'API Enabled'",
    "API_CURRENTLY_DISABLED": "give the integration user the right 'API Enabled'",
}

_EMAIL = re.compile(r"(?<![^\s@:<>,;])[^\s@:<>,;]++@[^\s@:<>,;]++")
_VALUE_TOLD = re.compile(
    r"(data value too large|invalid email address|bad value for restricted picklist field): .*?(?=\(max length|$)",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Trouble:
    """One error as Salesforce states it. `text` may repeat a lead's values: tell `told(trouble)` instead."""

    code: str
    text: str
    fields: tuple[str, ...] = ()

    @property
    def kind(self) -> Kind:
        """What the code means; a trigger's failure on a lock is a lock."""
        kind = CODES.get(self.code, Kind.UNKNOWN)
        if kind is Kind.TRIGGER and "UNABLE_TO_LOCK_ROW" in self.text:
            return Kind.LOCK
        return kind


def troubles(body: Any) -> tuple[Trouble, ...]:
    """The errors of an answer's body: REST says `errorCode`, a collection's record says `statusCode`. Else empty.

    An action that failed has a list of them.
    """
    parts = body if isinstance(body, list) else [body]
    found = [error for part in parts for error in (_of_action(part) or [part])]
    return tuple(
        Trouble(
            str(item.get("errorCode") or item.get("statusCode")),
            str(item.get("message") or ""),
            tuple(str(name) for name in item.get("fields") or ()),
        )
        for item in found
        if isinstance(item, dict) and (item.get("errorCode") or item.get("statusCode"))
    )


def _of_action(part: Any) -> list[Any]:
    errors = part.get("errors") if isinstance(part, dict) and "actionName" in part else None
    return errors if isinstance(errors, list) else []


def hushed(text: str) -> str:
    """The start of a foreign text on one line, without e-mail addresses, telephone numbers and secrets."""
    start = text[:LOOKED_AT_MAX]
    before, _, last = start.rpartition(" ")
    if len(text) > LOOKED_AT_MAX and len(last) <= ADDRESS_MAX:
        start = before  # half an address would not look like one
    line = " ".join(_VALUE_TOLD.sub(r"\1 ", start).split())
    return without_numbers(scrub(_EMAIL.sub("[e-mail]", line)))[:TEXT_MAX]


def told(trouble: Trouble) -> str:
    """The error for a person: code, text, fields, and the remedy where one is known."""
    fields = f" [{', '.join(trouble.fields)}]" if trouble.fields else ""
    remedy = REMEDIES.get(trouble.code)
    return f"{trouble.code}: {hushed(trouble.text)}{fields}" + (f" ({remedy})" if remedy else "")


def tell(found: Sequence[Trouble]) -> str:
    """All errors in one text."""
    return "; ".join(told(trouble) for trouble in found)


def rate_limited(trouble: Trouble) -> RateLimited:
    """REQUEST_LIMIT_EXCEEDED names two limits: too many calls in a day, or too many long ones at the same time."""
    daily = "concurrent" not in trouble.text.lower()
    return RateLimited(told(trouble), retry_after=DAILY_PAUSE_S if daily else BURST_PAUSE_S, daily=daily)


def unanswered(text: str, *, write: bool) -> LeadRouterError:
    """No usable answer came to a request that may have been carried out, which matters for a write only."""
    return OutcomeUnknown(text) if write else Unreachable(text)


def surprise(found: Sequence[Trouble], *, write: bool) -> LeadRouterError:
    """The exception for a request that Salesforce refused as a whole; `found` holds at least one error."""
    first = found[0]
    text = tell(found)
    codes = tuple(trouble.code for trouble in found)
    remedies: Mapping[Kind, Callable[[], LeadRouterError]] = {
        Kind.SESSION: lambda: SessionExpired(text),
        Kind.LIMIT: lambda: rate_limited(first),
        Kind.LOCK: lambda: RowLocked(text),
        Kind.SERVER: lambda: unanswered(text, write=write),
        Kind.CONTRACT: lambda: ContractMismatch(text),
        Kind.SETUP: lambda: BadSetup(text),
        Kind.LOGIN: lambda: LoginRefused(text),
    }
    return remedies.get(first.kind, lambda: Rejected(text, codes=codes))()
