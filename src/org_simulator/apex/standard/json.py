"""JSON: serialize, deserialize and deserializeUntyped."""

from __future__ import annotations

import json
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

from org_simulator.apex.faults import Unsupported
from org_simulator.apex.invoking import construct
from org_simulator.apex.platform import static
from org_simulator.apex.raising import null_pointer, thrown
from org_simulator.apex.records import Record, from_stored
from org_simulator.apex.tree import TypeName
from org_simulator.apex.types import OBJECT, STRING, Type, coercer
from org_simulator.apex.values import EnumValue, Instance, ListValue, Long, MapValue, Native, SetValue

LONG_MIN = 2**31


def plain(value: Any) -> Any:  # noqa: C901, PLR0911 - one per kind of value
    """A value as JSON has it."""
    match value:
        case None | bool() | float():
            return value
        case str():
            return str(value)
        case int():
            return int(value)
        case Decimal():
            return int(value) if value == int(value) and not value.as_tuple().exponent else float(value)
        case datetime():
            return value.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        case date() | time():
            return value.isoformat()
        case EnumValue():
            return value.name
        case ListValue() | SetValue():
            return [plain(each) for each in value]
        case MapValue():
            return {str(plain(name)): plain(held) for name, held in value.items.values()}
        case Record():
            fields = {value.sobject.fields[name].name: plain(value.read(name)) for name in value.populated()}
            return {"attributes": {"type": value.sobject.name}, **fields}
        case Instance():
            return {_declared(value, name): plain(held) for name, held in value.values.items()}
        case _:
            raise Unsupported("JSON of an object of the platform")


def _declared(value: Instance, name: str) -> str:
    field = value.cls.field(name)
    return name if field is None else field.name


@static("JSON.serialize", "String", 1, 2)
def serialize(_session: Any, value: Any, suppress_nulls: bool = False) -> str:
    shown = plain(value)
    return json.dumps(_without_nulls(shown) if suppress_nulls else shown, separators=(",", ":"), ensure_ascii=False)


def _without_nulls(value: Any) -> Any:
    match value:
        case dict():
            return {name: _without_nulls(held) for name, held in value.items() if held is not None}
        case list():
            return [_without_nulls(each) for each in value]
        case _:
            return value


@static("JSON.serializePretty", "String", 1, 2)
def serialize_pretty(_session: Any, value: Any, _suppress: bool = False) -> str:
    return json.dumps(plain(value), indent=2, separators=(",", " : "), ensure_ascii=False)


def _loaded(written: Any) -> Any:
    if written is None:
        raise null_pointer()
    try:
        return json.loads(written, parse_float=Decimal)
    except ValueError as fault:
        raise thrown("JsonException", f"Unexpected character: {fault}") from None


@static("JSON.deserializeUntyped", "Object", 1)
def deserialize_untyped(_session: Any, written: str) -> Any:
    return _untyped(_loaded(written))


def _untyped(value: Any) -> Any:
    """Objects as Map<String, Object>, arrays as List<Object>; whole numbers as Integer, or Long where they need it."""
    match value:
        case dict():
            made = MapValue(STRING, OBJECT)
            made.items = {name: (name, _untyped(held)) for name, held in value.items()}
            return made
        case list():
            return ListValue([_untyped(each) for each in value], OBJECT)
        case bool():
            return value
        case int():
            return value if -LONG_MIN <= value < LONG_MIN else Long(value)
        case _:
            return value


@static("JSON.deserialize|JSON.deserializeStrict", "Object", 2)
def deserialize(session: Any, written: str, kind: Native) -> Any:
    resolver = session.program.resolver
    wanted = resolver.type(_written(kind.held), None)
    return typed(session, _loaded(written), wanted)


def _written(name: str) -> TypeName:
    head, _, rest = name.partition("<")
    if not rest:
        return TypeName(tuple(head.strip().split(".")))
    depth, start, args = 0, 0, []
    inner = rest[:-1]
    for at, char in enumerate(inner):
        depth += (char == "<") - (char == ">")
        if char == "," and depth == 0:
            args.append(inner[start:at])
            start = at + 1
    return TypeName((head.strip(),), tuple(_written(each.strip()) for each in [*args, inner[start:]]))


def typed(session: Any, value: Any, wanted: Type) -> Any:  # noqa: PLR0911 - one per kind of type
    """A value of JSON as one of this type."""
    if value is None or wanted.name == "Object":
        return _untyped(value)
    if wanted.name == "List":
        return ListValue([typed(session, each, wanted.args[0]) for each in value], wanted.args[0])
    if wanted.name == "Map":
        made = MapValue(wanted.args[0], wanted.args[1])
        made.items = {name: (name, typed(session, held, wanted.args[1])) for name, held in value.items()}
        return made
    if wanted.cls is not None:
        return _instance(session, value, wanted)
    if wanted.sobject is not None:
        return _record(session, value, wanted.sobject)
    if wanted.name in {"Date", "Datetime"}:
        return date.fromisoformat(value) if wanted.name == "Date" else datetime.fromisoformat(value)
    convert = coercer(wanted)
    try:
        return _untyped(value) if convert is None else convert(_untyped(value))
    except (TypeError, ValueError) as fault:
        raise thrown("JsonException", f"Illegal value for {wanted}: {value}") from fault


def _instance(session: Any, value: Any, wanted: Type) -> Any:
    cls = wanted.cls
    if cls is None or not isinstance(value, dict):
        raise thrown("JsonException", f"Illegal value for {wanted}: {value}")
    made = Instance(cls) if cls.constructors else construct(session, cls, ())
    for each in cls.chain():
        for name, field in each.fields.items():
            if not field.static:
                made.values.setdefault(name, None)
    for name, held in value.items():
        found = cls.field(name.lower())
        if found is not None and not found.static:
            made.values[name.lower()] = typed(session, held, found.type)
    return made


def _record(session: Any, value: Any, name: str) -> Record:
    made = Record(session.program.resolver.sobject(name.lower()))
    for field, held in value.items():
        known = made.sobject.fields.get(field.lower())
        if known is None:
            if field != "attributes":
                raise Unsupported(f"JSON of {name}.{field}")
            continue
        made.values[field.lower()] = from_stored(known, float(held) if isinstance(held, Decimal) else held)
        made.changed[field.lower()] = None
    return made
