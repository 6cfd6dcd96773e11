"""Apex values as Python has them.

Integer is int, Long is Long, Decimal is Decimal, Double is float, String is str, Id is Id (18 characters), Blob is
bytes, Date, Time and Datetime (aware, UTC) are datetime's, null is None. Collections, records and objects stand below.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, time
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from org_simulator.apex.faults import Unsupported

if TYPE_CHECKING:
    from org_simulator.apex.classes import ApexClass
    from org_simulator.apex.types import Type

OWN_EQUALITY = frozenset({("equals", ("Object",)), ("hashcode", ())})
"""Signatures by which a class decides what its objects are equal to."""

INT_BITS = 32
LONG_BITS = 64


class Long(int):
    """A 64-bit whole number."""

    __slots__ = ()


class Id(str):
    """A record id in 18 characters."""

    __slots__ = ()


class ListValue:
    """A List; `of` is the type of its elements, `queried` marks what a query answered (assignable to one record)."""

    __slots__ = ("items", "of", "queried")

    def __init__(self, items: list[Any], of: Type, *, queried: bool = False) -> None:
        self.items = items
        self.of = of
        self.queried = queried

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items)


class SetValue:
    """A Set, in order of insertion; elements by their key."""

    __slots__ = ("items", "of")

    def __init__(self, of: Type, items: dict[Any, Any] | None = None) -> None:
        self.items: dict[Any, Any] = {} if items is None else items
        self.of = of

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items.values())


class MapValue:
    """A Map, in order of insertion: key and value by the key's key."""

    __slots__ = ("items", "of", "to")

    def __init__(self, of: Type, to: Type, items: dict[Any, tuple[Any, Any]] | None = None) -> None:
        self.items: dict[Any, tuple[Any, Any]] = {} if items is None else items
        self.of = of
        self.to = to


class Instance:
    """An object of a class, an exception among them; `values` by lower-cased field name."""

    __slots__ = ("cls", "extra", "values")

    def __init__(self, cls: ApexClass) -> None:
        self.cls = cls
        self.values: dict[str, Any] = {}
        self.extra: Any = None


class EnumValue:
    """One constant of an enum."""

    __slots__ = ("name", "ordinal", "type")

    def __init__(self, kind: str, name: str, ordinal: int) -> None:
        self.type = kind
        self.name = name
        self.ordinal = ordinal


class Native:
    """An object of the platform's own: `kind` is its type's name, `held` what it stands for."""

    __slots__ = ("held", "kind")

    def __init__(self, kind: str, held: Any) -> None:
        self.kind = kind
        self.held = held


_KINDS: dict[type, str] = {
    str: "String",
    Id: "Id",
    bool: "Boolean",
    int: "Integer",
    Long: "Long",
    Decimal: "Decimal",
    float: "Double",
    date: "Date",
    datetime: "Datetime",
    time: "Time",
    bytes: "Blob",
    ListValue: "List",
    SetValue: "Set",
    MapValue: "Map",
}


def kind_of(value: Any) -> str:
    """The name of a value's type, without arguments; `SObject`, `Enum` and `Object` for what has a name of its own."""
    known = _KINDS.get(type(value))
    if known is not None:
        return known
    match value:
        case Native():
            return value.kind
        case EnumValue():
            return "Enum"
        case Instance():
            return "Exception" if value.cls.is_exception else "Object"
        case _:
            return "SObject"


def wrap(value: int, bits: int) -> int:
    """Two's complement: what is left of a whole number in this many bits."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def key(value: Any) -> Any:  # noqa: PLR0911 - one per kind of value
    """What a Set or Map holds a value by: texts by case, numbers by value, records by type and fields."""
    match value:
        case str() | None:
            return value
        case bool():
            return ("boolean", value)
        case ListValue():
            return ("list", *map(key, value.items))
        case SetValue():
            return ("set", frozenset(value.items))
        case MapValue():
            return ("map", frozenset((name, key(pair[1])) for name, pair in value.items.items()))
        case EnumValue():
            return (value.type, value.name)
        case Native(kind="SObjectType" | "SObjectField" | "Type"):
            return (value.kind, value.held)
        case Instance():
            refuse_own_equality(value)
            return value
        case Native():
            return value
        case _:
            return value.key() if hasattr(value, "key") else value


def refuse_own_equality(value: Instance) -> None:
    """Objects are equal to themselves alone here: one whose class says otherwise is refused, not compared wrongly."""
    for method in (*value.cls.named("equals"), *value.cls.named("hashcode")):
        if method.signature in OWN_EQUALITY:
            what = f"objects of {value.cls.name}, which has {method.name} of its own, compared or held by a Set or Map"
            raise Unsupported(what)
