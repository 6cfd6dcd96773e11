"""Clearing: a lead that a person took is no longer held or failed, one that wants nothing no longer queued."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import structlog

from lead_router.core.model import Count, Decision, Skip, Snapshot, Status
from lead_router.errors import LeadRouterError, Transient
from lead_router.ports import LeadMoved, Mark, Org, Refusal

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Uncleared:
    """Ids of leads that were not cleared: those that were changed meanwhile, and those that refuse."""

    moved: frozenset[str] = frozenset()
    refused: frozenset[str] = frozenset()


OWNED = "already owned"  # the reason of a skip


def idle(snapshot: Snapshot, decisions: Iterable[Decision], taken: Collection[str] = ()) -> list[Mark]:
    """Leads that show Held or Queued, or Failed and are `taken`, though nothing more is wanted of them."""
    found: list[Mark] = []
    for decision in decisions:
        lead = snapshot.leads.get(decision.ask.lead_id)
        match decision:
            case Skip(queued=True, shows=shows) if lead is not None:
                found.append(Mark(lead, shows))
            case Skip(shows=Status() as shows) if lead is not None:
                found.append(Mark(lead, shows))
            case Skip(reason=reason) if lead is not None and reason == OWNED and (lead.held or lead.id in taken):
                found.append(Mark(lead, None))
            case Count() if lead is not None and (lead.held or lead.queued or lead.failed):
                found.append(Mark(lead, None))
            case _:
                pass
    return found


def clear(org: Org, leads: Sequence[Mark]) -> Uncleared:
    """Take text and status off them, or set it back, unless they were changed since they were read.

    What is refused is logged. Raises Transient, so that it is done again.
    """
    if not leads:
        return Uncleared()
    try:
        faults = org.mark(leads)
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
    moved = frozenset(lead_id for lead_id, fault in faults.items() if isinstance(fault, LeadMoved))
    return Uncleared(moved, frozenset(faults) - moved)
