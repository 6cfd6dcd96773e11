"""Clearing: a held lead that a person took is no longer held, and should not say so."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import structlog

from lead_router.core.model import Count, Decision, Lead, Skip, Snapshot
from lead_router.errors import LeadRouterError, Transient
from lead_router.ports import LeadMoved, Org, Refusal

_log = structlog.get_logger(__name__)

OWNED = "already owned"  # the reason of a skip


def taken(snapshot: Snapshot, decisions: Iterable[Decision]) -> list[Lead]:
    """Leads that show that they are held, though they have an owner of whom nothing more is wanted."""
    leads: list[Lead] = []
    for decision in decisions:
        if isinstance(decision, Count) or (isinstance(decision, Skip) and decision.reason == OWNED):
            lead = snapshot.leads.get(decision.ask.lead_id)
            if lead is not None and lead.held:
                leads.append(lead)
    return leads


def clear(org: Org, leads: Sequence[Lead]) -> frozenset[str]:
    """Take status and text off them, unless they were changed since they were read: the ids of those are answered.

    What is refused otherwise is logged and left. Raises Transient, so that it is done again.
    """
    if not leads:
        return frozenset()
    try:
        faults = {fault.lead_id: fault for fault in org.clear(leads)}
    except Transient:
        raise
    except LeadRouterError as fault:
        _log.warning("leads_not_cleared", leads=len(leads), error=str(fault))
        return frozenset()
    for lead in leads:
        match faults.get(lead.id):
            case None:
                _log.info("lead_cleared", lead=lead.id, owner=lead.owner_id)
            case Refusal(text=text):
                _log.warning("lead_not_cleared", lead=lead.id, error=text)
            case LeadMoved():
                _log.info("lead_not_cleared", lead=lead.id, error="it was changed meanwhile")
    return frozenset(lead_id for lead_id, fault in faults.items() if lead_id and isinstance(fault, LeadMoved))
