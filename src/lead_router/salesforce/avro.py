"""Events of Pub/Sub API as dictionaries: Avro bodies read with the schema they name, in the shape that CometD has.

An update's body holds every field of the object, and what did not change is null there: only the header's bitmaps tell
a cleared field from an untouched one, so what they do not name is left out.
"""

from __future__ import annotations

import io
import json
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import fastavro

from lead_router.salesforce.avro_bounds import least_bytes
from lead_router.salesforce.avro_readers import Read, reader_of
from lead_router.salesforce.bitmaps import Named, fields_of

KNOWN_MAX = 256
HEADER = "ChangeEventHeader"
_CHANGED, _NULLED, _DIFFERENCES = "changedFields", "nulledFields", "diffFields"
_UPDATES = frozenset({"UPDATE"})

Json: TypeAlias = dict[str, Any]


class Undecodable(ValueError):
    """The body does not fit its schema, or the schema is none; the text names what, and never a value."""


@dataclass(frozen=True, slots=True)
class Schema:
    """A schema ready for reading; `fields` in the schema's order, which is what bitmaps count."""

    reader: Read
    fields: tuple[Named, ...]

    def read(self, body: bytes) -> Json:
        """The event's payload as CometD would have it; raises Undecodable."""
        try:
            record, end = self.reader(body, 0)
        except Exception as fault:  # noqa: BLE001 - whatever the bytes are, they cost no other event
            raise Undecodable(f"the body does not fit its schema ({type(fault).__name__})") from None
        if not isinstance(record, dict) or end != len(body):
            raise Undecodable("the body does not fit its schema (its length)")
        header = record.get(HEADER)
        if not isinstance(header, dict):
            return _filled(record)
        del record[HEADER]
        return _change(self.fields, record, header)


class Schemas:
    """The schemas met last, by id, at most `most`: an id is a fingerprint, so what was read once stays true."""

    def __init__(self, *, most: int = KNOWN_MAX) -> None:
        self._most = most
        self._known: OrderedDict[str, Schema] = OrderedDict()

    def __len__(self) -> int:
        return len(self._known)

    def get(self, schema_id: str) -> Schema | None:
        """The schema of that id, if it is at hand."""
        if schema_id in self._known:
            self._known.move_to_end(schema_id)
        return self._known.get(schema_id)

    def add(self, schema_id: str, text: str) -> Schema:
        """Take a schema in; raises Undecodable where the text is none."""
        schema = schema_of(text)
        self._known[schema_id] = schema
        while len(self._known) > self._most:
            self._known.popitem(last=False)
        return schema


def schema_of(text: str) -> Schema:
    """A schema out of its JSON text; raises Undecodable."""
    try:
        told = json.loads(text)
        least_bytes(told)
        parsed = fastavro.parse_schema(told)
        reader = reader_of(parsed) or _general(parsed)
        fields = tuple(Named(field["name"], _parts(field["type"])) for field in told["fields"])
    except Exception as fault:  # noqa: BLE001 - whatever the text is, it costs no other schema's events
        raise Undecodable(f"the schema cannot be read ({type(fault).__name__})") from None
    return Schema(reader, fields)


def _general(parsed: Any) -> Read:
    """Of any schema there is, at three times the time."""

    def read(body: bytes, at: int) -> tuple[Any, int]:
        stream = io.BytesIO(body)
        stream.seek(at)
        return fastavro.schemaless_reader(stream, parsed, None), stream.tell()

    return read


def _parts(kind: Any) -> tuple[str, ...]:
    """The parts of a compound field: those of the record in its union."""
    for branch in kind if isinstance(kind, list) else [kind]:
        if isinstance(branch, dict) and branch.get("type") == "record":
            return tuple(field["name"] for field in branch["fields"])
    return ()


def _change(fields: tuple[Named, ...], record: Mapping[str, Any], told: Mapping[str, Any]) -> Json:
    header = dict(told)
    for listing in (_CHANGED, _NULLED, _DIFFERENCES):
        header[listing] = _names(fields, told.get(listing), listing)
    if header.get("changeType") not in _UPDATES:
        return {**_filled(record), HEADER: header}
    differences = set(header[_DIFFERENCES])
    wanted = dict.fromkeys([*header[_CHANGED], *header[_NULLED]])
    return {**_chosen(record, (name for name in wanted if name not in differences)), HEADER: header}


def _names(fields: tuple[Named, ...], listed: Any, listing: str) -> list[str]:
    try:
        return fields_of(fields, listed or ())
    except (ValueError, TypeError, AttributeError):
        raise Undecodable(f"{listing} is no bitmap") from None


def _filled(values: Mapping[str, Any]) -> Json:
    """The values that are there, in compounds too."""
    there = {name: value for name, value in values.items() if value is not None}
    for name in [name for name, value in there.items() if isinstance(value, dict)]:
        there[name] = _filled(there[name])
        if not there[name]:
            del there[name]
    return there


def _chosen(values: Mapping[str, Any], names: Iterable[str]) -> Json:
    """The values of those names, null where they were cleared; a compound holds its named parts."""
    chosen: Json = {}
    for name in names:
        compound, _, part = name.partition(".")
        value = values.get(compound)
        if not part:
            chosen[name] = value
        elif isinstance(inner := chosen.setdefault(compound, {}), dict):
            inner[part] = value.get(part) if isinstance(value, dict) else None
    return chosen
