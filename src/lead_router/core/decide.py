"""Decide: who gets each lead, and why. The same snapshot and asks give the same decisions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lead_router.core import wording
from lead_router.core.batch import BATCH_MAX, batches
from lead_router.core.choice import HOLD_RETRY_MAX_S, HOLD_RETRY_S, WAIT_RETRY_S, by_rule
from lead_router.core.elders import elder_of, ended, line_up_elders
from lead_router.core.handing import next_for
from lead_router.core.keys import submission_of
from lead_router.core.leaving import left
from lead_router.core.model import (
    Ask,
    Assign,
    Configuration,
    Count,
    Decision,
    Follow,
    Hold,
    Lead,
    Observed,
    Skip,
    Snapshot,
    Submission,
    Switch,
)
from lead_router.core.overtaking import joins, line_up
from lead_router.core.reopening import (
    Early,
    Late,
    Left,
    Settled,
    Wanted,
    failed_for_nothing,
    given,
    keeps_its_mark,
    returned,
    settled_status,
    want_of,
)
from lead_router.core.siblings import Course, Lone, Trail, Wait, course, observed
from lead_router.core.table import Case, Table, age, former_of, laid, last_round, note_open_lead, routed_before
from lead_router.core.taken import taken

__all__ = ["BATCH_MAX", "HOLD_RETRY_MAX_S", "HOLD_RETRY_S", "UNSEEN_S", "WAIT_RETRY_S", "batches", "decide"]

WAIT_SHARE = 4  # a lead that waits for its first is asked again after a quarter of the time that it has waited
UNSEEN_S = 60.0  # a lead that cannot be read for so long after its event is gone


def decide(configuration: Configuration, snapshot: Snapshot, asks: Sequence[Ask]) -> list[Decision]:
    """One decision per ask, in the order of the asks; they are made oldest first, and each counts for the younger ones.

    A member goes to a newer lead only if no older lead that waits could take that member (`overtaking`).
    Raises Misconfigured where the configuration's rules cannot be used.
    """
    table = laid(configuration, snapshot)
    line_up(table, asks)
    line_up_elders(table, asks)
    made: dict[int, Decision] = {}
    for place in sorted(range(len(asks)), key=lambda place: age(asks[place])):
        decision = made[place] = _decision(table, asks[place])
        note_open_lead(table, decision)
        if isinstance(decision, Hold) and decision.group_id is not None:
            joins(table, decision.ask)
    return [made[place] for place in range(len(asks))]


def _decision(table: Table, ask: Ask) -> Decision:
    lead = table.snapshot.leads.get(ask.lead_id)
    if lead is None:
        return _unread(table, ask)
    want = want_of(table, ask, lead)
    match want:
        case Settled(reason=reason):
            return _count(table, ask, lead) or _settled(table, ask, lead, reason)
        case Left():
            return left(table, ask, lead, want)
        case Early(reason=reason, retry_s=retry_s):
            return Hold(ask, lead, reason, min(retry_s, HOLD_RETRY_MAX_S), shown=False)
        case Wanted() | Late():
            decision = _given_out(table, ask, lead, want)
            if isinstance(decision, Hold) and keeps_its_mark(table.configuration, lead):
                return replace(decision, shown=False)
            return decision


def _given_out(table: Table, ask: Ask, lead: Lead, want: Wanted | Late) -> Decision:
    if lead.id in table.seen:
        return Hold(ask, lead, "another job of this lead is being decided", WAIT_RETRY_S)
    table.seen.add(lead.id)
    if isinstance(want, Late):
        return next_for(table, ask, lead, want.running)
    last = last_round(table, lead)
    submission = None if routed_before(table, lead) else submission_of(lead.fields, table.configuration)
    notes = (want.note, *lead.notes) if want.note else lead.notes
    decision = _by_course(table, Case(ask, lead, last + 1, submission, former_of(table, lead), notes))
    _note_for_siblings(table, submission, decision)
    return decision


def _settled(table: Table, ask: Ask, lead: Lead, reason: str) -> Skip:
    back = returned(table, ask, lead)
    if lead.is_converted or not (lead.queued or lead.held or failed_for_nothing(table, ask, lead)):
        return Skip(ask, reason, returned=back)
    if lead.held and not given(table, ask, lead):
        return Skip(ask, reason, returned=back)
    return Skip(ask, reason, queued=lead.queued, shows=settled_status(table, lead), returned=back)


def _count(table: Table, ask: Ask, lead: Lead) -> Count | None:
    submission = submission_of(lead.fields, table.configuration)
    case = Case(ask, lead, 1, submission, former_of(table, lead))
    found = taken(table, case, _course(table, case))
    if found is not None:
        table.seen.add(lead.id)
        _note_for_siblings(table, submission, found)
    return found


def _unread(table: Table, ask: Ask) -> Hold | Skip:
    """A read may come a moment before the lead can be seen; without word of its end, only after a while is it gone."""
    if ask.lead_id in table.snapshot.gone:
        master = table.snapshot.gone[ask.lead_id]
        return Skip(ask, "deleted" if master is None else f"merged into {master}")
    if ask.waited_s < UNSEEN_S:
        return Hold(ask, None, "not to be read yet", WAIT_RETRY_S)
    return Skip(ask, "gone")


def _course(table: Table, case: Case) -> Course:
    found = course(case.ask, case.submission, table.siblings, elder_of(table, case))
    return observed(found) if table.configuration.rollout.duplicates is Switch.OBSERVE else found


def _by_course(table: Table, case: Case) -> Decision:
    found = _course(table, case)
    match found:
        case Trail(first_lead_id=first, owner_id=owner):
            return Follow(case.ask, case.lead, owner, case.round, first, wording.by_trail(first))
        case Wait(reason=reason):
            left = table.siblings.wait_s - case.ask.waited_s
            pause = max(WAIT_RETRY_S, case.ask.waited_s / WAIT_SHARE)
            return Hold(case.ask, case.lead, reason, min(pause, max(left, 1.0)))
        case Lone(keys_free=keys_free, note=note):
            note = note or (ended(table, case.lead) if case.submission is not None else "")
            if note or not keys_free:
                notes = (*case.notes, note) if note else case.notes
                case = replace(case, submission=case.submission if keys_free else None, notes=notes)
            return by_rule(table, case)


def _note_for_siblings(table: Table, submission: Submission | None, decision: Decision) -> None:
    """Leads of the same submission behind this one go where it goes; one that holds the keys comes before one held."""
    if submission is None:
        return
    for key in (submission.even, submission.odd):
        match decision:
            case Assign(submission=stored) | Count(submission=stored) if stored is not None:
                table.decided[key] = decision
            case Hold() | Observed():
                table.decided.setdefault(key, decision)
            case _:
                pass
