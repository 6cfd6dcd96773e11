"""Taking: a person gives somebody a lead whose job died, and which no event would otherwise have the router look at."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from lead_router.core.ids import is_user
from lead_router.core.model import Configuration, Lead, Snapshot
from lead_router.loops.overriding import GIVEN_BY, given_by
from lead_router.ports import Change, Job

AFTER_DEATH: Final = "after_death"  # the payload's word for a job that is there because an earlier one of its lead died

_OURS = "routing_"  # begins the names of the fields that routing alone writes


def may_be_taken(change: Change, configuration: Configuration) -> bool:
    """Whether somebody may have given the lead to a user by this change.

    Not where the same save wrote routing fields: that is the router inside, which has taken the status off itself, or
    has given the lead to those who are to see it.
    """
    if any(name.lower().startswith(_OURS) for name in (*change.changed_fields, *change.fields)):
        return False
    return change.change_type == "GAP_UPDATE" or given_by(change, configuration) is not None


def taken(snapshot: Snapshot, jobs: Iterable[Job]) -> frozenset[str]:
    """Ids of leads that showed Failed, as this router left them, until a person gave them to a user."""
    leads = ((snapshot.leads.get(job.lead_id), job) for job in jobs if job.payload.get(AFTER_DEATH))
    return frozenset(lead.id for lead, job in leads if lead is not None and _taken(snapshot, lead, job))


def _taken(snapshot: Snapshot, lead: Lead, job: Job) -> bool:
    if not lead.failed or not is_user(lead.owner_id):
        return False
    return GIVEN_BY in job.payload or not _kept(snapshot, lead)


def _kept(snapshot: Snapshot, lead: Lead) -> bool:
    """Whether it has the owner that its last routing gave it: an event that tells no fields may be of any edit."""
    rows = [row for row in snapshot.ledger if row.lead_id == lead.id]
    return bool(rows) and max(rows, key=lambda row: row.round).assigned_to == lead.owner_id
