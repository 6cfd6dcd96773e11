"""Queries of Apex over the transaction: the rows that REST would find, as records; locks for FOR UPDATE."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from org_simulator.apex.raising import thrown
from org_simulator.apex.records import Record, from_stored
from org_simulator.apex.soql_text import Query, filled, read_query
from org_simulator.apex.types import Type
from org_simulator.apex.values import ListValue, Native
from org_simulator.failures import Failure
from org_simulator.wire import aggregate
from org_simulator.wire.finding import columns_of, matching, reader, sort
from org_simulator.wire.paths import Path, Plan, Read, plan, resolve, target

if TYPE_CHECKING:
    from org_simulator.apex.session import Session
    from org_simulator.changes import Row
    from org_simulator.schema import Field, Schema, SObject
    from org_simulator.wire.select import Select

BUSY = (
    "Record Currently Unavailable: The record you are attempting to edit, or one of its related records, is currently "
    "being modified by another user. Please try again."
)
ROUNDS_MAX = 5
"""Times that rows are looked for anew because locking them took time."""


def run(session: Session, text: str, binds: Mapping[str, Any], mode: str = "") -> Any:
    """A list of records or aggregate results, or the figure of COUNT(); QueryException in the platform's words."""
    session.limits.use("queries", 1)
    asked = read_query(text)
    schema = session.schema_for(asked.mode or mode)
    try:
        return _answer(session, asked, schema, {name.lower(): value for name, value in binds.items()})
    except Failure as failure:
        raise thrown("QueryException", BUSY if failure.code == "UNABLE_TO_LOCK_ROW" else failure.message) from None


def _answer(session: Session, asked: Query, schema: Schema, binds: Mapping[str, Any]) -> Any:
    statement = filled(asked.text, binds)
    sobject = _sobject(schema, statement.sobject)
    tx = session.tx
    read = reader(tx)
    rows = matching(schema, tx, sobject, statement.where, deleted=statement.all_rows)
    if asked.aggregate:
        return _figures(session, schema, sobject, statement, rows, read)
    rows = _cut(schema, sobject, statement, rows, read)
    if asked.for_update:
        rows = _locked(session, schema, sobject, statement, rows)
        read = reader(tx)
    session.limits.use("query_rows", len(rows))
    tree = plan(columns_of(schema, sobject, statement))
    records = [made(schema, sobject, tree, row, read) for row in rows]
    for child in asked.children:
        _children(session, schema, sobject, child, records, binds)
    return ListValue(records, Type(sobject.name, sobject=sobject.name), queried=True)


def _sobject(schema: Schema, name: str) -> SObject:
    found = schema.objects.get(name.lower())
    if found is None:
        raise Failure("INVALID_TYPE", f"sObject type '{name}' is not supported.")
    return found


def _cut(schema: Schema, sobject: SObject, statement: Select, rows: list[Row], read: Read) -> list[Row]:
    ordered = sort(schema, sobject, statement.order, rows, read)
    return ordered[statement.offset : statement.offset + statement.limit]


def _locked(session: Session, schema: Schema, sobject: SObject, statement: Select, rows: list[Row]) -> list[Row]:
    """The rows as they are once all are locked; looked for again where others had moved them."""
    for _ in range(ROUNDS_MAX):
        wanted = sorted(row["Id"] for row in rows)
        if not session.org.switches.for_update_locks_by_id:
            session.org.dice.shuffle(wanted)
        with session.org.store.mutex:
            session.tx.lock(*wanted)
            fresh = matching(schema, session.tx, sobject, statement.where, deleted=False)
        rows = _cut(schema, sobject, statement, fresh, reader(session.tx))
        if {row["Id"] for row in rows} <= set(wanted):
            return rows
    raise Failure("UNABLE_TO_LOCK_ROW", BUSY)


# ---- records --------------------------------------------------------------------------------------------------------


