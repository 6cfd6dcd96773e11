"""Overriding: others change an owner just given by the router; it is shown, and never fought.

Back to an intake owner is no override: that is how people ask for another round.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

import structlog

from lead_router.core.ids import to18
from lead_router.core.model import Configuration, Lead, Outcome, Snapshot
from lead_router.errors import LeadRouterError, Transient
from lead_router.loops.asks import UNASSIGNED_UNDER, ask_of
from lead_router.ports import Change, Job, LeadMoved, Org, Overridden, Refusal

_log = structlog.get_logger(__name__)

SOON = timedelta(minutes=10)
TOLD_S = 60.0  # looks of a job that rests for longer come later
KEPT = timedelta(seconds=1)  # a time need not come back to the millisecond
GIVEN_BY = "given_by"  # the payload's word for the user who gave the lead to someone
_SHORT = 15


def given_by(change: Change, configuration: Configuration) -> str | None:
    """The user, not ours, that changed the lead's owner by this change, to a person or a queue; None if nobody did.

    The router inside gives leads in the name of whoever saved them, who gave them to nobody: its stamp tells it apart.
    """
    ours = configuration.integration_user_id
    given = change.change_type == "UPDATE" and isinstance(change.fields.get("OwnerId"), str)
    return (
        change.commit_user
        if given and not change.stamped and change.commit_user[:_SHORT] not in {"", ours[:_SHORT]}
        else None
    )


def overridden(configuration: Configuration, snapshot: Snapshot, jobs: Sequence[Job]) -> list[Overridden]:
    """Leads whose owner someone changed within ten minutes of our own commit, as the ledger has it.

    A rep who gives on the lead just got, or gives it back, overrides nobody; nor does who changes what another person
    took by hand, nor who returns it to be routed anew, though the router inside did so within that very save.
    """
    found: list[Overridden] = []
    for job in jobs:
        user, lead = job.payload.get(GIVEN_BY), snapshot.leads.get(job.lead_id)
        rows = [row for row in snapshot.ledger if row.lead_id == job.lead_id]
        if not user or lead is None or not rows or _returned(configuration, lead, job):
            continue
        last, at = max(rows, key=lambda row: row.round), ask_of(job).event_at
        soon = last.created_at is not None and last.created_at <= at <= last.created_at + SOON
        if soon and last.outcome != Outcome.MANUAL and last.assigned_to not in {lead.owner_id, to18(str(user))}:
            found.append(Overridden(lead, str(user), at, shown=_shows(lead, at)))
    return found


def tell_returned(configuration: Configuration, snapshot: Snapshot, jobs: Sequence[Job]) -> None:
    """Say by whom routed leads came back to an intake owner, at a job's first looks alone: a held one is told once."""
    for job in jobs:
        user, lead = job.payload.get(GIVEN_BY), snapshot.leads.get(job.lead_id)
        if not user or lead is None or lead.owner_id not in configuration.intake_owners:
            continue
        fresh = job.age_s < TOLD_S and not job.held and not lead.held
        if fresh and any(row.lead_id == lead.id for row in snapshot.ledger):
            _log.info("lead_returned", lead=lead.id, user=user)


def _returned(configuration: Configuration, lead: Lead, job: Job) -> bool:
    """Whether the change gave the lead to an intake owner, or it is there now."""
    return not configuration.intake_owners.isdisjoint({str(job.payload.get(UNASSIGNED_UNDER)), lead.owner_id})


def _shows(lead: Lead, at: datetime) -> bool:
    """A job that rests is looked at again and again, and its override is told once."""
    return lead.overridden_at is not None and abs(lead.overridden_at - at) < KEPT


def show(org: Org, facts: Sequence[Overridden]) -> frozenset[str]:
    """Show them on their leads and in the log; answers the leads that were changed meanwhile, by their ids.

    Raises Transient, so that it is done again.
    """
    new = [fact for fact in facts if not fact.shown]
    faults: Mapping[str, LeadMoved | Refusal] = {}
    try:
        faults = org.mark(new) if new else {}
    except Transient:
        raise
    except LeadRouterError as fault:
        _log.warning("overridden_not_shown", leads=len(new), error=str(fault))
    for fact in new:
        match faults.get(fact.lead.id):
            case LeadMoved():
                _log.info(
                    "overridden_not_shown", lead=fact.lead.id, user=fact.user_id, error="it was changed meanwhile"
                )
                continue
            case Refusal(text=text):
                _log.warning("overridden_not_shown", lead=fact.lead.id, error=text)
            case None:
                pass
        _log.warning("owner_overridden", lead=fact.lead.id, user=fact.user_id)
    return frozenset(lead_id for lead_id, fault in faults.items() if isinstance(fault, LeadMoved))
