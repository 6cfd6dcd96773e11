"""What a committed change looks like as a change event: header, body and the names Salesforce gives them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from org_simulator.changes import DELETE, UPDATE

if TYPE_CHECKING:
    from org_simulator.changes import RowChange

OVERFLOW_ID = "000000000000000AAA"

# Members that no change event carries: the record's id stands in the header, the others are derived values.
OMITTED = frozenset({"id", "isdeleted", "systemmodstamp", "lastactivitydate", "lastvieweddate", "lastreferenceddate"})

_ADDRESS = ("Street", "City", "State", "PostalCode", "Country", "Latitude", "Longitude", "GeocodeAccuracy")
_PERSON = MappingProxyType(
    {"salutation": "Name.Salutation", "firstname": "Name.FirstName", "lastname": "Name.LastName"}
)

# Flat field -> `Compound.Part`. A compound's own flat text (Name) is derived and left out.
COMPOUNDS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "Lead": MappingProxyType({**_PERSON, **{part.lower(): f"Address.{part}" for part in _ADDRESS}}),
        "Contact": MappingProxyType(
            {**_PERSON, **{f"mailing{part.lower()}": f"MailingAddress.{part}" for part in _ADDRESS}}
        ),
    }
)

_COMPOUND_NAMES = {
    sobject: frozenset(path.partition(".")[0].lower() for path in parts.values())
    for sobject, parts in COMPOUNDS.items()
}

_REST_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?\+0000")


def event_name(sobject: str) -> str:
    """`LeadChangeEvent` of Lead, `X__ChangeEvent` of X__c."""
    return f"{sobject.removesuffix('__c')}__ChangeEvent" if sobject.endswith("__c") else f"{sobject}ChangeEvent"


def changed_fields(change: RowChange) -> list[str]:
    """Names an update's `changedFields` lists, dotted inside compounds; always ends in LastModifiedDate."""
    return [*(path for _, path in _changed(change)), "LastModifiedDate"]


def body(change: RowChange) -> dict[str, Any]:
    """An update's changed fields with explicit nulls; every filled field of a creation; nothing of a deletion."""
    row = change.after or {}
    if change.kind == DELETE:
        return {}
    if change.kind == UPDATE:
        pairs = [(path, row[field]) for field, path in _changed(change)]
        return _nested([*pairs, ("LastModifiedDate", row["LastModifiedDate"])] if "LastModifiedDate" in row else pairs)
    filled = (field for field in row if row[field] is not None)
    return _nested((path, row[field]) for field, path in _paths(change.sobject, filled))


def header(change: RowChange, record_ids: list[str], *, changed_fields_present: bool) -> dict[str, Any]:
    """The ChangeEventHeader as CometD shows it: without nulledFields and diffFields."""
    named = {
        "entityName": change.sobject,
        "recordIds": record_ids,
        "changeType": change.kind,
        "changeOrigin": change.origin,
        "transactionKey": change.transaction_key,
        "sequenceNumber": change.sequence,
        "commitTimestamp": int(change.at.timestamp() * 1000),
        "commitNumber": change.commit_number,
        "commitUser": change.user_id,
    }
    if changed_fields_present:
        named["changedFields"] = changed_fields(change) if change.kind == UPDATE else []
    return named


def gap_header(full: Mapping[str, Any]) -> dict[str, Any]:
    """The header of the gap event that stands where the full event could not be made."""
    gap = {**full, "changeType": f"GAP_{full['changeType']}"}
    if "changedFields" in gap:
        gap["changedFields"] = []
    return gap


def overflow_header(full: Mapping[str, Any]) -> dict[str, Any]:
    """The header of the one event that stands for all further changes of an entity in a too large transaction."""
    return {**gap_header(full), "changeType": "GAP_OVERFLOW", "recordIds": [OVERFLOW_ID]}


def _changed(change: RowChange) -> list[tuple[str, str]]:
    before, after = change.before or {}, change.after or {}
    fields = (field for field in after if before.get(field) != after[field] and field != "LastModifiedDate")
    return _paths(change.sobject, fields)


def _paths(sobject: str, fields: Iterable[str]) -> list[tuple[str, str]]:
    """Each field that events carry, with the path it has there."""
    parts, compounds = COMPOUNDS.get(sobject, {}), _COMPOUND_NAMES.get(sobject, frozenset())
    return [
        (field, parts.get(name, field))
        for field in fields
        if (name := field.lower()) not in OMITTED and name not in compounds
    ]


def _nested(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    shaped: dict[str, Any] = {}
    for path, value in pairs:
        compound, _, part = path.partition(".")
        if part:
            shaped.setdefault(compound, {})[part] = value
        else:
            shaped[path] = _event_time(value)
    return shaped


def _event_time(value: Any) -> Any:
    # REST writes +0000, events write Z; no text field of a lead holds a REST time.
    if isinstance(value, str) and _REST_TIME.fullmatch(value):
        return f"{value[:-5]}Z"
    return value
