"""The resources of single records: by id, by external id, and events to publish."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from org_simulator.failures import (
    Failure,
    entity_is_deleted,
    insufficient_access,
    malformed_id,
    no_such_column,
    not_found,
    read_only,
)
from org_simulator.ids import is_id, to18
from org_simulator.wire.errors import bad_request
from org_simulator.wire.exchange import Reply
from org_simulator.wire.finding import reader
from org_simulator.wire.paths import plan, relationship, resolve
from org_simulator.wire.query import record
from org_simulator.wire.world import Call, data_path, sobject_of, work

if TYPE_CHECKING:
    from org_simulator.changes import Row
    from org_simulator.schema import SObject
    from org_simulator.transaction import Transaction

UPSERT_SAYS_MORE_FROM = 46.0
"""From this API version an updating upsert answers 200 with a body; before, 204 without."""


def create(call: Call, captured: Sequence[str]) -> Reply:
    """POST /sobjects/X."""
    sobject = sobject_of(call, captured[0])
    allowed(call, sobject, creating=True)
    with work(call) as opened:
        record_id = opened.insert(sobject.name, fields(call, opened, sobject, body(call)))
    return _created(call, sobject, record_id)


def read(call: Call, captured: Sequence[str]) -> Reply:
    """GET /sobjects/X/ID?fields=."""
    sobject = sobject_of(call, captured[0])
    with work(call) as opened:
        row = existing(opened, sobject, captured[1])
        since = call.headers.get("if-modified-since")
        if since is not None and not _newer(row, since, "LastModifiedDate"):
            return Reply(304)
        return Reply(200, shown(call, opened, sobject, row, call.query.get("fields")))


def update(call: Call, captured: Sequence[str]) -> Reply:
    """PATCH /sobjects/X/ID."""
    sobject = sobject_of(call, captured[0])
    content = body(call)
    if any(name.lower() == "id" for name in content):
        raise bad_request("INVALID_FIELD", "The Id field should not be specified in the sobject data.")
    with work(call) as opened:
        since = call.headers.get("if-unmodified-since")
        if since is not None and _newer(existing(opened, sobject, captured[1]), since, _compared(call)):
            raise bad_request("ENTITY_FAILED_IFLASTMODIFIED_ON_UPDATE", "entity was modified", 412)
        allowed(call, sobject, creating=False)
        opened.update(sobject.name, captured[1], fields(call, opened, sobject, content))
    return Reply(204)


def delete(call: Call, captured: Sequence[str]) -> Reply:
    """DELETE /sobjects/X/ID."""
    sobject = sobject_of(call, captured[0])
    with work(call) as opened:
        opened.delete(sobject.name, captured[1])
    return Reply(204)


def read_external(call: Call, captured: Sequence[str]) -> Reply:
    """GET /sobjects/X/FIELD/VALUE?fields=."""
    sobject = sobject_of(call, captured[0])
    with work(call) as opened:
        rows = _held(opened, sobject, captured)
        if len(rows) > 1:
            return _several(call, sobject, rows)
        return Reply(200, shown(call, opened, sobject, rows[0], call.query.get("fields")))


def upsert(call: Call, captured: Sequence[str]) -> Reply:
    """PATCH /sobjects/X/FIELD/VALUE."""
    sobject = sobject_of(call, captured[0])
    content = body(call)
    if any(name.lower() in {"id", captured[1].lower()} for name in content):
        raise bad_request("INVALID_FIELD", f"The {captured[1]} field should not be specified in the sobject data.")
    with work(call) as opened:
        rows = by_key(opened, sobject, captured[1], captured[2])
        if len(rows) > 1:
            return _several(call, sobject, rows)
        allowed(call, sobject, creating=not rows)
        new = fields(call, opened, sobject, content)
        if not rows:
            record_id = opened.insert(sobject.name, {**new, captured[1]: captured[2]})
        else:
            record_id = rows[0]["Id"]
            opened.update(sobject.name, record_id, new)
    if not rows:
        return _created(call, sobject, record_id, created=True)
    if float(call.version) < UPSERT_SAYS_MORE_FROM:
        return Reply(204)
    return Reply(200, {"id": record_id, "success": True, "errors": [], "created": False})


def delete_external(call: Call, captured: Sequence[str]) -> Reply:
    """DELETE /sobjects/X/FIELD/VALUE."""
    sobject = sobject_of(call, captured[0])
    with work(call) as opened:
        rows = _held(opened, sobject, captured)
        if len(rows) > 1:
            return _several(call, sobject, rows)
        opened.delete(sobject.name, rows[0]["Id"])
    return Reply(204)


def _created(call: Call, sobject: SObject, record_id: str, **more: Any) -> Reply:
    content = {"id": record_id, "success": True, "errors": [], **more}
    return Reply(201, content, {"Location": data_path(call, "sobjects", sobject.name, record_id)})


def _held(opened: Transaction, sobject: SObject, captured: Sequence[str]) -> Sequence[Mapping[str, Any]]:
    """The rows that hold an external key; refused where there is none."""
    rows = by_key(opened, sobject, captured[1], captured[2])
    if not rows:
        raise not_found()
    return rows


def _several(call: Call, sobject: SObject, rows: Sequence[Row]) -> Reply:
    return Reply(300, [data_path(call, "sobjects", sobject.name, row["Id"]) for row in rows])


def body(call: Call) -> Mapping[str, Any]:
    """The JSON object that was sent."""
    if not isinstance(call.content, Mapping):
        raise bad_request("JSON_PARSER_ERROR", "The HTTP entity body is required, but this request has no entity body.")
    return call.content


def fields(call: Call, opened: Transaction, sobject: SObject, content: Mapping[str, Any]) -> dict[str, Any]:
    """What to save: without `attributes`, with parents given by key (`Group__r: {Key__c: …}`) turned into ids.

    Raises INVALID_FIELD for a field that the user does not see, INVALID_FIELD_FOR_INSERT_UPDATE for one not editable.
    """
    found: dict[str, Any] = {}
    for name, value in content.items():
        if name == "attributes":
            continue
        if isinstance(value, Mapping):
            reference, record_id = _parent(call, opened, sobject, name, value)
            found[reference] = record_id
        else:
            found[name] = value
    for name in found:
        seen = sobject.fields.get(name.lower())
        if seen is None:
            raise no_such_column(name, sobject.name)
        if seen.name.endswith("__c") and not (seen.createable or seen.updateable):
            raise read_only((seen.name,))
    return found


def _parent(call: Call, opened: Transaction, sobject: SObject, name: str, key: Mapping[str, Any]) -> tuple[str, str]:
    for reference in sobject.fields.values():
        if reference.reference_to and relationship(reference).lower() == name.lower():
            parent = sobject_of(call, reference.reference_to[0])
            named = [(field, value) for field, value in key.items() if field != "attributes"]
            if len(named) != 1:
                raise bad_request("INVALID_FIELD", f"{name} must name one external ID of {parent.name}")
            field, value = named[0]
            if rows := by_key(opened, parent, field, str(value)):
                return reference.name, rows[0]["Id"]
            text = f"Foreign key external ID: {value} not found for field {field} in entity {parent.name}"
            raise bad_request("INVALID_FIELD", text)
    raise bad_request("INVALID_FIELD", f"No such column '{name}' on sobject of type {sobject.name}")


def allowed(call: Call, sobject: SObject, *, creating: bool) -> None:
    """Raises INSUFFICIENT_ACCESS_OR_READONLY without the right on the object; its code for this is not documented."""
    if not (sobject.creates if creating else sobject.edits):
        raise insufficient_access(call.world.org.switches.access_error_http_status)


def existing(opened: Transaction, sobject: SObject, record_id: str) -> Row:
    """The record of this id; raises MALFORMED_ID, NOT_FOUND or ENTITY_IS_DELETED."""
    if not is_id(record_id) or not record_id.startswith(sobject.prefix):
        raise malformed_id(f"{sobject.label} ID", record_id)
    row = opened.row(sobject.name, record_id)
    if row is not None:
        return row
    if any(each["Id"] == to18(record_id) for each in opened.rows(sobject.name, deleted=True)):
        raise entity_is_deleted()
    raise not_found()


def by_key(opened: Transaction, sobject: SObject, name: str, value: str) -> list[Row]:
    """The records whose external-id (or id) field has this value."""
    column = sobject.fields.get(name.lower())
    if column is not None and column.type == "id":
        row = opened.row(sobject.name, value) if is_id(value) else None
        return [row] if row is not None else []
    if column is None or not (column.external_id or column.unique):
        raise Failure("NOT_FOUND", f"Provided external ID field does not exist or is not accessible: {name}", http=404)
    rows = opened.rows_by(sobject.name, column.name, [value])
    if rows is None:
        low = value.lower()
        rows = (row for row in opened.rows(sobject.name) if str(row.get(column.name)).lower() == low)
    return list(rows)


def shown(call: Call, opened: Transaction, sobject: SObject, row: Row, names: str | None) -> dict[str, Any]:
    """A record with its `attributes` and the fields named by a comma list; all of them without one."""
    wanted = [each.strip() for each in names.split(",")] if names else [each.name for each in sobject.fields.values()]
    tree = plan(resolve(call.schema, sobject, name) for name in wanted)
    return record(call, sobject.name, tree, row, reader(opened))


def _compared(call: Call) -> str:
    return "SystemModstamp" if call.world.org.switches.unmodified_since_compares_system_modstamp else "LastModifiedDate"


def _newer(row: Row, moment: str, compared: str) -> bool:
    try:
        since = parsedate_to_datetime(moment)
    except ValueError as fault:
        raise bad_request("INVALID_FIELD", f"Invalid date: {moment}") from fault
    return datetime.fromisoformat(row[compared]).replace(microsecond=0) > since
