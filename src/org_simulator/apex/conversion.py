"""Casts and instanceof."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from org_simulator.apex.raising import thrown
from org_simulator.apex.records import Record
from org_simulator.apex.types import Type, coercer
from org_simulator.apex.values import (
    INT_BITS,
    EnumValue,
    Id,
    Instance,
    ListValue,
    Long,
    MapValue,
    Native,
    SetValue,
    kind_of,
    wrap,
)

_NUMBERS = {"Integer", "Long", "Decimal", "Double"}


def type_of(value: Any) -> str:
    """The name of a value's own type, as error texts say it."""
    match value:
        case Record():
            return value.sobject.name
        case Instance():
            return value.cls.name
        case EnumValue():
            return value.type
        case ListValue() | SetValue():
            return f"{kind_of(value)}<{value.of}>"
        case MapValue():
            return f"Map<{value.of}, {value.to}>"
        case _:
            return kind_of(value)


def is_instance(value: Any, wanted: Type) -> bool:  # noqa: PLR0911 - one per kind of value
    """instanceof; null is of no type."""
    if value is None:
        return False
    if wanted.name == "Object":
        return True
    match value:
        case Record():
            return wanted.name == "SObject" or wanted.sobject == value.sobject.name
        case Instance():
            if wanted.cls is not None:
                return value.cls.is_a(wanted.cls)
            return value.cls.is_named(wanted.name.lower())
        case ListValue() | SetValue():
            return wanted.name == kind_of(value) and _fits(value.of, wanted.args[0])
        case MapValue():
            return wanted.name == "Map" and _fits(value.of, wanted.args[0]) and _fits(value.to, wanted.args[1])
        case EnumValue():
            return wanted.name == value.type
        case Native():
            return wanted.name == value.kind
        case _:
            own = kind_of(value)
            return wanted.name == own or (own == "Id" and wanted.name == "String")


def _fits(own: Type, wanted: Type) -> bool:
    return own == wanted or wanted.name == "Object" or (wanted.name == "SObject" and own.sobject is not None)


def cast(value: Any, wanted: Type) -> Any:
    """`(Type) value`; TypeException where the value is of another type."""
    if value is None or is_instance(value, wanted):
        return value
    own = kind_of(value)
    if own in _NUMBERS and wanted.name in _NUMBERS:
        return number(value, wanted.name)
    convert = coercer(wanted)
    if own in {"String", "Id"} and wanted.name in {"String", "Id"} and convert is not None:
        try:
            return convert(value)
        except ValueError as fault:
            raise thrown("StringException", str(fault)) from None
    same = {own, wanted.name} in ({"List"}, {"Map"}, {"Set"})
    if same and (_loose(value) or getattr(value, "items", None) in ([], {})):
        return value
    if own == "List" and wanted.sobject is not None and value.queried:
        return value
    raise thrown("TypeException", f"Invalid conversion from runtime type {type_of(value)} to {wanted}")


def _loose(value: Any) -> bool:
    """Collections of SObject or Object may be cast to one of their elements' type."""
    of = value.to if isinstance(value, MapValue) else value.of
    return of.name in {"SObject", "Object"} or of.sobject is not None


def number(value: Any, wanted: str) -> Any:
    """A number as another type of number; digits behind the point are cut."""
    match wanted:
        case "Integer":
            return wrap(int(value), INT_BITS)
        case "Long":
            return Long(int(value))
        case "Decimal":
            return (
                value
                if isinstance(value, Decimal)
                else Decimal(repr(value))
                if isinstance(value, float)
                else Decimal(int(value))
            )
        case _:
            return float(value)


def single(value: Any) -> Any:
    """The one record of a query that is assigned to a record."""
    if not isinstance(value, ListValue):
        return value
    if not value.items:
        raise thrown("QueryException", "List has no rows for assignment to SObject")
    if len(value.items) > 1:
        raise thrown("QueryException", "List has more than 1 row for assignment to SObject")
    return value.items[0]


__all__ = ["Id", "cast", "is_instance", "number", "single", "type_of"]
