"""Lists, sets and maps: made of others, their elements taken as their type says."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from org_simulator.apex.conversion import type_of
from org_simulator.apex.faults import Unsupported
from org_simulator.apex.raising import null_pointer, thrown
from org_simulator.apex.records import Record
from org_simulator.apex.types import Type, coercer
from org_simulator.apex.values import ListValue, MapValue, SetValue, key


def element(value: Any, of: Type) -> Any:
    """A value as an element of this type."""
    convert = coercer(of)
    if convert is None or value is None:
        return value
    try:
        return convert(value)
    except ValueError as fault:
        raise thrown("StringException", str(fault)) from None
    except TypeError:
        raise Unsupported(f"an element of type {type_of(value)} among {of}") from None


def elements(value: Any, of: Type) -> list[Any]:
    """All elements of a list or set, as elements of this type."""
    if value is None:
        raise null_pointer()
    if not isinstance(value, ListValue | SetValue):
        raise Unsupported(f"the elements of {type_of(value)}")
    if coercer(of) is None or value.of == of:
        return list(value)
    return [element(each, of) for each in value]


def list_of(kind: Type, given: Any) -> ListValue:
    """`new List<T>()`, of another collection, or of a length with nulls."""
    of = kind.args[0]
    if given is None:
        return ListValue([], of)
    if isinstance(given, int):
        return ListValue([None] * given, of)
    return ListValue(elements(given, of), of)


def keyed(values: Iterable[Any]) -> dict[Any, Any]:
    """Values by what a set holds them by; the first of equal ones stays."""
    made: dict[Any, Any] = {}
    for each in values:
        made.setdefault(key(each), each)
    return made


def set_of(kind: Type, given: Any) -> SetValue:
    """`new Set<T>()`, or of another collection."""
    of = kind.args[0]
    return SetValue(of, {} if given is None else keyed(elements(given, of)))


def map_of(kind: Type, given: Any) -> MapValue:
    """`new Map<K, V>()`, of another map, or of records by their ids."""
    of, to = kind.args
    made = MapValue(of, to)
    if given is None:
        return made
    if isinstance(given, MapValue):
        put_all(made, given)
        return made
    for each in elements(given, to):
        if not isinstance(each, Record):
            raise Unsupported(f"a map of {type_of(given)}")
        if each.id is None:
            raise thrown("ListException", "Row with null Id at index: 0")
        name = element(each.id, of)
        made.items[key(name)] = (name, each)
    return made


def put_all(made: MapValue, given: Any) -> None:
    """Put a map's pairs, or records by their ids, into another map."""
    if given is None:
        raise null_pointer()
    if isinstance(given, ListValue):
        given = map_of(Type("Map", (made.of, made.to)), given)
    for name, value in given.items.values():
        kept = element(name, made.of)
        made.items[key(kept)] = (kept, element(value, made.to))
