"""Who may own a record, and the org's lead assignment rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from org_simulator import failures

if TYPE_CHECKING:
    from org_simulator.changes import Row
    from org_simulator.failures import Failure
    from org_simulator.schema import SObject
    from org_simulator.transaction import Transaction


def problems(tx: Transaction, sobject: SObject, row: Row, before: Row | None) -> list[Failure]:
    """What speaks against the owner, if it is new: a deactivated user, a queue that is not for this object."""
    owner_id = row.get("OwnerId")
    if not sobject.owned or owner_id is None or (before is not None and before.get("OwnerId") == owner_id):
        return []
    user = tx.any_row("User", owner_id)
    if user is not None:
        return [] if user["IsActive"] else [failures.inactive_owner(owner_id, sobject.name)]
    if tx.any_row("Group", owner_id) is None:
        return []
    kinds = {kind["SobjectType"] for kind in tx.rows_by("QueueSobject", "QueueId", [owner_id]) or ()}
    return [] if sobject.name in kinds else [failures.queue_refused()]


def mark_transfer(tx: Transaction, sobject: SObject, row: dict[str, Any], before: Row) -> None:
    """A lead that changes hands is unread by its owner and bears the date."""
    if sobject.name == "Lead" and row["OwnerId"] != before["OwnerId"]:
        row["IsUnreadByOwner"] = True
        row["LastTransferDate"] = tx.org.clock.now().date().isoformat()


def assigned(tx: Transaction, sobject: SObject, row: dict[str, Any]) -> dict[str, Any]:
    """The row after the active assignment rule, which runs behind validation and overrides the owner (step 9)."""
    rule = tx.org.assignment_rule
    if sobject.name != "Lead" or rule is None or tx.system or not tx.auto_assign:
        return row
    owner_id = rule(row)
    if owner_id is None or owner_id == row["OwnerId"]:
        return row
    given = {**row, "OwnerId": owner_id}
    mark_transfer(tx, sobject, given, row)
    refused = problems(tx, sobject, given, row)
    if refused:
        raise refused[0]
    return given
