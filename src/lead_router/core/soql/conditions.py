"""One condition to one test: kinds of fields and kinds of literals, and SOQL's rules for null.

Null rules: `=` and IN find null only by NULL or ''; `!=`, NOT IN and EXCLUDES are their exact opposites, so they do
find records without a value; an order (`<`, `>`) and LIKE never do. A checkbox without a value is FALSE (SOQL and SOSL
Reference, "Use null in WHERE").
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta, tzinfo
from typing import Any, TypeAlias

from lead_router.core.ids import is_id, to18
from lead_router.core.soql import values
from lead_router.core.soql.dates import day_range, instant_range
from lead_router.core.soql.fields import Fields, Kind
from lead_router.core.soql.tree import (
    Boolean,
    Compare,
    Condition,
    Day,
    In,
    Includes,
    Instant,
    Null,
    Number,
    Relative,
    Text,
    Value,
)
from lead_router.errors import BadCriteria

Test: TypeAlias = Callable[[Mapping[str, Any], datetime], bool]
Check: TypeAlias = Callable[[Any, datetime], bool]

_ORDERS: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_WANTED = {
    Kind.TEXT: (Text, "a quoted text"),
    Kind.EXACT_TEXT: (Text, "a quoted text"),
    Kind.ID: (Text, "a quoted record id"),
    Kind.NUMBER: (Number, "a number without quotes"),
    Kind.BOOLEAN: (Boolean, "TRUE or FALSE"),
    Kind.DATE: (Day | Relative, "a date such as 2026-01-31 or TODAY, without quotes"),
    Kind.DATETIME: (Instant | Relative, "a date and time such as 2026-01-31T08:00:00Z or TODAY, without quotes"),
    Kind.CHOICES: (Text, "a quoted text"),
}
_READERS: Mapping[Kind, values.Read] = {
    Kind.TEXT: values.text,
    Kind.EXACT_TEXT: values.exact_text,
    Kind.ID: values.record_id,
    Kind.NUMBER: values.number,
}


def compile_condition(condition: Condition, fields: Fields, zone: tzinfo) -> Test:
    """The test of one condition; raises BadCriteria where operator, value and field do not go together."""
    kind = fields.kind(condition)
    read = values.getter(fields.path(condition), exact=fields.typed)
    check = _check(condition, kind, zone)
    return lambda record, at: check(read(record), at)


def _check(condition: Condition, kind: Kind, zone: tzinfo) -> Check:
    match condition:
        case Includes(negated=negated, values=wanted):
            if kind not in {Kind.CHOICES, Kind.ANY}:
                raise BadCriteria(
                    f"INCLUDES and EXCLUDES are for multi-select picklists, {condition.field} is none", at=condition.at
                )
            return _includes(wanted, negated=negated)
        case In(negated=negated, values=wanted):
            return _in(condition, kind, zone, negated=negated)
        case Compare(op="LIKE", value=Text() as pattern):
            return _like(condition, kind, pattern)
        case Compare(op="="):
            return _equal(condition, kind, condition.value, zone)
        case Compare(op="!="):
            return _opposite(_equal(condition, kind, condition.value, zone))
        case Compare():
            return _order(condition, kind, condition.value, zone)


def _includes(wanted: tuple[Text, ...], *, negated: bool) -> Check:
    sets = tuple(chosen for text in wanted if (chosen := values.choices(text.value)))
    return lambda value, _at: any(map(values.choices(value).issuperset, sets)) is not negated


def _like(condition: Compare, kind: Kind, pattern: Text) -> Check:
    if kind not in {Kind.TEXT, Kind.EXACT_TEXT, Kind.ANY}:
        raise BadCriteria(f"LIKE is for text fields, {condition.field} is none", at=condition.at)
    folded = kind is not Kind.EXACT_TEXT
    read = values.text if folded else values.exact_text
    fits = values.like(pattern.raw, folded=folded)
    return lambda value, _at: (found := read(value)) is not None and fits(found)


def _in(condition: In, kind: Kind, zone: tzinfo, *, negated: bool) -> Check:
    simple = {Kind.TEXT, Kind.EXACT_TEXT, Kind.ID}
    if kind in simple and all(isinstance(value, Text) and value.value for value in condition.values):
        read = _READERS[kind]
        wanted = frozenset(read(_key(condition, kind, value)) for value in condition.values)
        return lambda value, _at: (read(value) in wanted) is not negated
    checks = tuple(_equal(condition, kind, value, zone) for value in condition.values)
    return lambda value, at: any(check(value, at) for check in checks) is not negated


def _opposite(check: Check) -> Check:
    return lambda value, at: not check(value, at)


def _equal(condition: Condition, kind: Kind, wanted: Value, zone: tzinfo) -> Check:
    _refuse_mismatch(condition, kind, wanted)
    match wanted:
        case Null() | Text(value=""):
            return _no_value
        case Relative() | Day() | Instant():
            return _dated(kind, wanted, zone, _within)
        case Boolean(value=flag):
            same = (True,) if flag else (None, False)
            return lambda value, _at: any(value is one for one in same)
        case Number(value=number):
            return lambda value, _at: values.number(value) == number
        case Text():
            return _same_text(condition, kind, wanted)


def _no_value(value: Any, _at: datetime) -> bool:
    return value is None or value == "" or value is False


def _same_text(condition: Condition, kind: Kind, wanted: Text) -> Check:
    if kind is Kind.CHOICES:
        chosen = values.choices(wanted.value)
        return lambda value, _at: values.choices(value) == chosen
    key = _key(condition, kind, wanted)
    if kind is Kind.ANY:
        return _same_loosely(condition, key)
    read = _READERS[kind]
    target = read(key)
    return lambda value, _at: read(value) == target


def _same_loosely(condition: Condition, key: str) -> Check:
    """Without types: ids where the field is named like one, or where both sides can only be ids; else text."""
    if not is_id(key):
        folded = values.fold(key)
        return lambda value, _at: values.text(value) == folded
    if condition.field.lower().endswith("id"):
        record_id = to18(key)
        return lambda value, _at: values.record_id(value) == record_id
    same = {to18(key), values.loose_text(key)}
    return lambda value, _at: values.loose_text(value) in same


def _key(condition: Condition, kind: Kind, value: Value) -> str:
    if not isinstance(value, Text):
        raise BadCriteria(f"{condition.field} is compared with a quoted text", at=value.at)
    if kind is Kind.ID and not is_id(value.value):
        raise BadCriteria(f"{condition.field} is compared with a record id of 15 or 18 characters", at=value.at)
    return value.value


def _order(condition: Compare, kind: Kind, wanted: Value, zone: tzinfo) -> Check:
    _refuse_mismatch(condition, kind, wanted)
    if kind in {Kind.CHOICES, Kind.BOOLEAN}:
        raise BadCriteria(f"{condition.op} cannot order {condition.field}; use = or !=", at=condition.at)
    order = _ORDERS[condition.op]
    match wanted:
        case Relative() | Day() | Instant():
            return _dated(kind, wanted, zone, _BOUNDS[condition.op])
        case Number(value=number):
            return lambda value, _at: (found := values.number(value)) is not None and order(found, number)
        case _:
            key = _key(condition, kind, wanted)
            read = _READERS[Kind.TEXT if kind is Kind.ANY else kind]
            target = read(key) or ""
            return lambda value, _at: (found := read(value)) is not None and order(found, target)


def _refuse_mismatch(condition: Condition, kind: Kind, wanted: Value) -> None:
    if kind is Kind.ANY or isinstance(wanted, Null):
        return
    types, name = _WANTED[kind]
    if not isinstance(wanted, types):
        raise BadCriteria(f"{condition.field} is compared with {name}", at=wanted.at)


def _within(value: Any, start: Any, end: Any) -> bool:
    return bool(start <= value < end)


_BOUNDS: Mapping[str, Callable[[Any, Any, Any], bool]] = {
    "<": lambda value, start, _end: value < start,
    "<=": lambda value, _start, end: value < end,
    ">": lambda value, _start, end: value >= end,
    ">=": lambda value, start, _end: value >= start,
}


def _dated(kind: Kind, wanted: Relative | Day | Instant, zone: tzinfo, holds: Callable[[Any, Any, Any], bool]) -> Check:
    """Every date value is a half-open range: an instant of a microsecond, a day, or a date literal's days.

    A field without a known type is a date if its value is one, else a date and time.
    """

    def check(value: Any, at: datetime) -> bool:
        moment = None if kind is Kind.DATE else values.instant(value) if _has_time(value) else None
        if moment is not None:
            return holds(moment, *_instants(wanted, at, zone))
        day = None if kind is Kind.DATETIME or isinstance(wanted, Instant) else values.day(value)
        return day is not None and holds(day, *_days(wanted, at, zone))

    return check


def _has_time(value: Any) -> bool:
    return "T" in value if isinstance(value, str) else isinstance(value, datetime)


def _days(wanted: Relative | Day | Instant, at: datetime, zone: tzinfo) -> tuple[Any, Any]:
    match wanted:
        case Relative():
            return day_range(wanted, at.astimezone(zone).date())
        case Day(value=day):
            return day, day.fromordinal(day.toordinal() + 1)
        case Instant(value=instant):
            return instant.date(), instant.date()


def _instants(wanted: Relative | Day | Instant, at: datetime, zone: tzinfo) -> tuple[datetime, datetime]:
    if isinstance(wanted, Instant):
        return wanted.value, wanted.value + timedelta(microseconds=1)
    return instant_range(_days(wanted, at, zone), zone)
