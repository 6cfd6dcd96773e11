"""Which rows a WHERE clause may be about: by index where it names ids or keys, all of them otherwise."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lead_router.core.soql import And, Compare, Expr, In, Includes, Not, Text, Value
from org_simulator import activities
from org_simulator.failures import Failure
from org_simulator.ids import is_id, to18

if TYPE_CHECKING:
    from org_simulator.changes import Row
    from org_simulator.schema import Field, SObject
    from org_simulator.transaction import Transaction


@dataclass(frozen=True, slots=True)
class Keys:
    """Rows whose field holds one of these values; a clause's candidates are a union of such sets."""

    field: str
    values: frozenset[str]


def keys(expr: Expr, sobject: SObject) -> tuple[Keys, ...] | None:
    """The sets that hold every match of the clause, or None where only a look at all rows will do."""
    match expr:
        case Compare(field=name, op="=", value=value):
            return _keys(sobject, name, (value,))
        case In(field=name, negated=False, values=values):
            return _keys(sobject, name, values)
        case And(parts=parts):
            found = [each for part in parts if (each := keys(part, sobject)) is not None]
            return min(found, key=_size) if found else None
        case Compare() | In() | Includes() | Not():
            return None
        case _:
            union: list[Keys] = []
            for part in expr.parts:
                branch = keys(part, sobject)
                if branch is None:
                    return None
                union += branch
            return tuple(union)


def _size(found: tuple[Keys, ...]) -> tuple[bool, int]:
    return any(each.field != "Id" for each in found), sum(len(each.values) for each in found)


def _keys(sobject: SObject, name: str, values: Iterable[Value]) -> tuple[Keys, ...] | None:
    column = sobject.fields.get(name.lower())
    if column is None or not _narrow(column):
        return None
    texts: set[str] = set()
    for value in values:
        if not isinstance(value, Text):
            return None
        if column.type in {"id", "reference"} and not is_id(value.value):
            raise Failure("INVALID_QUERY_FILTER_OPERATOR", f"invalid ID field: {value.value}")
        texts.add(to18(value.value) if column.type in {"id", "reference"} else value.value)
    return (Keys(column.name, frozenset(texts)),)


def _narrow(column: Field) -> bool:
    return column.type in {"id", "reference"} or column.unique or column.external_id


def candidates(opened: Transaction, sobject: SObject, expr: Expr | None, *, deleted: bool) -> Iterator[Row]:
    """Rows that may match and that the user sees, oldest first, each once."""
    rows = _candidates(opened, sobject, expr, deleted=deleted)
    return (row for row in rows if activities.shown(opened.org, sobject, opened.user_id, row))


def _candidates(opened: Transaction, sobject: SObject, expr: Expr | None, *, deleted: bool) -> Iterator[Row]:
    sets = None if expr is None or deleted else keys(expr, sobject)
    if sets is None:
        yield from opened.rows(sobject.name, deleted=deleted)
        return
    found: dict[str, Row] = {}
    for each in sets:
        found.update((row["Id"], row) for row in _rows(opened, sobject, each))
    yield from (found[record_id] for record_id in sorted(found))


def _rows(opened: Transaction, sobject: SObject, wanted: Keys) -> Iterable[Row]:
    if wanted.field == "Id":
        return (row for each in wanted.values if (row := opened.row(sobject.name, each)) is not None)
    indexed = opened.rows_by(sobject.name, wanted.field, wanted.values)
    if indexed is not None:
        return indexed
    low = {each.lower() for each in wanted.values}
    return (row for row in opened.rows(sobject.name) if str(row.get(wanted.field)).lower() in low)
