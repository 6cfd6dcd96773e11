"""Marking: a lead shows that it is held, or that its job died, unless somebody changed it since it was read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TypeAlias

import structlog

from lead_router.core.model import Configuration, Lead, Snapshot, Status
from lead_router.core.reopening import failed_text
from lead_router.core.rules import is_unassigned, rulebook
from lead_router.errors import LeadRouterError
from lead_router.ports import MARKS_MAX, LeadMoved, Mark, Org, Refusal

_log = structlog.get_logger(__name__)

Still: TypeAlias = Callable[[Sequence[Mark]], Sequence[Mark]]

TRIES = 5  # a lead that is changed again and again keeps what it shows
FRESH = timedelta(seconds=5)  # by Salesforce's clock and ours; more than the two are apart
SECOND_S = 1.0  # two changes within one are the same to Salesforce's condition


class Sight:
    """The leads of one claim, each as it was last read; `fresh` are those changed so shortly before that a later change
    might bear the same second.
    """

    def __init__(self) -> None:
        self.leads: dict[str, Lead] = {}
        self.fresh: set[str] = set()

    def note(self, snapshot: Snapshot) -> None:
        """These are newer."""
        for lead in snapshot.leads.values():
            self.leads[lead.id] = lead
            quiet = lead.changed_at is not None and lead.changed_at <= snapshot.taken_at - FRESH
            (self.fresh.discard if quiet else self.fresh.add)(lead.id)


def mark(org: Org, marks: Sequence[Mark], still: Still) -> frozenset[str]:
    """Show them, as far as they are `still` to be shown, which is asked before each call, as each may last.

    Answers those leads that were changed meanwhile. What is refused is logged and changes nothing else.
    """
    faults: dict[str, LeadMoved | Refusal] = {}
    for place in range(0, len(marks), MARKS_MAX):
        few = still(marks[place : place + MARKS_MAX])
        try:
            faults |= org.mark(few) if few else {}
        except LeadRouterError as fault:
            _log.warning("leads_not_marked", leads=len(marks) - place, error=str(fault))
            break
    tell(faults)
    return frozenset(lead_id for lead_id, fault in faults.items() if isinstance(fault, LeadMoved))


def fail(
    org: Org,
    configuration: Configuration,
    sight: Sight,
    texts: Mapping[str, str],
    still: Still,
    *,
    now: Callable[[], datetime],
    pause: Callable[[float], None],
) -> None:
    """Show Failed, with its text by lead id, on leads whose jobs are dead; what is refused is logged.

    Nobody looks at them again before a sweep does: one that was changed, or may be within the same second, is read anew
    here, a second later, until it is as it was a second before. One that was given out or taken is left alone.
    """
    left = dict(texts)
    seen = {one: sight.leads[one] for one in left if one in sight.leads}
    sure = {one: lead for one, lead in seen.items() if one not in sight.fresh}
    for more in reversed(range(TRIES)):
        unsure = sorted(left.keys() - sure.keys())
        if unsure:
            pause(SECOND_S)
            found = _anew(org, configuration, sight, unsure, now)
            left = {one: text for one, text in left.items() if one in sure or one in found}
            sure |= {one: lead for one, lead in found.items() if not more or _rested(seen.get(one), lead)}
            seen |= found
        shown = sorted(left.keys() & sure.keys())
        marks = [Mark(sure[one], Status.FAILED, failed_text(sure[one], left[one])) for one in shown]
        moved = mark(org, marks, still)
        left, sure = {one: text for one, text in left.items() if one in moved or one not in sure}, {}
        if not left:
            return


def _rested(before: Lead | None, lead: Lead) -> bool:
    """Whether nobody changed it for a second, so that whoever changes it after this read does so in a later one."""
    return before is not None and before.changed_at == lead.changed_at


def _anew(
    org: Org, configuration: Configuration, sight: Sight, lead_ids: Sequence[str], now: Callable[[], datetime]
) -> dict[str, Lead]:
    """Those that are still to be marked; as they were read before, where they cannot be read."""
    try:
        found = org.leads(configuration, lead_ids)
    except Exception as fault:  # noqa: BLE001 - a lead that the program fails on reading is here for that very reason
        error = str(fault) if isinstance(fault, LeadRouterError) else type(fault).__name__
        _log.warning("leads_not_read_anew", leads=len(lead_ids), error=error)
        return {one: sight.leads[one] for one in lead_ids if one in sight.leads}
    kept = {one.id: one for one in found.values() if _waits(configuration, sight.leads.get(one.id), one, now())}
    for lead_id in lead_ids:
        if lead_id not in kept:
            _log.info("lead_not_marked", lead=lead_id, error="it was given out, taken or deleted meanwhile")
    return kept


def _waits(configuration: Configuration, before: Lead | None, lead: Lead, at: datetime) -> bool:
    """Whether nobody gave the lead out since it was read; or, where it was not, whether it waits for an owner."""
    if before is None:
        return is_unassigned(rulebook(configuration), lead, at, routed_before=lead.round > 0)
    return (lead.owner_id, lead.round) == (before.owner_id, before.round)


def tell(faults: Mapping[str, LeadMoved | Refusal]) -> None:
    """Log which leads were not marked."""
    for lead_id, fault in faults.items():
        match fault:
            case Refusal(text=text):
                _log.warning("lead_not_marked", lead=lead_id, error=text)
            case LeadMoved():
                _log.info("lead_not_marked", lead=lead_id, error="it was changed meanwhile")
