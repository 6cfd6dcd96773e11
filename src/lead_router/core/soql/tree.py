"""The nouns of a SOQL WHERE clause: literals, conditions, and how they are joined. `at` is a character offset."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Text:
    """A quoted string: `value` with its escapes resolved, `raw` as written between the quotes (LIKE reads that)."""

    value: str
    raw: str
    at: int


@dataclass(frozen=True, slots=True)
class Number:
    """A number as JSON has it: an int, or a float where a point was written."""

    value: int | float
    at: int


@dataclass(frozen=True, slots=True)
class Boolean:
    """TRUE or FALSE."""

    value: bool
    at: int


@dataclass(frozen=True, slots=True)
class Null:
    """NULL: no value; on a checkbox the same as FALSE."""

    at: int


@dataclass(frozen=True, slots=True)
class Day:
    """A date, `2026-01-31`."""

    value: date
    at: int


@dataclass(frozen=True, slots=True)
class Instant:
    """A date and time with its offset, `2026-01-31T08:00:00Z`."""

    value: datetime
    at: int


@dataclass(frozen=True, slots=True)
class Relative:
    """A date literal, upper case: `TODAY`, or `LAST_N_DAYS` with its `count`."""

    name: str
    count: int
    at: int


Value: TypeAlias = Text | Number | Boolean | Null | Day | Instant | Relative


@dataclass(frozen=True, slots=True)
class Compare:
    """`field op value` with op one of `= != < <= > >= LIKE` (`<>` is read as `!=`)."""

    field: str
    op: str
    value: Value
    at: int


@dataclass(frozen=True, slots=True)
class In:
    """`field [NOT] IN (values)`."""

    field: str
    negated: bool
    values: tuple[Value, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Includes:
    """`field INCLUDES (values)`, or EXCLUDES where `negated`; each value may join several by semicolons."""

    field: str
    negated: bool
    values: tuple[Text, ...]
    at: int


@dataclass(frozen=True, slots=True)
class And:
    """All of the parts."""

    parts: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Any of the parts."""

    parts: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """Whatever the part is not, null included: SOQL conditions are true or false, never unknown."""

    part: Expr


Condition: TypeAlias = Compare | In | Includes
Expr: TypeAlias = Compare | In | Includes | And | Or | Not


def pinned(expr: Expr | None, field: str) -> tuple[Value, ...] | None:
    """The values to which the clause limits `field` (any case), or None where it does not.

    Only conditions that every match must satisfy count: `field = x`, `field IN (…)`, alone or under AND.
    """
    match expr:
        case Compare(field=name, op="=", value=value) if name.lower() == field.lower():
            return (value,)
        case In(field=name, negated=False, values=values) if name.lower() == field.lower():
            return values
        case And(parts=parts):
            return next((found for part in parts if (found := pinned(part, field)) is not None), None)
        case _:
            return None
