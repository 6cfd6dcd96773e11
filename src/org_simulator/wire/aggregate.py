"""COUNT and its kin, with and without GROUP BY."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from org_simulator.wire.paths import Read, resolve, value
from org_simulator.wire.select import Column, Select, malformed

if TYPE_CHECKING:
    from org_simulator.changes import Row
    from org_simulator.schema import Schema, SObject


def wanted(asked: Select) -> bool:
    """Whether the statement asks for figures rather than records."""
    return any(each.function not in {None, "fields"} for each in asked.columns)


def answer(schema: Schema, sobject: SObject, asked: Select, rows: Sequence[Row], read: Read) -> dict[str, Any]:
    """The answer's body: one AggregateResult per group, or the bare count."""
    if asked.count and not asked.group:
        return {"totalSize": min(len(rows), asked.limit), "done": True, "records": []}
    if asked.order:
        raise malformed("unexpected token: ORDER")
    names = [name_of(asked, place) for place in range(len(asked.columns))]
    group = [resolve(schema, sobject, each) for each in asked.group]
    for column in asked.columns:
        if column.function is None and column.path.lower() not in {each.lower() for each in asked.group}:
            raise malformed(f"Field must be grouped or aggregated: {column.path}")
    groups: dict[tuple[Any, ...], list[Row]] = {} if group else {(): list(rows)}
    for row in rows if group else ():
        groups.setdefault(tuple(value(schema, each, row, read) for each in group), []).append(row)
    records = [
        {"attributes": {"type": "AggregateResult"}}
        | {
            name: _figure(schema, sobject, column, members, read)
            for name, column in zip(names, asked.columns, strict=True)
        }
        for members in groups.values()
    ][asked.offset : asked.offset + asked.limit]
    return {"totalSize": len(records), "done": True, "records": records}


def name_of(asked: Select, place: int) -> str:
    """What a column is called in the answer: its alias, its field, or `expr` and a number."""
    column = asked.columns[place]
    if column.alias:
        return column.alias
    if column.function is None:
        return column.path.rpartition(".")[2]
    before = [each for each in asked.columns[:place] if each.function is not None and not each.alias]
    return f"expr{len(before)}"


def _figure(schema: Schema, sobject: SObject, column: Column, rows: Sequence[Row], read: Read) -> Any:
    if column.function == "count" and not column.path:
        return len(rows)
    path = resolve(schema, sobject, column.path)
    found = [each for row in rows if (each := value(schema, path, row, read)) is not None]
    if column.function in _COUNTS:
        return _COUNTS[column.function](found)
    return _FIGURES[column.function](found) if found else None


_COUNTS: dict[str | None, Callable[[list[Any]], int]] = {"count": len, "count_distinct": lambda found: len(set(found))}
_FIGURES: dict[str | None, Callable[[list[Any]], Any]] = {
    None: lambda found: found[0],
    "sum": sum,
    "avg": lambda found: sum(found) / len(found),
    "min": min,
    "max": max,
}
