"""SOQL over REST: the query resources, pages and locators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from org_simulator.failures import Failure
from org_simulator.wire import aggregate, select
from org_simulator.wire.exchange import Reply
from org_simulator.wire.finding import columns_of, matching, reader, sort
from org_simulator.wire.paths import Plan, Read, nested, plan
from org_simulator.wire.world import Call, Cursor, data_path, keep

if TYPE_CHECKING:
    from org_simulator.changes import Row
    from org_simulator.schema import SObject
    from org_simulator.transaction import Transaction

PAGE = 2000  # rows
PAGE_MIN = 200
PAGE_MAX = 2000
LOCATOR_PREFIX = "01g"


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
    rows = matching(schema, opened, sobject, asked.where, deleted=everything or asked.all_rows)
    read = reader(opened)
    if aggregate.wanted(asked):
        return Reply(200, aggregate.answer(schema, sobject, asked, rows, read))
    if asked.group:
        raise select.malformed("Grouped query without an aggregate is not supported")
    columns = plan(columns_of(schema, sobject, asked))
    rows = sort(schema, sobject, asked.order, rows, read)[asked.offset : asked.offset + asked.limit]
    cursor = Cursor(columns, sobject, tuple(rows), _page_size(call))
    locator = _locator(call) if len(rows) > cursor.page else ""
    if locator:
        keep(call.world, locator, cursor)
    return _page(call, opened, cursor, locator, 0)


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
