"""Deletion: to the recycle bin and back. Runs holding the store's mutex, as saving does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from org_simulator import failures
from org_simulator.changes import DELETE, UNDELETE
from org_simulator.saving import lock_parents

if TYPE_CHECKING:
    from collections.abc import Iterator

    from org_simulator.changes import Row
    from org_simulator.schema import Field, SObject
    from org_simulator.transaction import Transaction

_BLANKED = "(blanked)"  # on a record in the bin: object, id and field of each lookup that went blank with it


def delete(tx: Transaction, sobject: SObject, record_id: str, *, master_record_id: str | None = None) -> None:
    """Move a record and its details to the recycle bin; lookups to it go blank or forbid it, as the field says."""
    current = _present(tx, sobject, record_id)
    lock_parents(tx, sobject, current, ())
    tx.lock(record_id)
    current = _present(tx, sobject, record_id)
    if sobject.name == "User":
        raise failures.insufficient_access(tx.org.switches.access_error_http_status)
    children = list(_children(tx, sobject, record_id))
    forbidding = [child["Id"] for _, field, child in children if field.on_delete == "Restrict"]
    if forbidding:
        raise failures.delete_refused(sobject.name, forbidding)
    blanked = []
    for child_object, field, child in children:
        if field.on_delete == "Cascade":
            delete(tx, child_object, child["Id"])
        else:
            _look_up(tx, child_object.name, child["Id"], field.name, None)
            blanked.append((child_object.name, child["Id"], field.name))
    merged = {} if master_record_id is None else {"MasterRecordId": master_record_id}
    tx.write(sobject.name, record_id, {**current, **merged, _BLANKED: blanked, "IsDeleted": True}, DELETE)


def _look_up(tx: Transaction, sobject: str, record_id: str, field: str, value: str | None) -> None:
    """Set a lookup, as the platform does by itself: no trigger runs, no event tells of it."""
    tx.lock(record_id)
    current = tx.any_row(sobject, record_id)
    if current is not None and None in (value, current[field]):
        tx.write(sobject, record_id, {**current, field: value}, None)


def undelete(tx: Transaction, sobject: SObject, record_id: str) -> None:
    """Take a record out of the recycle bin. Lookups that went blank name it again where none has been set since.

    Apex Developer Guide, "Deleting Records", on referential integrity; by a switch they stay blank.
    """
    tx.lock(record_id)
    current = tx.any_row(sobject.name, record_id)
    if current is None:
        raise failures.not_found()
    if not current["IsDeleted"]:
        raise failures.Failure("UNDELETE_FAILED", "entity is not in the recycle bin")
    back = {name: value for name, value in current.items() if name != _BLANKED}
    tx.write(sobject.name, record_id, {**back, "IsDeleted": False}, UNDELETE)
    for child_object, child_id, field in current[_BLANKED] if tx.org.switches.undelete_restores_lookups else ():
        _look_up(tx, child_object, child_id, field, record_id)


def _present(tx: Transaction, sobject: SObject, record_id: str) -> Row:
    current = tx.any_row(sobject.name, record_id)
    if current is None:
        raise failures.bad_reference(http=404)
    if current["IsDeleted"]:
        raise failures.entity_is_deleted()
    return current


def _children(tx: Transaction, sobject: SObject, record_id: str) -> Iterator[tuple[SObject, Field, Row]]:
    for child_object in tx.org.schema.objects.values():
        for name, index in tx.table(child_object.name).indexes.items():
            if sobject.name not in index.field.reference_to:
                continue
            for child in tx.rows_by(child_object.name, name, [record_id]) or ():
                yield child_object, index.field, child
