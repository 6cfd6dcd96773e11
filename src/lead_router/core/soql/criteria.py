"""A clause compiled once, to be asked of many records. Closures, not an interpreter: rules run for every lead."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Any, TypeAlias

from lead_router.core.soql.conditions import compile_condition
from lead_router.core.soql.fields import Fields
from lead_router.core.soql.parser import parse
from lead_router.core.soql.tree import And, Compare, Condition, Expr, In, Includes, Not, Or

Record: TypeAlias = Mapping[str, Any]
Test: TypeAlias = Callable[[Record, datetime], bool]


@dataclass(frozen=True, slots=True)
class Criteria:
    """`matches(record, at)` never raises; `at` is now, for date literals. `expr` is None for a catch-all.

    `fields` are the paths that the clause reads, spelt as in `types` where those were given.
    """

    text: str
    fields: frozenset[str]
    expr: Expr | None
    matches: Test


def compile_where(
    text: str,
    types: Mapping[str, str] | None = None,
    *,
    case_sensitive: Collection[str] = (),
    zone: tzinfo = UTC,
) -> Criteria:
    """Compile a SOQL WHERE clause (without the word WHERE); blank text is a catch-all.

    `types` maps field paths (`OwnerId`, `Owner.Type`) to the type names of Salesforce's describe; with it, an unknown
    field and a value of the wrong type raise BadCriteria. Without it, each field is taken for what its value is
    compared with. `case_sensitive` are the fields that describe calls so; `zone` decides when days begin for date
    literals.
    Raises BadCriteria, with the offset of the fault, and nothing else.
    """
    expr = parse(text)
    if expr is None:
        return Criteria(text, frozenset(), None, _always)
    fields = Fields(types, frozenset(name.lower() for name in case_sensitive))
    matches = _compile(expr, fields, zone)
    return Criteria(text, frozenset(fields.path(part) for part in _conditions(expr)), expr, matches)


def _always(_record: Record, _at: datetime) -> bool:
    return True


def _compile(expr: Expr, fields: Fields, zone: tzinfo) -> Test:
    match expr:
        case And(parts=parts):
            return _all(tuple(_compile(part, fields, zone) for part in parts))
        case Or(parts=parts):
            return _any(tuple(_compile(part, fields, zone) for part in parts))
        case Not(part=part):
            return _not(_compile(part, fields, zone))
        case Compare() | In() | Includes():
            return compile_condition(expr, fields, zone)


def _all(tests: tuple[Test, ...]) -> Test:
    def test(record: Record, at: datetime) -> bool:
        for part in tests:  # noqa: SIM110 - a generator would double the cost of every lead
            if not part(record, at):
                return False
        return True

    return test


def _any(tests: tuple[Test, ...]) -> Test:
    def test(record: Record, at: datetime) -> bool:
        for part in tests:  # noqa: SIM110 - as above
            if part(record, at):
                return True
        return False

    return test


def _not(inner: Test) -> Test:
    return lambda record, at: not inner(record, at)


def _conditions(expr: Expr) -> list[Condition]:
    match expr:
        case And(parts=parts) | Or(parts=parts):
            return [condition for part in parts for condition in _conditions(part)]
        case Not(part=part):
            return _conditions(part)
        case Compare() | In() | Includes():
            return [expr]
