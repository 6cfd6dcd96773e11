"""Decide: who gets each lead, and why. The same snapshot and asks give the same decisions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from lead_router.core import explain
from lead_router.core.batch import BATCH_MAX, batches
from lead_router.core.duty import on_duty
from lead_router.core.keys import submission_of
from lead_router.core.model import (
    Ask,
    Assign,
    Configuration,
    Decision,
    Follow,
    Group,
    Hold,
    Lead,
    Mode,
    Outcome,
    Rule,
    Skip,
    Snapshot,
    Submission,
    ToGroup,
    ToOwner,
    Turn,
)
from lead_router.core.rotation import take_turn
from lead_router.core.rules import Rulebook, first_match, is_unassigned, rulebook
from lead_router.core.siblings import Course, Lone, Siblings, Trail, Wait, course, rows_by_key

__all__ = ["BATCH_MAX", "HOLD_RETRY_S", "UNSEEN_S", "WAIT_RETRY_S", "batches", "decide"]

HOLD_RETRY_S = 60.0  # for what a person must change: rules, modes, members
UNSEEN_S = 60.0  # a lead that cannot be read for so long after its event is gone
WAIT_RETRY_S = 5.0  # for a sibling that is about to get its owner


@dataclass(slots=True)
class _Table:
    """What one round of decisions looks at and how far it has come: groups move on with each turn."""

    configuration: Configuration
    book: Rulebook
    snapshot: Snapshot
    groups: dict[str, Group]
    rounds: dict[str, int]
    routed: frozenset[str]
    siblings: Siblings
    decided: dict[str, Decision]
    seen: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _Case:
    """One lead to be given out: its round, its submission keys (to be stored, if free), and a note for the ledger."""

    ask: Ask
    lead: Lead
    round: int
    submission: Submission | None
    note: str = ""


def decide(configuration: Configuration, snapshot: Snapshot, asks: Sequence[Ask]) -> list[Decision]:
    """One decision per ask, in their order; each turn given counts for the asks behind it.

    Raises Misconfigured where the configuration's rules cannot be used.
    """
    table = _table(configuration, snapshot)
    return [_decision(table, ask) for ask in asks]


def _table(configuration: Configuration, snapshot: Snapshot) -> _Table:
    book = rulebook(configuration)
    rounds: dict[str, int] = {}
    for row in snapshot.ledger:
        if row.lead_id is not None:
            rounds[row.lead_id] = max(row.round, rounds.get(row.lead_id, 0))
    members = [member for group in snapshot.groups.values() for member in group.members]
    inactive = frozenset(member.user_id for member in members if not member.user_active)
    decided: dict[str, Decision] = {}
    return _Table(
        configuration=configuration,
        book=book,
        snapshot=snapshot,
        groups=dict(snapshot.groups),
        rounds=rounds,
        routed=frozenset(row.idempotency_key for row in snapshot.ledger),
        siblings=Siblings(
            rows=rows_by_key(snapshot.ledger),
            decided=decided,
            intake_owners=configuration.intake_owners,
            inactive=inactive | snapshot.unfit,
            wait_s=configuration.follow_wait_s,
        ),
        decided=decided,
    )


def _decision(table: _Table, ask: Ask) -> Decision:
    lead = table.snapshot.leads.get(ask.lead_id)
    if lead is None:
        return _unread(ask)
    if lead.is_converted:
        return Skip(ask, "converted")
    if ask.idempotency_key in table.routed:
        return Skip(ask, "already routed")
    last_round = max(lead.round, table.rounds.get(lead.id, 0))
    routed_before = (table.rounds.get(lead.id, 0) if _is_copy(lead) else last_round) > 0
    if not is_unassigned(table.book, lead, table.snapshot.taken_at, routed_before=routed_before):
        return Skip(ask, "already owned")
    if lead.id in table.seen:
        return Hold(ask, lead, "another job of this lead is being decided", WAIT_RETRY_S)
    table.seen.add(lead.id)
    submission = None if routed_before else submission_of(lead.fields, table.configuration)
    decision = _by_course(table, _Case(ask, lead, last_round + 1, submission))
    _note_for_siblings(table, submission, decision)
    return decision


def _is_copy(lead: Lead) -> bool:
    """Whether the routing fields are another lead's: cloning a lead copies them, stamp and all."""
    return lead.stamp is not None and lead.id not in lead.stamp


