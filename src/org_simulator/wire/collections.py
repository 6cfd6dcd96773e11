"""`/composite/sobjects`: up to 200 records in one call, answered by position."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from org_simulator import bulk
from org_simulator.failures import Failure
from org_simulator.ids import is_id
from org_simulator.wire import rows
from org_simulator.wire.errors import bad_request, record_errors, rolled_back
from org_simulator.wire.exchange import Reply
from org_simulator.wire.finding import reader
from org_simulator.wire.paths import plan, resolve
from org_simulator.wire.query import record
from org_simulator.wire.world import Call, sobject_of, work

if TYPE_CHECKING:
    from org_simulator.schema import SObject
    from org_simulator.transaction import Transaction

RECORDS_MAX = 200
RETRIEVE_MAX = 2000
CHUNKS_MAX = 10  # runs of one type in one request


@dataclass(frozen=True, slots=True)
class Item:
    """One record to save."""

    sobject: SObject
    record_id: str
    content: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A record ready to be saved by a verb; `more` is what its result says besides."""

    verb: str
    record_id: str | None
    fields: Mapping[str, Any]
    more: Mapping[str, Any] = field(default_factory=dict)


Result: TypeAlias = "dict[str, Any]"
Prepare: TypeAlias = Callable[["Transaction", Item], Prepared]


class _RolledBack(Exception):
    """Leaves a transaction without a commit."""

    def __init__(self, results: list[Result]) -> None:
        super().__init__()
        self.results = results


def create(call: Call, _captured: Sequence[str]) -> Reply:
    """POST /composite/sobjects."""

    def prepare(opened: Transaction, item: Item) -> Prepared:
        rows.allowed(call, item.sobject, creating=True)
        return Prepared("insert", None, rows.fields(call, opened, item.sobject, item.content))

    return _save_all(call, _items(call), prepare)


def update(call: Call, _captured: Sequence[str]) -> Reply:
    """PATCH /composite/sobjects."""

    def prepare(opened: Transaction, item: Item) -> Prepared:
        if not item.record_id:
            raise Failure("MISSING_ARGUMENT", "Id not specified in an update call")
        rows.allowed(call, item.sobject, creating=False)
        return Prepared("update", item.record_id, rows.fields(call, opened, item.sobject, item.content))

    return _save_all(call, _items(call), prepare)


def upsert(call: Call, captured: Sequence[str]) -> Reply:
    """PATCH /composite/sobjects/X/FIELD."""
    sobject = sobject_of(call, captured[0])
    key = captured[1]
    items = _items(call)
    if any(item.sobject is not sobject for item in items):
        raise bad_request("INVALID_INPUT", f"All records of this request must be of type {sobject.name}")

    def prepare(opened: Transaction, item: Item) -> Prepared:
        content = {name: value for name, value in item.content.items() if name.lower() != key.lower()}
        value = next((value for name, value in item.content.items() if name.lower() == key.lower()), None)
        value = item.record_id if key.lower() == "id" else value
        if not value:
            raise Failure("MISSING_ARGUMENT", f"{key} not specified")
        found = rows.by_key(opened, sobject, key, str(value))
        if len(found) > 1:
            raise Failure("DUPLICATE_EXTERNAL_ID", f"{key}: more than one record found for external id field")
        rows.allowed(call, sobject, creating=not found)
        new = rows.fields(call, opened, sobject, content)
        if not found:
            return Prepared("insert", None, {**new, key: value}, {"created": True})
        return Prepared("update", found[0]["Id"], new, {"created": False})

    return _save_all(call, items, prepare)


def delete(call: Call, _captured: Sequence[str]) -> Reply:
    """DELETE /composite/sobjects?ids=a,b&allOrNone=."""
    ids = [each for each in call.query.get("ids", "").split(",") if each]
    items = [Item(_sobject_of_id(call, each), each, {}) for each in ids]

    def prepare(_opened: Transaction, item: Item) -> Prepared:
        return Prepared("delete", item.record_id, {})

    return _save_all(call, items, prepare)


def retrieve(call: Call, captured: Sequence[str]) -> Reply:
    """GET /composite/sobjects/X?ids=&fields=, or POST with a body: records by position, null where there is none."""
    sobject = sobject_of(call, captured[0])
    if call.method == "GET":
        ids, names = (call.query.get(name, "").split(",") for name in ("ids", "fields"))
    else:
        content = rows.body(call)
        ids, names = (list(map(str, content.get(name) or ())) for name in ("ids", "fields"))
    if len(ids) > RETRIEVE_MAX:
        raise _too_many(RETRIEVE_MAX)
    tree = plan(resolve(call.schema, sobject, name.strip()) for name in names)
    with work(call) as opened:
        read = reader(opened)
        found = [opened.row(sobject.name, each) if is_id(each) else None for each in ids]
        return Reply(200, [row and record(call, sobject.name, tree, row, read) for row in found])


def _good(record_id: str) -> Result:
    return {"id": record_id, "success": True, "errors": []}


def _too_many(limit: int) -> Failure:
    text = f"record limit reached. cannot submit more than {limit} records into this operation"
    return bad_request("EXCEEDED_ID_LIMIT", text)


