"""Rows for a statement: the clause compiled against the schema, inner queries first, candidates by index, sorted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from lead_router.core import soql
from lead_router.core.soql import And, Compare, Expr, In, Includes, Not, Or
from lead_router.errors import BadCriteria
from org_simulator.failures import Failure, not_filterable
from org_simulator.wire import select, semijoin
from org_simulator.wire.find import candidates, keys
from org_simulator.wire.paths import Path, Plan, Read, nested, plan, resolve, value

if TYPE_CHECKING:
    from org_simulator.changes import Row
    from org_simulator.schema import Schema, SObject
    from org_simulator.transaction import Transaction

FIELDS_LIMIT_MAX = 200  # rows; FIELDS(ALL) and FIELDS(CUSTOM) want a LIMIT no higher


@dataclass(frozen=True, slots=True)
class Where:
    """A WHERE clause ready to be asked, and the fields it needs of each row."""

    criteria: soql.Criteria | None = None
    needs: Plan | None = None


def reader(opened: Transaction) -> Read:
    """Rows by object and id, each read once for one query."""
    seen: dict[str, Row | None] = {}

    def read(sobject: str, record_id: str) -> Row | None:
        if record_id not in seen:
            seen[record_id] = opened.row(sobject, record_id)
        return seen[record_id]

    return read


def matching(schema: Schema, opened: Transaction, sobject: SObject, text: str | None, *, deleted: bool) -> list[Row]:
    """The rows that a WHERE clause finds; MALFORMED_QUERY, INVALID_FIELD and their kin for a bad one."""
    where = _where(schema, sobject, _plain(schema, opened, text))
    return list(_matching(schema, opened, sobject, where, reader(opened), deleted=deleted))


def _plain(schema: Schema, opened: Transaction, text: str | None) -> str | None:
    """The clause without inner queries."""

    def ids(inner: str) -> Iterator[str]:
        asked = select.parse(inner)
        sobject = schema.objects.get(asked.sobject.lower())
        if sobject is None:
            raise Failure("INVALID_TYPE", f"sObject type '{asked.sobject}' is not supported.")
        path = resolve(schema, sobject, asked.columns[0].path)
        if len(asked.columns) > 1 or path.type not in {"id", "reference"}:
            raise select.malformed(f"semi join sub-selects can only query id fields, cannot use: {path.names[-1]}")
        read = reader(opened)
        where = _where(schema, sobject, asked.where)
        rows = _matching(schema, opened, sobject, where, read, deleted=False)
        found = (value(schema, path, row, read) for row in rows)
        return iter(dict.fromkeys(each for each in found if each is not None))

    return None if text is None else semijoin.expand(text, ids)


@lru_cache(maxsize=1024)  # clients ask the same again and again
def _tree(text: str) -> Expr | None:
    return soql.parse(text)


def _where(schema: Schema, sobject: SObject, text: str | None) -> Where:
    if text is None:
        return Where()
    try:
        tree = _tree(text)
        paths = [resolve(schema, sobject, name) for name in set(_named(tree))]
        for path in paths:
            if path.leaf is not None and not path.leaf.filterable:
                raise not_filterable(path.leaf.name)
        if tree is not None:
            keys(tree, sobject)  # refuses what is no id in Salesforce's words, before the criteria do in their own
        types = {".".join(path.names): path.type for path in paths}
        strict = [".".join(path.names) for path in paths if path.leaf is not None and path.leaf.case_sensitive]
        criteria = soql.compile_where(text, types, case_sensitive=strict)
    except BadCriteria as fault:
        raise select.malformed(f"unexpected token: {text[fault.at : fault.at + 20]} ({fault})") from fault
    return Where(criteria, plan(paths))


def _named(tree: Expr | None) -> Iterator[str]:
    match tree:
        case None:
            return
        case And(parts=parts) | Or(parts=parts):
            for part in parts:
                yield from _named(part)
        case Not(part=part):
            yield from _named(part)
        case Compare(field=name) | In(field=name) | Includes(field=name):
            yield name


def _matching(
    schema: Schema, opened: Transaction, sobject: SObject, where: Where, read: Read, *, deleted: bool
) -> Iterator[Row]:
    tree = where.criteria.expr if where.criteria is not None else None
    rows = candidates(opened, sobject, tree, deleted=deleted)
    if where.criteria is None or where.needs is None:
        yield from rows
        return
    now = opened.org.clock.now()
    for row in rows:
        if where.criteria.matches(nested(schema, where.needs, row, read), now):
            yield row


def columns_of(schema: Schema, sobject: SObject, asked: select.Select) -> list[Path]:
    """The paths of the selected columns, FIELDS() spelt out."""
    paths: list[Path] = []
    for column in asked.columns:
        if column.function != "fields":
            paths.append(resolve(schema, sobject, column.path))
            continue
        kind = column.path.lower()
        if kind not in {"all", "standard", "custom"}:
            raise select.malformed(f"unexpected token: {column.path}")
        if kind != "standard" and asked.limit > FIELDS_LIMIT_MAX:
            raise select.malformed("The SOQL FIELDS function must have a LIMIT of at most 200")
        names = (each.name for each in sobject.fields.values())
        paths += [
            resolve(schema, sobject, each) for each in names if kind == "all" or _custom(each) == (kind == "custom")
        ]
    return paths


def _custom(name: str) -> bool:
    return name.endswith("__c")


def sort(schema: Schema, sobject: SObject, order: Sequence[select.Order], rows: list[Row], read: Read) -> list[Row]:
    """Rows by the sort keys: ids by case, all other text in any case."""
    for key in reversed(order):
        path = resolve(schema, sobject, key.path)
        pairs = [(value(schema, path, row, read), row) for row in rows]
        blank = [row for found, row in pairs if found is None]
        exact = path.type in {"id", "reference"}  # ids differ by case, and order as `Id > '...'` compares them
        full = [
            (found.lower() if isinstance(found, str) and not exact else found, row)
            for found, row in pairs
            if found is not None
        ]
        full.sort(key=lambda pair: pair[0], reverse=key.descending)
        ranked = [row for _, row in full]
        rows = blank + ranked if key.nulls_first else ranked + blank
    return rows