def _unread(ask: Ask) -> Hold | Skip:
    """A read may come a moment before the lead can be seen; only after a while is it gone."""
    if ask.waited_s < UNSEEN_S:
        return Hold(ask, None, "not to be read yet", WAIT_RETRY_S)
    return Skip(ask, "gone")


def _by_course(table: _Table, case: _Case) -> Decision:
    found: Course = course(case.ask, case.submission, table.siblings)
    match found:
        case Trail(first_lead_id=first, owner_id=owner):
            return Follow(case.ask, case.lead, owner, case.round, first, explain.by_trail(first))
        case Wait(reason=reason):
            left = table.siblings.wait_s - case.ask.waited_s
            return Hold(case.ask, case.lead, reason, min(WAIT_RETRY_S, max(left, 1.0)))
        case Lone(keys_free=keys_free, note=note):
            submission = case.submission if keys_free else None
            return _by_rule(table, _Case(case.ask, case.lead, case.round, submission, note))


def _by_rule(table: _Table, case: _Case) -> Decision:
    rule = first_match(table.book, case.lead, table.snapshot.taken_at)
    if rule is None:
        return _hold(case, "no rule matches")
    match rule.target:
        case ToOwner(owner_id=owner, name=name):
            if owner in table.siblings.inactive:
                return _hold(case, f"rule '{rule.name}' names {name}, whose user is not active")
            if owner in table.configuration.intake_owners:
                return _hold(case, f"rule '{rule.name}' names {name}, whose leads count as unassigned")
            return _assign(case, owner, Outcome.ASSIGNED, rule, explain.by_owner(rule, name, case.note))
        case ToGroup(group_id=group_id):
            group = table.groups.get(group_id)
            if group is None:
                return _hold(case, f"rule '{rule.name}' chose a group that is gone")
            return _by_group(table, case, rule, group)


def _by_group(table: _Table, case: _Case, rule: Rule, group: Group) -> Decision:
    if group.mode is Mode.OFF:
        return _hold(case, f"group '{group.key}' is off")
    duty = on_duty(group)
    turn = take_turn(group, duty, duty)
    if turn is None:
        return _by_fallback(table, case, rule, group)
    table.groups[group.id] = turn.group
    if group.mode is Mode.OBSERVE:
        would = f"turn {turn.number} would have gone to {turn.member.name}"
        return _hold(case, f"group '{group.key}' only observes; by rule '{rule.name}' {would}")
    said = explain.by_turn(rule, turn, case.note)
    return _assign(case, turn.member.user_id, Outcome.ASSIGNED, rule, said, group, turn)


def _by_fallback(table: _Table, case: _Case, rule: Rule, group: Group) -> Decision:
    said = f"group '{group.key}': {explain.nobody(group)}"
    if group.mode is Mode.OBSERVE or not group.fallback_queue:
        return _hold(case, said)
    queue = table.configuration.queues.get(group.fallback_queue)
    if queue is None:
        return _hold(case, f"{said}; its fallback queue {group.fallback_queue} does not exist")
    if queue in table.snapshot.unfit:
        return _hold(case, f"{said}; its fallback queue {group.fallback_queue} takes no leads")
    if queue in table.configuration.intake_owners:
        return _hold(case, f"{said}; the lead waits in {group.fallback_queue}, whose leads count as unassigned")
    return _assign(case, queue, Outcome.FALLBACK, rule, explain.by_fallback(rule, group, case.note), group)


def _assign(
    case: _Case,
    owner_id: str,
    outcome: Outcome,
    rule: Rule,
    explanation: str,
    group: Group | None = None,
    turn: Turn | None = None,
) -> Assign:
    return Assign(
        ask=case.ask,
        lead=case.lead,
        owner_id=owner_id,
        round=case.round,
        outcome=outcome,
        rule=rule,
        group_id=None if group is None else group.id,
        turn=turn,
        submission=case.submission,
        explanation=explanation,
    )


def _hold(case: _Case, reason: str) -> Hold:
    return Hold(case.ask, case.lead, reason, HOLD_RETRY_S)


def _note_for_siblings(table: _Table, submission: Submission | None, decision: Decision) -> None:
    """Leads of the same submission behind this one go where it goes; one that holds the keys comes before one held."""
    if submission is None:
        return
    for key in (submission.even, submission.odd):
        match decision:
            case Assign(submission=stored) if stored is not None:
                table.decided[key] = decision
            case Hold():
                table.decided.setdefault(key, decision)
            case _:
                pass
