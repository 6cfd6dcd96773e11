"""Leaving: what becomes of a lead that would be routed anew while re-routing is off or only observed."""

from __future__ import annotations

from lead_router.core import wording
from lead_router.core.choice import HOLD_RETRY_MAX_S, by_rule
from lead_router.core.model import Ask, Decision, Hold, Lead, Skip, Switch
from lead_router.core.reopening import Left
from lead_router.core.table import Case, Table, former_of, last_round


def left(table: Table, ask: Ask, lead: Lead, want: Left) -> Hold | Skip:
    """The lead stays where it is, and nothing is written to it.

    One that has an owner is settled, unless it shows Queued. One that waits keeps its job, so that it is seen among the
    held, no sweep brings it again, and it is routed once re-routing is live.
    """
    would = _would(table, ask, lead) if table.configuration.rollout.reroutes is Switch.OBSERVE else None
    reason = want.reason if would is None else f"{want.reason}. {wording.would(would)}"
    if not want.waits:
        return Skip(ask, reason)
    rule = would.rule if isinstance(would, Hold) else None
    return Hold(ask, lead, reason, HOLD_RETRY_MAX_S, rule=rule, shown=False)


def _would(table: Table, ask: Ask, lead: Lead) -> Decision:
    """What would be decided, without a turn taken."""
    before = dict(table.groups)
    would = by_rule(table, Case(ask, lead, last_round(table, lead) + 1, None, former_of(table, lead)))
    table.groups = before
    return would
