"""Activities: whether somebody called, wrote to or met a lead since it was given out. Pure.

A completed task (logged calls and e-mails are such), or an event that was made since, by anyone but the router itself.
Tasks and events cannot be asked for within a query of leads, so they are asked for by the leads that may be late.
`LastActivityDate` is of no use for that: it is a date without a time, and a due date at that.

Who may read a lead may see its activities, whoever owns them (organization-wide default of activities, "Private" or
"Controlled by Parent": Salesforce Help, "Organization-Wide Sharing Defaults"), with the right "Access Activities". That
this holds for a user of an API licence is not documented; the doctor looks whether it does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from lead_router.core.ids import to18
from lead_router.core.model import Configuration, Snapshot, Switch
from lead_router.core.terms import ripe
from lead_router.errors import ContractMismatch, Rejected
from lead_router.ports import Finding
from lead_router.salesforce import queries
from lead_router.salesforce.names import ActivityFields, Objects, Permissions, Standard
from lead_router.salesforce.records import Row, moment, shaped
from lead_router.salesforce.rest import Rest, Subrequest

TASKS, EVENTS = "touchTasks", "touchEvents"
_OTHERS_REMEDY = "share leads' activities with it, or give it the right 'View All Data'; till then leave the clock off"


def parts(configuration: Configuration, snapshot: Snapshot) -> list[Subrequest]:
    """The queries for activities of those leads of which a reminder or a deadline may be due."""
    if configuration.rollout.first_touch is Switch.OFF:
        return []
    late = ripe(configuration, snapshot.groups.values(), snapshot.leads.values(), snapshot.taken_at)
    times = given_out(snapshot)
    since = min((times[lead.id] for lead in late if lead.id in times), default=None)
    if since is None:
        return []
    ids, user = sorted(lead.id for lead in late), configuration.integration_user_id
    return [queries.part(TASKS, tasks(ids, since, user)), queries.part(EVENTS, events(ids, since, user))]


def tasks(lead_ids: Sequence[str], since: datetime, but_by: str) -> str:
    """Tasks of the leads that were completed since then."""
    fields = (ActivityFields.WHO, Standard.CREATED_AT, ActivityFields.COMPLETED_AT)
    done = f"{ActivityFields.IS_CLOSED} = true AND {ActivityFields.COMPLETED_AT} >= {queries.instant(since)}"
    return queries.select(fields, Objects.ACTIVITY_TASK, f"WHERE {_of(lead_ids, but_by)} AND {done}")


def events(lead_ids: Sequence[str], since: datetime, but_by: str) -> str:
    """Events of the leads that were made since then, whenever they take place."""
    made = f"{Standard.CREATED_AT} >= {queries.instant(since)}"
    fields = (ActivityFields.WHO, Standard.CREATED_AT)
    return queries.select(fields, Objects.ACTIVITY_EVENT, f"WHERE {_of(lead_ids, but_by)} AND {made}")


def _of(lead_ids: Sequence[str], but_by: str) -> str:
    return f"{queries.among(ActivityFields.WHO, lead_ids)} AND {Standard.CREATED_BY} != {queries.text(but_by)}"


def touches(snapshot: Snapshot, rows: Mapping[str, Sequence[Row]]) -> dict[str, datetime]:
    """By lead, when its first activity since it was given out was completed or made."""
    found: dict[str, datetime] = {}
    times = given_out(snapshot)
    for row in (*rows.get(TASKS, ()), *rows.get(EVENTS, ())):
        lead_id, at = touch(row)
        if lead_id in times and at >= times[lead_id]:
            found[lead_id] = min(at, found.get(lead_id, at))
    return found


def given_out(snapshot: Snapshot) -> dict[str, datetime]:
    """By lead, when it was given out last, by Salesforce's clock where the row of the ledger tells it.

    Activities are told by that clock. The time on the lead is the router's: were that clock ahead, a call that came
    soon would seem to have come before.
    """
    rows = {(row.lead_id, row.round): row.created_at for row in snapshot.ledger if row.created_at is not None}
    found = {lead.id: rows.get((lead.id, lead.round), lead.routed_at) for lead in snapshot.leads.values()}
    return {lead_id: at for lead_id, at in found.items() if at is not None}


def readable(rest: Rest) -> Finding:
    """Whether this user may read tasks and events, as the first-touch clock has to."""
    for name in (Objects.ACTIVITY_TASK, Objects.ACTIVITY_EVENT):
        try:
            rest.query(queries.select((Standard.ID,), name, "LIMIT 1"))
        except (ContractMismatch, Rejected):
            remedy = f"assign the permission set {Permissions.ACTIVITIES_SET} to it"
            told = f"this user may not read {name} records: no first-touch clock runs"
            return Finding("activities", ok=False, detail=told, remedy=remedy, warning=True)
    return _others(rest)


def _others(rest: Rest) -> Finding:
    """Leads have activities, and none by others can be seen: then no call that a rep logs would be, either."""
    by_others = f"WHERE {Standard.CREATED_BY} != {queries.text(rest.token().user_id)} LIMIT 1"
    for name in (Objects.ACTIVITY_TASK, Objects.ACTIVITY_EVENT):
        if rest.query(queries.select((Standard.ID,), name, by_others)):
            return Finding("activities", ok=True, detail="tasks and events of others can be read")
    if not rest.query(
        queries.select((Standard.ID,), Objects.LEAD, f"WHERE {ActivityFields.LAST_ON_LEAD} != NULL LIMIT 1")
    ):
        return Finding("activities", ok=True, detail="tasks and events can be read; there is none by others yet")
    told = "leads have activities, and this user sees none by others: the first-touch clock would move touched leads"
    return Finding("activities", ok=False, detail=told, remedy=_OTHERS_REMEDY, warning=True)


@shaped
def touch(row: Row) -> tuple[str, datetime]:
    """Whose lead, and when: a task as it was completed, an event as it was made."""
    return to18(row[ActivityFields.WHO]), moment(row.get(ActivityFields.COMPLETED_AT) or row[Standard.CREATED_AT])
