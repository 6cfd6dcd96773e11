"""What one condition says of another, for the question whether a rule is broader than a later one.

Every answer "yes" is certain; "no" may only mean that it is not known. Conditions that depend on today are only ever
compared with themselves. Where a value is known, the question is put to the condition as it is compiled for leads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Any, TypeAlias

from lead_router.core.soql import Boolean, Compare, Day, In, Includes, Instant, Null, Number, Relative, Text, Value
from lead_router.core.soql.conditions import Test, compile_condition
from lead_router.core.soql.fields import Fields
from lead_router.core.soql.tree import Condition
from lead_router.core.soql.values import fold

_ANY_TIME = datetime(2000, 1, 1, tzinfo=UTC)  # asked only of conditions that do not depend on it
_RISING, _FALLING = frozenset({">", ">="}), frozenset({"<", "<="})


@dataclass(frozen=True, slots=True)
class Literal:
    """A condition of one value, or its opposite; `test` is the condition itself, compiled."""

    condition: Condition
    positive: bool
    path: str
    test: Test

    def opposite(self) -> Literal:
        """What is true exactly when this is not."""
        return replace(self, positive=not self.positive)


def literal(condition: Condition, fields: Fields, *, positive: bool = True) -> Literal:
    """The literal of a condition; `!=`, NOT IN and EXCLUDES become opposites."""
    match condition:
        case Compare(op="!="):
            condition, positive = replace(condition, op="="), not positive
        case In(negated=True) | Includes(negated=True):
            condition, positive = replace(condition, negated=False), not positive
        case _:
            pass
    return Literal(condition, positive, fields.path(condition), compile_condition(condition, fields, UTC))


def implies(one: Literal, other: Literal) -> bool:
    """Whether every lead that meets `one` meets `other`."""
    if one.path.lower() != other.path.lower():
        return False
    if one.positive == other.positive and shape(one.condition) == shape(other.condition):
        return True
    if not one.positive:
        return not other.positive and implies(other.opposite(), one.opposite())
    dated = _depends_on_today(one.condition) or _depends_on_today(other.condition)
    return not dated and _implied(one, other)


def _implied(one: Literal, other: Literal) -> bool:
    """The question for a positive literal, where neither depends on today."""
    known = _values(one.condition)
    if known is not None:
        return all(other.test(_record(other, value), _ANY_TIME) is other.positive for value in known)
    if not other.positive:
        unwanted = _values(other.condition)
        return unwanted is not None and not any(one.test(_record(one, value), _ANY_TIME) for value in unwanted)
    return _wider(one.condition, other.condition)


def shape(condition: Condition) -> object:
    """What a condition says, whatever its place and letter case."""
    match condition:
        case Compare(op=op, value=value):
            return op, _value(value)
        case In(values=values):
            return "IN", frozenset(map(_value, values))
        case Includes(values=values):
            return "INCLUDES", frozenset(map(_value, values))


Worth: TypeAlias = tuple[str, Any]


def _value(value: Value) -> Worth:
    match value:
        case Text(raw=raw):
            return "Text", fold(raw)
        case Relative(name=name, count=count):
            return "Relative", (name, count)
        case Null():
            return "Null", None
        case Number(value=plain) | Boolean(value=plain) | Day(value=plain) | Instant(value=plain):
            return type(value).__name__, plain


def _depends_on_today(condition: Condition) -> bool:
    values = (condition.value,) if isinstance(condition, Compare) else condition.values
    return any(isinstance(value, Relative) for value in values)


def _values(condition: Condition) -> tuple[Any, ...] | None:
    """The values to which a condition `=` limits its field, as records have them; None where they are not few."""
    if not isinstance(condition, Compare) or condition.op != "=":
        return None
    match condition.value:
        case Text(value=text):
            return (text,) if text else _NOTHING
        case Null():
            return _NOTHING
        case Boolean(value=flag):
            return (True,) if flag else (False, None)
        case Number(value=number):
            return (number,)
        case Day() | Instant() | Relative():
            return None  # a day is many instants


_NOTHING = (None, "", False)


def _record(literal: Literal, value: Any) -> Mapping[str, Any]:
    """A lead whose one field, named as the compiled condition reads it, has the value."""
    *parents, name = literal.path.split(".")
    record: dict[str, Any] = {name: value}
    for parent in reversed(parents):
        record = {parent: record}
    return record


def _wider(one: Condition, other: Condition) -> bool:
    match one, other:
        case Compare(op="LIKE", value=Text(raw=narrow)), Compare(op="LIKE", value=Text(raw=wide)):
            return _wider_pattern(fold(narrow), fold(wide))
        case Compare(op=low, value=Number() | Day() | Instant() as first), Compare(op=high, value=second):
            return type(first) is type(second) and _wider_range(low, first.value, high, second.value)
        case Includes(values=(Text(value=many),)), Includes(values=(Text(value=few),)):
            return set(fold(many).split(";")) >= set(fold(few).split(";"))
        case _:
            return False


def _wider_range(low: str, first: Any, high: str, second: Any) -> bool:
    for side, reaches in ((_RISING, _at_least), (_FALLING, _at_most)):
        if low in side and high in side:
            strict = high in {">", "<"} and low in {">=", "<="}
            return reaches(first, second) and not (strict and first == second)
    return False


def _at_least(first: float | date, second: float | date) -> bool:
    return bool(first >= second)  # type: ignore[operator]


def _at_most(first: float | date, second: float | date) -> bool:
    return bool(first <= second)  # type: ignore[operator]


def _wider_pattern(narrow: str, wide: str) -> bool:
    """For patterns of one stretch of text between `%`: what starts, ends or contains more is narrower."""
    if any(sign in narrow + wide for sign in "_\\"):
        return False
    stretch = wide.strip("%")
    if "%" in stretch:
        return False
    first, *_, last = [*narrow.split("%"), narrow.rsplit("%", maxsplit=1)[-1]]
    if wide == f"%{stretch}%":
        return any(stretch in part for part in narrow.split("%"))
    if wide == f"{stretch}%":
        return first.startswith(stretch)
    return wide == f"%{stretch}" and last.endswith(stretch)
