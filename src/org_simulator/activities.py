"""Tasks and events: when a task is closed, and what an activity leaves on its lead.

LastActivityDate is the latest due date of completed tasks or date of events ("Differences between Last Activity and
Last Modified Dates", Salesforce Help 000385365); one without a date moves none. What that change does to the lead else,
and what not, is that of "Difference between SystemModStamp and LastModifiedDate" (000387261); when it happens is
undocumented: here at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from org_simulator.ids import to18
from org_simulator.standard import TASK_CLOSED

if TYPE_CHECKING:
    from org_simulator.changes import Row
    from org_simulator.org import Org
    from org_simulator.schema import SObject
    from org_simulator.transaction import Transaction

_TASK, _EVENT = "Task", "Event"


def close(sobject: SObject, row: dict[str, Any], before: Row) -> None:
    """A task is closed by its status, and remembers when it was."""
    if sobject.name == _TASK:
        row["IsClosed"] = row["Status"] == TASK_CLOSED
        closed_at = before.get("CompletedDateTime") or row["LastModifiedDate"]
        row["CompletedDateTime"] = closed_at if row["IsClosed"] else None


def touch_lead(tx: Transaction, sobject: SObject, row: Row, before: Row) -> None:
    """The lead of an event, or of a task that is completed now, has another SystemModstamp, by a switch. No event."""
    completed = sobject.name == _TASK and row["IsClosed"] and not before.get("IsClosed")
    if not (completed or sobject.name == _EVENT) or not row["WhoId"] or not tx.org.switches.activities_touch_leads:
        return
    lead_id = to18(row["WhoId"])
    tx.lock(lead_id)
    lead = tx.any_row("Lead", lead_id)
    if lead is not None:
        day = row["ActivityDate"] if sobject.name == _TASK else row["StartDateTime"][:10]
        last = max(filter(None, (lead["LastActivityDate"], day)), default=None)
        moved = {"SystemModstamp": row["SystemModstamp"], "LastActivityDate": last}
        tx.write("Lead", lead_id, {**lead, **moved}, None)


def shown(org: Org, sobject: SObject, user_id: str, row: Row) -> bool:
    """Whether this user sees the activity, by a switch; rows of other objects are always shown."""
    hides = sobject.name in {_TASK, _EVENT} and not org.switches.others_activities_shown
    return not hides or user_id in {org.admin_user_id, row["OwnerId"], row["CreatedById"]}