def made(schema: Schema, sobject: SObject, tree: Plan, row: Row, read: Read) -> Record:
    """A record with the selected fields and parents; its id is always there."""
    record = Record(sobject, row, frozenset({"id", *(leaf.lower() for leaf in tree.leaves)}))
    for name, (step, inner) in tree.parents.items():
        record.parents[name.lower()] = _parent(schema, step, inner, row, read)
    return record


def _parent(schema: Schema, step: Field, tree: Plan, row: Row, read: Read) -> Record | None:
    record_id = row.get(step.name)
    sobject = None if record_id is None else target(schema, step, record_id)
    above = None if sobject is None or record_id is None else read(sobject.name, record_id)
    if sobject is None or above is None:
        return None
    if len(step.reference_to) == 1:
        return made(schema, sobject, tree, above, read)
    record = Record(sobject, above, frozenset({"id", *(leaf.lower() for leaf in tree.leaves)}))
    for leaf in tree.leaves:
        if leaf == "Type":
            record.values["type"] = "User" if sobject.name == "User" else "Queue"
        elif leaf.lower() not in sobject.fields:
            record.values[leaf.lower()] = None
    return record


def _children(
    session: Session, schema: Schema, parent: SObject, text: str, records: list[Record], binds: Mapping[str, Any]
) -> None:
    """Fill in the records of a child relationship, one query for all parents."""
    inner = read_query(text)
    statement = filled(inner.text, binds)
    child, field = _relationship(schema, parent, statement.sobject)
    read = reader(session.tx)
    rows = matching(schema, session.tx, child, statement.where, deleted=False)
    rows = sort(schema, child, statement.order, rows, read)
    tree = plan(columns_of(schema, child, statement))
    by_parent: dict[str, list[Row]] = {}
    for row in rows:
        if row.get(field.name) is not None:
            by_parent.setdefault(row[field.name], []).append(row)
    kind = Type(child.name, sobject=child.name)
    for record in records:
        mine = by_parent.get(str(record.id), [])[statement.offset : statement.offset + statement.limit]
        session.limits.use("query_rows", len(mine))
        found = [made(schema, child, tree, row, read) for row in mine]
        record.children[statement.sobject.lower()] = ListValue(found, kind, queried=True)


def _relationship(schema: Schema, parent: SObject, name: str) -> tuple[SObject, Field]:
    """The object and its field behind a child relationship; custom ones end in __r."""
    plain = name.removesuffix("__r").lower()
    for child in schema.objects.values():
        for field in child.fields.values():
            if parent.name in field.reference_to and (field.child_relationship or "").lower() == plain:
                return child, field
    text = f"Didn't understand relationship '{name}' in FROM part of query call."
    raise Failure("INVALID_TYPE", text)


# ---- figures --------------------------------------------------------------------------------------------------------


def _figures(session: Session, schema: Schema, sobject: SObject, statement: Select, rows: list[Row], read: Read) -> Any:
    found = aggregate.answer(schema, sobject, statement, rows, read)
    if statement.count and not statement.group:
        session.limits.use("query_rows", 1)
        return int(found["totalSize"])
    session.limits.use("query_rows", len(rows))
    kinds = dict(_kinds(schema, sobject, statement))
    results = [
        Native(
            "AggregateResult", {name.lower(): _figure(value, kinds.get(name.lower())) for name, value in each.items()}
        )
        for each in found["records"]
    ]
    return ListValue(results, Type("AggregateResult"), queried=True)


def _kinds(schema: Schema, sobject: SObject, statement: Select) -> Iterable[tuple[str, Path]]:
    """The path behind each plain column or extreme, whose values have the field's own type."""
    for place, column in enumerate(statement.columns):
        if column.path and column.function in {None, "min", "max", "sum"}:
            yield aggregate.name_of(statement, place).lower(), resolve(schema, sobject, column.path)


def _figure(value: Any, path: Path | None) -> Any:
    if path is not None and path.leaf is not None:
        return from_stored(path.leaf, value)
    return Decimal(repr(value)) if isinstance(value, float) else value
