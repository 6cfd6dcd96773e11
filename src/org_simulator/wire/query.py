"""SOQL over REST: the query resources, pages and locators."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lead_router.core import soql
from lead_router.core.soql import And, Compare, Expr, In, Includes, Not, Or
from lead_router.errors import BadCriteria
from org_simulator.failures import Failure
from org_simulator.wire import aggregate, select, semijoin
from org_simulator.wire.exchange import Reply
from org_simulator.wire.find import candidates, keys
from org_simulator.wire.paths import Path, Plan, Read, nested, plan, resolve, value
from org_simulator.wire.world import Call, Cursor, data_path, keep

if TYPE_CHECKING:
    from org_simulator.changes import Row
    from org_simulator.schema import Schema, SObject
    from org_simulator.transaction import Transaction

PAGE = 2000  # rows
PAGE_MIN = 200
PAGE_MAX = 2000
FIELDS_LIMIT_MAX = 200  # rows; FIELDS(ALL) and FIELDS(CUSTOM) want a LIMIT no higher
LOCATOR_PREFIX = "01g"


@dataclass(frozen=True, slots=True)
class _Where:
    """A WHERE clause ready to be asked, and the fields it needs of each row."""

    criteria: soql.Criteria | None = None
    needs: Plan | None = None


def run(call: Call, _captured: Sequence[str]) -> Reply:
    """GET /query?q= and /queryAll?q=."""
    text = call.query.get("q")
    if text is None:
        raise select.malformed("SOQL statements cannot be empty or null")
    return _answer(call, select.parse(text), everything=call.segments[0].lower() == "queryall")


def more(call: Call, captured: Sequence[str]) -> Reply:
    """GET /query/LOCATOR-OFFSET: the next page."""
    locator, _, start = captured[0].rpartition("-")
    with call.world.lock:
        cursor = call.world.cursors.get(locator)
    if cursor is None or not start.isdigit() or not 0 < int(start) < len(cursor.rows):
        raise Failure("INVALID_QUERY_LOCATOR", "invalid query locator")
    with call.world.org.transaction(call.user_id) as opened:
        return _page(call, opened, cursor, locator, int(start))


def _answer(call: Call, asked: select.Select, *, everything: bool) -> Reply:
    schema = call.schema
    sobject = schema.objects.get(asked.sobject.lower())
    if sobject is None:
        raise Failure("INVALID_TYPE", f"sObject type '{asked.sobject}' is not supported.")
    opened = call.shared
    if opened is not None:
        return _found(call, opened, asked, sobject, everything=everything)
    with call.world.org.transaction(call.user_id) as opened:
        return _found(call, opened, asked, sobject, everything=everything)


def _found(call: Call, opened: Transaction, asked: select.Select, sobject: SObject, *, everything: bool) -> Reply:
    schema = call.schema
    where = _where(schema, sobject, _plain(call, opened, asked.where))
    read = reader(opened)
    rows = list(_matching(call, opened, sobject, where, read, deleted=everything or asked.all_rows))
    if aggregate.wanted(asked):
        return Reply(200, aggregate.answer(schema, sobject, asked, rows, read))
    if asked.group:
        raise select.malformed("Grouped query without an aggregate is not supported")
    columns = plan(_columns(schema, sobject, asked))
    rows = _sorted(schema, sobject, asked.order, rows, read)[asked.offset : asked.offset + asked.limit]
    cursor = Cursor(columns, sobject, tuple(rows), _page_size(call))
    locator = _locator(call) if len(rows) > cursor.page else ""
    if locator:
        keep(call.world, locator, cursor)
    return _page(call, opened, cursor, locator, 0)


def _plain(call: Call, opened: Transaction, text: str | None) -> str | None:
    """The clause without inner queries."""

    def ids(inner: str) -> Iterator[str]:
        asked = select.parse(inner)
        sobject = call.schema.objects.get(asked.sobject.lower())
        if sobject is None:
            raise Failure("INVALID_TYPE", f"sObject type '{asked.sobject}' is not supported.")
        path = resolve(call.schema, sobject, asked.columns[0].path)
        if len(asked.columns) > 1 or path.type not in {"id", "reference"}:
            raise select.malformed(f"semi join sub-selects can only query id fields, cannot use: {path.names[-1]}")
        read = reader(opened)
        where = _where(call.schema, sobject, asked.where)
        rows = _matching(call, opened, sobject, where, read, deleted=False)
        found = (value(call.schema, path, row, read) for row in rows)
        return iter(dict.fromkeys(each for each in found if each is not None))

    return None if text is None else semijoin.expand(text, ids)


def _where(schema: Schema, sobject: SObject, text: str | None) -> _Where:
    if text is None:
        return _Where()
    try:
        tree = soql.parse(text)
        paths = [resolve(schema, sobject, name) for name in set(_named(tree))]
        if tree is not None:
            keys(tree, sobject)  # refuses what is no id in Salesforce's words, before the criteria do in their own
        types = {".".join(path.names): path.type for path in paths}
        strict = [".".join(path.names) for path in paths if path.leaf is not None and path.leaf.case_sensitive]
        criteria = soql.compile_where(text, types, case_sensitive=strict)
    except BadCriteria as fault:
        raise select.malformed(f"unexpected token: {text[fault.at : fault.at + 20]} ({fault})") from fault
    return _Where(criteria, plan(paths))


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


def reader(opened: Transaction) -> Read:
    """Rows by object and id, each read once for one query."""
    seen: dict[str, Row | None] = {}

    def read(sobject: str, record_id: str) -> Row | None:
        if record_id not in seen:
            seen[record_id] = opened.row(sobject, record_id)
        return seen[record_id]

    return read


def _matching(
    call: Call, opened: Transaction, sobject: SObject, where: _Where, read: Read, *, deleted: bool
) -> Iterator[Row]:
    tree = where.criteria.expr if where.criteria is not None else None
    rows = candidates(opened, sobject, tree, deleted=deleted)
    if where.criteria is None or where.needs is None:
        yield from rows
        return
    schema, now = call.schema, call.world.org.clock.now()
    for row in rows:
        if where.criteria.matches(nested(schema, where.needs, row, read), now):
            yield row


def _columns(schema: Schema, sobject: SObject, asked: select.Select) -> list[Path]:
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


def _sorted(schema: Schema, sobject: SObject, order: Sequence[select.Order], rows: list[Row], read: Read) -> list[Row]:
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


def _page_size(call: Call) -> int:
    for option in call.headers.get("sforce-query-options", "").split(","):
        name, _, size = option.partition("=")
        if name.strip().lower() == "batchsize" and size.strip().isdigit():
            return min(max(int(size), PAGE_MIN), PAGE_MAX)
    return PAGE


def _locator(call: Call) -> str:
    with call.world.lock:
        alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
        return LOCATOR_PREFIX + "".join(call.world.org.dice.choices(alphabet, k=15))


def _page(call: Call, opened: Transaction, cursor: Cursor, locator: str, start: int) -> Reply:
    rows = cursor.rows[start : start + cursor.page]
    end = start + len(rows)
    done = end == len(cursor.rows)
    content: dict[str, Any] = {"totalSize": len(cursor.rows), "done": done}
    if not done:
        content["nextRecordsUrl"] = data_path(call, "query", f"{locator}-{end}")
    read = reader(opened)
    content["records"] = [record(call, cursor.sobject.name, cursor.plan, row, read) for row in rows]
    return Reply(200, content)


def record(call: Call, sobject: str, tree: Plan, row: Row, read: Read) -> dict[str, Any]:
    """A row as REST gives it, with its `attributes`."""

    def url(name: str, record_id: str) -> str:
        return data_path(call, "sobjects", name, record_id)

    attributes = {"type": sobject, "url": url(sobject, row["Id"])}
    return {"attributes": attributes, **nested(call.schema, tree, row, read, url)}
