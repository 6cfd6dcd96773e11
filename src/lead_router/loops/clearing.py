"""Clearing: a lead that a person took is no longer held or failed, one that wants nothing no longer queued."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import structlog

from lead_router.core.model import Count, Decision, Skip, Snapshot
from lead_router.errors import LeadRouterError, Transient
from lead_router.ports import Idle, LeadMoved, Org, Refusal

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Uncleared:
    """Ids of leads that were not cleared: those that were changed meanwhile, and those that refuse."""

    moved: frozenset[str] = frozenset()
    refused: frozenset[str] = frozenset()


OWNED = "already owned"  # the reason of a skip


def idle(snapshot: Snapshot, decisions: Iterable[Decision], taken: Collection[str] = ()) -> list[Idle]:
    """Leads that show Held or Queued, or Failed and are `taken`, though nothing more is wanted of them."""
    found: list[Idle] = []
    for decision in decisions:
        lead = snapshot.leads.get(decision.ask.lead_id)
        match decision:
            case Skip(queued=True, shows=shows) if lead is not None:
                found.append(Idle(lead, shows))
            case Skip(reason=reason) if lead is not None and reason == OWNED and (lead.held or lead.id in taken):
                found.append(Idle(lead))
            case Count() if lead is not None and (lead.held or lead.queued or lead.failed):
                found.append(Idle(lead))
            case _:
                pass
    return found


def clear(org: Org, leads: Sequence[Idle]) -> Uncleared:
    """Take status and text off them, unless they were changed since they were read.

    What is refused is logged. Raises Transient, so that it is done again.
    """
    if not leads:
        return Uncleared()
    try:
        faults = {fault.lead_id: fault for fault in org.clear(leads)}
    except Transient:
        raise
    except LeadRouterError as fault:
        _log.warning("leads_not_cleared", leads=len(leads), error=str(fault))
        return Uncleared(refused=frozenset(one.lead.id for one in leads))
    for lead in (one.lead for one in leads):
        match faults.get(lead.id):
            case None:
                _log.info("lead_cleared", lead=lead.id, owner=lead.owner_id)
            case Refusal(text=text):
                _log.warning("lead_not_cleared", lead=lead.id, error=text)
            case LeadMoved():
                _log.info("lead_not_cleared", lead=lead.id, error="it was changed meanwhile")
    moved = frozenset(lead_id for lead_id, fault in faults.items() if lead_id and isinstance(fault, LeadMoved))
    return Uncleared(moved, frozenset(lead_id for lead_id in faults if lead_id) - moved)