def _items(call: Call) -> list[Item]:
    """The records of the body, each with its type and id taken out."""
    given = rows.body(call).get("records")
    if not isinstance(given, list) or not all(isinstance(each, Mapping) for each in given):
        raise bad_request("JSON_PARSER_ERROR", "The records of this request must be a list of objects")
    items: list[Item] = []
    for each in given:
        attributes = each.get("attributes")
        name = attributes.get("type") if isinstance(attributes, Mapping) else None
        sobject = call.schema.objects.get(str(name).lower())
        if sobject is None:
            raise bad_request("INVALID_TYPE", f"sObject type '{name}' is not supported.")
        record_id = next((str(value) for key, value in each.items() if key.lower() == "id" and value), "")
        content = {key: value for key, value in each.items() if key.lower() not in {"id", "attributes"}}
        items.append(Item(sobject, record_id, content))
    return items


def _sobject_of_id(call: Call, record_id: str) -> SObject:
    for sobject in call.schema.objects.values():
        if is_id(record_id) and record_id.startswith(sobject.prefix):
            return sobject
    raise bad_request("MALFORMED_ID", f"malformed id {record_id}")


def _all_or_none(call: Call) -> bool:
    if call.method == "DELETE":
        return call.query.get("allOrNone", "").lower() == "true"
    return rows.body(call).get("allOrNone") is True


def _save_all(call: Call, items: Sequence[Item], prepare: Prepare) -> Reply:
    """Save in list order. Inside a rolled-back composite the results say what the org says there (see `_undone`)."""
    if len(items) > RECORDS_MAX:
        raise _too_many(RECORDS_MAX)
    chunks = [list(run) for _, run in itertools.groupby(items, key=lambda item: item.sobject.name)]
    if len(chunks) > CHUNKS_MAX:
        advice = "Please rearrange the data to reduce chunking."
        raise bad_request(
            "LIMIT_EXCEEDED", f"Cannot have more than {CHUNKS_MAX} chunks in a single operation. {advice}"
        )
    together = call.shared is not None or _all_or_none(call)
    one_by_one = together and call.shared is None and not call.world.org.switches.mixed_type_collections_atomic
    results: list[Result] = []
    for part in chunks if one_by_one else [list(items)]:
        results += _in_transaction(call, part, prepare, together=together)
        if together and not all(each["success"] for each in results):
            break
    results += [{"success": False, "errors": rolled_back()} for _ in range(len(items) - len(results))]
    return Reply(200, results)


def _in_transaction(call: Call, items: Sequence[Item], prepare: Prepare, *, together: bool) -> list[Result]:
    try:
        with work(call) as opened:
            results = _save_each(call, opened, items, prepare, together=together)
            _hold_together(call, items, results, together=together)
            return results
    except _RolledBack as over:
        return over.results


def _hold_together(call: Call, items: Sequence[Item], results: list[Result], *, together: bool) -> None:
    if together and not all(each["success"] for each in results):
        raise _RolledBack(_undone(call, items, results))


def _save_each(
    call: Call, opened: Transaction, items: Sequence[Item], prepare: Prepare, *, together: bool
) -> list[Result]:
    """Runs of one type: where triggers watch it whole, so that they see all records, else one by one."""
    results: list[Result] = []
    for name, run in itertools.groupby(items, key=lambda item: item.sobject.name):
        same = list(run)
        opened.preload(name, [item.record_id for item in same if is_id(item.record_id)])
        portions = [same] if bulk.automated(opened, name) else [[item] for item in same]
        for portion in portions:
            results += _portion(opened, portion, prepare, together=together)
            last = results[-1]
            if together and not last["success"] and _final(call, last):
                return results
    return results


def _final(call: Call, result: Result) -> bool:
    """Whether nothing after this failure is tried."""
    return result["errors"][0]["statusCode"] == bulk.LOCKED or call.world.org.switches.only_first_error_reported


def _portion(opened: Transaction, items: Sequence[Item], prepare: Prepare, *, together: bool) -> list[Result]:
    results: list[Result] = [{} for _ in items]
    ready: dict[str, list[tuple[int, Prepared]]] = {}
    for place, item in enumerate(items):
        try:
            prepared = prepare(opened, item)
        except Failure as failure:
            results[place] = {"success": False, "errors": record_errors(failure)}
            continue
        ready.setdefault(prepared.verb, []).append((place, prepared))
    for verb, found in ready.items():
        saves = [(each.record_id, each.fields) for _, each in found]
        outcomes = bulk.save_all(opened, verb, items[0].sobject.name, saves, together=together)
        for (place, each), outcome in zip(found, outcomes, strict=False):
            if isinstance(outcome, Failure):
                results[place] = {"success": False, "errors": record_errors(outcome)}
            else:
                results[place] = {**_good(outcome), **each.more}
    return results


def _undone(call: Call, items: Sequence[Item], results: list[Result]) -> list[Result]:
    """The results of a collection that was rolled back.

    Records that were good themselves say ALL_OR_NONE_OPERATION_ROLLED_BACK; where only the composite around the
    collection asked for all or none, the org may go on calling them a success (a switch).
    """
    if (
        call.shared is not None
        and not _all_or_none(call)
        and call.world.org.switches.inner_success_true_when_rolled_back
    ):
        told = list(results)
    else:
        told = [
            each if not each["success"] else {"id": each["id"], "success": False, "errors": rolled_back()}
            for each in results
        ]
    for item in items[len(told) :]:
        known = {"id": item.record_id} if item.record_id else {}
        told.append({**known, "success": False, "errors": rolled_back()})
    return told
