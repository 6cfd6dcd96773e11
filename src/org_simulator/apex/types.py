"""Resolved Apex types, and what an assignment to one does to a value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeAlias

from org_simulator.apex.values import Id, Long
from org_simulator.ids import SHORT_LENGTH, is_id, to18

if TYPE_CHECKING:
    from org_simulator.apex.classes import ApexClass

Coerce: TypeAlias = Callable[[Any], Any]
"""Raises ValueError with Apex's words for an id that is none, TypeError for what cannot be assigned."""

LONG_ID = 18


@dataclass(frozen=True, slots=True)
class Type:
    """`sobject` is the schema's name of a record type; `cls` a class of the sources or an exception of the platform."""

    name: str
    args: tuple[Type, ...] = ()
    sobject: str | None = field(default=None, compare=False)
    cls: ApexClass | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.name}<{', '.join(map(str, self.args))}>" if self.args else self.name


OBJECT = Type("Object")
VOID = Type("void")
STRING = Type("String")
BOOLEAN = Type("Boolean")
INTEGER = Type("Integer")
LONG = Type("Long")
DECIMAL = Type("Decimal")
DOUBLE = Type("Double")
ID = Type("Id")
DATE = Type("Date")
DATETIME = Type("Datetime")
TIME = Type("Time")
BLOB = Type("Blob")
SOBJECT = Type("SObject")
PRIMITIVES = {
    each.name.lower(): each
    for each in (OBJECT, VOID, STRING, BOOLEAN, INTEGER, LONG, DECIMAL, DOUBLE, ID, DATE, DATETIME, TIME, BLOB)
}

FIELD_TYPES = {
    "double": DECIMAL,
    "currency": DECIMAL,
    "percent": DECIMAL,
    "int": INTEGER,
    "boolean": BOOLEAN,
    "date": DATE,
    "datetime": DATETIME,
    "time": TIME,
    "id": ID,
    "reference": ID,
    "base64": BLOB,
}
"""Describe type to Apex type; all others are String."""


def to_id(value: Any) -> Any:
    """An Id of 15 or 18 characters; ValueError for other text."""
    if value is None or type(value) is Id:
        return value
    if not isinstance(value, str):
        raise TypeError("Id")
    text = value.strip()
    if len(text) == LONG_ID and to18(text[:SHORT_LENGTH]).upper() == text.upper():
        return Id(to18(text[:SHORT_LENGTH]))
    if not is_id(text):
        raise ValueError(f"Invalid id: {value}")
    return Id(to18(text))


def to_long(value: Any) -> Any:
    """A Long of an Integer."""
    if value is None or type(value) is Long:
        return value
    if type(value) is int:
        return Long(value)
    raise TypeError("Long")


def to_decimal(value: Any) -> Any:
    """A Decimal of any number."""
    if value is None or type(value) is Decimal:
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError("Decimal")
    return Decimal(repr(value)) if isinstance(value, float) else Decimal(int(value))


def to_double(value: Any) -> Any:
    """A Double of any number."""
    if value is None or type(value) is float:
        return value
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise TypeError("Double")
    return float(value)


def to_integer(value: Any) -> Any:
    """An Integer as it is: no other number is assigned to one without a cast."""
    if value is None or type(value) is int:
        return value
    raise TypeError("Integer")


def to_string(value: Any) -> Any:
    """A String; an Id becomes one."""
    if value is None or type(value) is str:
        return value
    if type(value) is Id:
        return str(value)
    raise TypeError("String")


def to_datetime(value: Any) -> Any:
    """A Datetime; a Date becomes its midnight in GMT."""
    if value is None or isinstance(value, datetime):
        return value
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC)
    raise TypeError("Datetime")


def _only(kind: type, name: str) -> Coerce:
    def check(value: Any) -> Any:
        if value is None or type(value) is kind:
            return value
        raise TypeError(name)

    return check


COERCERS: dict[str, Coerce] = {
    "Id": to_id,
    "Long": to_long,
    "Decimal": to_decimal,
    "Double": to_double,
    "Integer": to_integer,
    "String": to_string,
    "Datetime": to_datetime,
    "Boolean": _only(bool, "Boolean"),
    "Date": _only(date, "Date"),
}


PLAIN: dict[str, type] = {
    "Id": Id,
    "Long": Long,
    "Decimal": Decimal,
    "Double": float,
    "Integer": int,
    "String": str,
    "Datetime": datetime,
    "Boolean": bool,
    "Date": date,
}
"""What a value of each type that has a coercer is in Python."""


def coercer(kind: Type) -> Coerce | None:
    """What a value goes through when assigned to this type; None where it stays as it is."""
    return COERCERS.get(kind.name)
