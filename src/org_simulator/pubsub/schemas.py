"""The Avro schema of each channel: a change event's header, then every field of the object, all nullable.

Order as in Salesforce's guide for Lead (so bitmaps can be compared with its samples), other fields behind, custom
fields last. Compound fields are records in a union; picklists, texts and references are strings, dates are epoch
milliseconds.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import fastavro

from org_simulator.event_bodies import COMPOUNDS, OMITTED, event_name

if TYPE_CHECKING:
    from org_simulator.schema import Schema, SObject

HEADER = "ChangeEventHeader"
NAMESPACE = "com.sforce.eventbus"
CHANGE_TYPES: Final = (
    "CREATE",
    "UPDATE",
    "DELETE",
    "UNDELETE",
    "GAP_CREATE",
    "GAP_UPDATE",
    "GAP_DELETE",
    "GAP_UNDELETE",
    "GAP_OVERFLOW",
    "SNAPSHOT",
)
_LEAD_ORDER: Final = """
Name Title Company Address Phone MobilePhone Fax Email Website Description LeadSource Status Industry Rating
AnnualRevenue NumberOfEmployees OwnerId HasOptedOutOfEmail IsConverted ConvertedDate ConvertedAccountId
ConvertedContactId ConvertedOpportunityId IsUnreadByOwner CreatedDate CreatedById LastModifiedDate LastModifiedById
DoNotCall HasOptedOutOfFax LastTransferDate Jigsaw JigsawContactId EmailBouncedReason EmailBouncedDate
"""
_AVRO: Final[Mapping[str, str]] = {
    "boolean": "boolean",
    "double": "double",
    "currency": "double",
    "percent": "double",
    "int": "int",
    "date": "long",
    "datetime": "long",
}


@dataclass(frozen=True, slots=True)
class EventSchema:
    """A channel's schema. `fields` in order, each with the parts of a compound; `moments` are fields of time."""

    id: str
    text: str
    parsed: Any
    fields: Mapping[str, tuple[str, ...]]
    moments: frozenset[str]
    change: bool


def schema_of(schema: Schema, channel: str) -> EventSchema | None:
    """The schema of one entity's change channel or of one platform event; None for a channel without its own."""
    kind, _, name = channel.removeprefix("/").partition("/")
    if kind == "event":
        event = schema.platform_events.get(name.lower())
        return None if event is None else _made(event.name, _platform(event), event, change=False)
    for sobject in schema.objects.values():
        if event_name(sobject.name) == name:
            members = [_header(), *(_member(sobject, field) for field in _listed(sobject))]
            return _made(name, members, sobject, change=True)
    return None


def _made(name: str, members: list[dict[str, Any]], sobject: SObject, *, change: bool) -> EventSchema:
    told = {"type": "record", "name": name, "namespace": NAMESPACE, "fields": members}
    text = json.dumps(told, separators=(",", ":"))
    digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()[:16]).decode().rstrip("=")
    moments = {field.name for field in sobject.fields.values() if field.type in {"date", "datetime"}}
    return EventSchema(
        id=digest,
        text=text,
        parsed=fastavro.parse_schema(told),
        fields={member["name"]: _parts(sobject.name, member["name"]) for member in members},
        moments=frozenset({*moments, "CreatedDate", "LastModifiedDate"}),
        change=change,
    )


def _listed(sobject: SObject) -> tuple[str, ...]:
    """The top-level fields of an object's change event, in order."""
    parts = COMPOUNDS.get(sobject.name, {})
    compounds = {path.partition(".")[0] for path in parts.values()}
    present = [field.name for field in sobject.fields.values() if field.name.lower() not in {*OMITTED, *parts}]
    names = [name for name in present if not name.endswith("__c")]
    names += [name for name in sorted(compounds) if name not in names]
    order = {name: place for place, name in enumerate(_LEAD_ORDER.split())} if sobject.name == "Lead" else {}
    standard = sorted(dict.fromkeys(names), key=lambda name: order.get(name, len(order)))
    return (*standard, *(name for name in present if name.endswith("__c")))


def _parts(sobject: str, name: str) -> tuple[str, ...]:
    paths = COMPOUNDS.get(sobject, {}).values()
    return tuple(path.partition(".")[2] for path in paths if path.startswith(f"{name}."))


def _member(sobject: SObject, name: str) -> dict[str, Any]:
    parts = _parts(sobject.name, name)
    if not parts:
        field = sobject.fields.get(name.lower())
        return {"name": name, "type": ["null", _AVRO.get(field.type if field else "", "string")], "default": None}
    fields = []
    for part in parts:
        field = sobject.fields.get(_flat(sobject.name, f"{name}.{part}"))
        kind = _AVRO.get(field.type if field else "", "string")
        fields.append({"name": part, "type": ["null", kind], "default": None})
    record = {"type": "record", "name": f"{sobject.name}_{name}", "fields": fields}
    return {"name": name, "type": ["null", "string", record] if name == "Name" else ["null", record], "default": None}


def _flat(sobject: str, path: str) -> str:
    return next(flat for flat, known in COMPOUNDS[sobject].items() if known == path)


def _platform(event: SObject) -> list[dict[str, Any]]:
    stamped = [{"name": "CreatedDate", "type": "long"}, {"name": "CreatedById", "type": "string"}]
    own = [field for field in event.fields.values() if field.name.endswith("__c")]
    return [
        *stamped,
        *({"name": one.name, "type": ["null", _AVRO.get(one.type, "string")], "default": None} for one in own),
    ]


def _header() -> dict[str, Any]:
    strings = {"type": "array", "items": "string"}
    members: list[tuple[str, Any]] = [
        ("entityName", "string"),
        ("recordIds", strings),
        ("changeType", {"type": "enum", "name": "ChangeType", "symbols": list(CHANGE_TYPES)}),
        ("changeOrigin", "string"),
        ("transactionKey", "string"),
        ("sequenceNumber", "int"),
        ("commitTimestamp", "long"),
        ("commitNumber", "long"),
        ("commitUser", "string"),
        ("nulledFields", strings),
        ("diffFields", strings),
        ("changedFields", strings),
    ]
    fields = [{"name": name, "type": kind} for name, kind in members]
    return {"name": HEADER, "type": {"type": "record", "name": HEADER, "fields": fields}}
