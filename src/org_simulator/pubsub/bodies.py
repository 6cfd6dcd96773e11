"""An event of the log as Avro bytes: what changed as bitmaps, times as epoch milliseconds, the rest null."""

from __future__ import annotations

import io
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any, Final

import fastavro

from org_simulator.pubsub.schemas import HEADER

if TYPE_CHECKING:
    from org_simulator.events import Event
    from org_simulator.pubsub.schemas import EventSchema


KEPT_MAX: Final = 10_000


class Bodies:
    """The bodies of the events that were sent last, at most `most`: each is made once, whoever hears it."""

    def __init__(self, *, most: int = KEPT_MAX) -> None:
        self._most = most
        self._kept: OrderedDict[tuple[int, str], bytes] = OrderedDict()

    def of(self, event: Event, schema: EventSchema) -> bytes:
        """The event's payload as one Avro datum."""
        name = event.serial, schema.id
        body = self._kept.get(name)
        if body is None:
            body = self._kept[name] = encode(event, schema)
            if len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return body


def encode(event: Event, schema: EventSchema) -> bytes:
    """The event's payload as one Avro datum."""
    record = _values(event.payload, schema)
    if schema.change:
        record[HEADER] = _header(event.payload, schema)
    stream = io.BytesIO()
    fastavro.schemaless_writer(stream, schema.parsed, record)
    return stream.getvalue()


def decode(body: bytes, schema: EventSchema) -> dict[str, Any]:
    """A published event's fields; raises ValueError where the bytes do not fit."""
    try:
        record = fastavro.schemaless_reader(io.BytesIO(body), schema.parsed, None)
    except (EOFError, IndexError, KeyError, TypeError, OverflowError) as fault:
        raise ValueError(str(fault)) from fault
    if not isinstance(record, dict):
        raise ValueError("the schema is no record")  # noqa: TRY004 - it is what the sender sent
    return record


def bitmaps(schema: EventSchema, names: Iterable[str]) -> list[str]:
    """Field names (`Name.FirstName` inside a compound) as Salesforce writes them: one map, then one a compound."""
    places = {name: place for place, name in enumerate(schema.fields)}
    top, inner = 0, dict[str, int]()
    for name in names:
        compound, _, part = name.partition(".")
        if part:
            inner[compound] = inner.get(compound, 0) | 1 << schema.fields[compound].index(part)
        elif name in places:
            top |= 1 << places[name]
    maps = [f"0x{top:02X}"] if top else []
    return [*maps, *(f"{places[compound]}-0x{bits:02X}" for compound, bits in sorted(inner.items()))]


def _header(payload: Mapping[str, Any], schema: EventSchema) -> dict[str, Any]:
    told = payload[HEADER]
    paths = list(_paths(payload)) if told["changeType"] == "UPDATE" else []
    nulled = [path for path, value in paths if value is None]
    return {
        **told,
        "changedFields": bitmaps(schema, told.get("changedFields") or [path for path, _ in paths]),
        "nulledFields": bitmaps(schema, nulled),
        "diffFields": [],
    }


def _paths(payload: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    for name, value in payload.items():
        if name == HEADER:
            continue
        if isinstance(value, Mapping):
            yield from ((f"{name}.{part}", inner) for part, inner in value.items())
        else:
            yield name, value


def _values(payload: Mapping[str, Any], schema: EventSchema) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, parts in schema.fields.items():
        if name == HEADER:
            continue
        value = payload.get(name)
        if parts and isinstance(value, Mapping):
            values[name] = {part: value.get(part) for part in parts}
        else:
            values[name] = _moment(value) if name in schema.moments else value
    return values


def _moment(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    text = value.replace("+0000", "Z")
    if "T" not in text:
        return round(datetime.combine(date.fromisoformat(text), datetime.min.time(), tzinfo=UTC).timestamp() * 1000)
    return round(datetime.fromisoformat(text).timestamp() * 1000)
