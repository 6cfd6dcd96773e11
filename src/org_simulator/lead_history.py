"""Field history of Lead owners: off unless asked for, as in an org where nobody has switched tracking on.

Two rows are added when a reference changes, one with the names that people see and one with the ids, which only the
API shows (Object Reference, EntityHistory); a new lead leaves one row, `created`. Rows cannot be written, and clauses
cannot name their values. Not documented, and a switch: what a lead assignment rule leaves behind that runs as the lead
is created.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from org_simulator.changes import CREATE, DELETE, UNDELETE
from org_simulator.sobjects import Field, SObject
from org_simulator.values import stamp

if TYPE_CHECKING:
    from org_simulator.changes import RowChange
    from org_simulator.org import Org
    from org_simulator.schema import Schema

NAME = "LeadHistory"
PREFIX = "017"


def tracked(schema: Schema) -> Schema:
    """The schema with the object that keeps the history."""
    fields = (
        Field("Id", "id", "Lead History ID", 18),
        Field("IsDeleted", "boolean", "Deleted"),
        Field("LeadId", "reference", "Lead ID", 18, reference_to=("Lead",), relationship="Lead"),
        Field("CreatedById", "reference", "Created By ID", 18, reference_to=("User",), relationship="CreatedBy"),
        Field("CreatedDate", "datetime", "Created Date"),
        Field("Field", "picklist", "Changed Field", 255),
        Field("DataType", "picklist", "Datatype", 40),
        Field("OldValue", "textarea", "Old Value", 32_000),
        Field("NewValue", "textarea", "New Value", 32_000),
    )
    kept = {field.name.lower(): replace(field, createable=False, updateable=False) for field in fields}
    history = SObject(NAME, PREFIX, "Lead History", "Lead History", kept, creates=False, edits=False)
    return replace(schema, objects={**schema.objects, NAME.lower(): history})


def track(org: Org) -> None:
    """Let an org of a `tracked` schema keep the history of its leads from now on."""

    def note(changes: list[RowChange]) -> None:
        for change in changes:
            if change.sobject == "Lead":
                _note(org, change)

    org.listeners.append(note)


def _note(org: Org, change: RowChange) -> None:
    before, after = change.before, change.after
    match change.kind:
        case str(kind) if kind == CREATE:
            _add(org, change, "created", "Text", None, None)
            if org.switches.history_tells_first_owner and after is not None and after["OwnerId"] != change.user_id:
                _add_owners(org, change, change.user_id, after["OwnerId"])
        case str(kind) if kind in {DELETE, UNDELETE}:
            _hide(org, change.id, deleted=kind == DELETE)
        case _ if before is not None and after is not None and before["OwnerId"] != after["OwnerId"]:
            _add_owners(org, change, before["OwnerId"], after["OwnerId"])


def _add_owners(org: Org, change: RowChange, old: str, new: str) -> None:
    _add(org, change, "Owner", "Text", _named(org, old), _named(org, new))
    _add(org, change, "Owner", "EntityId", old, new)


def _add(org: Org, change: RowChange, field: str, kind: str, old: Any, new: Any) -> None:
    record_id = org.store.new_id(PREFIX)
    row = {
        "Id": record_id,
        "IsDeleted": False,
        "LeadId": change.id,
        "CreatedById": change.user_id,
        "CreatedDate": stamp(change.at, whole_seconds=org.switches.created_date_whole_seconds),
        "Field": field,
        "DataType": kind,
        "OldValue": old,
        "NewValue": new,
    }
    org.store.tables[NAME.lower()].put(record_id, row)


def _hide(org: Org, lead_id: str, *, deleted: bool) -> None:
    """The history goes to the recycle bin with its lead, and comes back with it."""
    table = org.store.tables[NAME.lower()]
    for record_id in list(table.indexes["leadid"].ids(lead_id)):
        table.put(record_id, {**table.rows[record_id], "IsDeleted": deleted})


def _named(org: Org, owner_id: str) -> Any:
    kind = org.sobject_of(owner_id[:3])
    row = org.store.tables[kind.lower()].rows.get(owner_id) if kind else None
    return None if row is None else row["Name"]
