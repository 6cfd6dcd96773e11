"""Explain: the whole decision about one lead, rule by rule and member by member, as a value to be shown."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from lead_router.core import wording
from lead_router.core.decide import decide
from lead_router.core.duty import available_at
from lead_router.core.eligible import Standing, in_turn
from lead_router.core.fallback import chain
from lead_router.core.matched import reason_against
from lead_router.core.model import (
    Ask,
    Assign,
    Configuration,
    Count,
    Decision,
    Follow,
    Group,
    Hold,
    Lead,
    Match,
    Mode,
    Observed,
    Rule,
    Skip,
    Snapshot,
    ToGroup,
)
from lead_router.core.reopening import Wanted, want_of
from lead_router.core.table import Table, former_of, laid, standings_of


@dataclass(frozen=True, slots=True)
class RuleAccount:
    """A rule before the lead: whether its criteria are met, and whether it was the one that decided."""

    rule: Rule
    met: bool
    decided: bool


@dataclass(frozen=True, slots=True)
class MatchAccount:
    """A record that matches the lead, and why its owner may not have the lead (None: may have it)."""

    match: Match
    reason: str | None


@dataclass(frozen=True, slots=True)
class MemberAccount:
    """A member before the lead: why not (`reason` None: may have it), on duty again when, and whether picked."""

    member_id: str
    user_id: str
    name: str
    reason: str | None
    available_at: datetime | None
    picked: bool


@dataclass(frozen=True, slots=True)
class GroupAccount:
    """A group that was asked, its members in the order in which their turns would come."""

    group_id: str
    key: str
    mode: Mode
    next_turn: int
    members: tuple[MemberAccount, ...]


@dataclass(frozen=True, slots=True)
class Account:
    """One lead's whole decision, as it would fall now.

    `settled` says why nothing is to be done, None where the lead wants an owner; rules and groups are told all the
    same, as though the lead had just come in. `former` are the users that had it before, and may not have it again.
    """

    at: datetime
    lead_id: str
    settled: str | None
    former: frozenset[str]
    rules: tuple[RuleAccount, ...]
    matches: tuple[MatchAccount, ...]
    groups: tuple[GroupAccount, ...]
    decision: Decision


def explain(configuration: Configuration, snapshot: Snapshot, ask: Ask) -> Account | None:
    """The decision about the ask's lead with everything that led to it; None where the lead is not in the snapshot.

    Raises Misconfigured where the configuration cannot be used.
    """
    lead = snapshot.leads.get(ask.lead_id)
    if lead is None:
        return None
    want = want_of(laid(configuration, snapshot), ask, lead)
    (decision,) = decide(configuration, snapshot, [ask])
    seen, asked, told = snapshot, ask, decision
    settled = None if isinstance(want, Wanted) or isinstance(decision, Count) else want.reason
    if settled is not None:
        seen, asked = _as_new(configuration, snapshot, lead), replace(ask, idempotency_key="")
        (told,) = decide(configuration, seen, [asked])
    table = laid(configuration, seen)
    former = former_of(table, lead)
    rule, owner = _rule_and_owner(told)
    return Account(
        at=snapshot.taken_at,
        lead_id=lead.id,
        settled=settled,
        former=former.owners,
        rules=_rules(table, lead, rule),
        matches=tuple(
            MatchAccount(one, reason_against(table, former, one)) for one in snapshot.matches.get(lead.id, ())
        ),
        groups=tuple(_group(table, seen.leads[lead.id], group, owner) for group in _asked(table, rule)),
        decision=decision,
    )


def _as_new(configuration: Configuration, snapshot: Snapshot, lead: Lead) -> Snapshot:
    """The snapshot as it would be had the lead just come in."""
    intake = min(configuration.intake_owners, default=lead.owner_id)
    status = min(configuration.intake_statuses, default=lead.status)
    new = replace(lead, owner_id=intake, status=status, round=0, stamp=None, is_converted=False)
    ledger = tuple(row for row in snapshot.ledger if row.lead_id != lead.id)
    return replace(snapshot, leads={**snapshot.leads, lead.id: new}, ledger=ledger)


def _rule_and_owner(decision: Decision) -> tuple[Rule | None, str | None]:
    match decision:
        case Assign(rule=rule, owner_id=owner) | Count(rule=rule, owner_id=owner):
            return rule, owner
        case Hold(rule=rule):
            return rule, None
        case Observed(would=would):
            return _rule_and_owner(would)
        case Follow(owner_id=owner):
            return None, owner
        case Skip():
            return None, None


def _rules(table: Table, lead: Lead, decided: Rule | None) -> tuple[RuleAccount, ...]:
    at = table.moment.at
    return tuple(
        RuleAccount(one.rule, one.criteria.matches(lead.fields, at), one.rule == decided) for one in table.book.rules
    )


def _asked(table: Table, rule: Rule | None) -> tuple[Group, ...]:
    """The group that the rule chose and those it falls back on."""
    chosen = table.groups.get(rule.target.group_id) if rule and isinstance(rule.target, ToGroup) else None
    return () if chosen is None else chain(chosen, table.groups)


def _group(table: Table, lead: Lead, group: Group, owner: str | None) -> GroupAccount:
    found = standings_of(table, group, lead, former_of(table, lead))
    members = tuple(_member(table, group, one, owner) for one in in_turn(group, found))
    return GroupAccount(group.id, group.key, group.mode, group.turn + 1, members)


def _member(table: Table, group: Group, one: Standing, owner: str | None) -> MemberAccount:
    return MemberAccount(
        member_id=one.member.id,
        user_id=one.member.user_id,
        name=one.member.name,
        reason=wording.reason_of(one),
        available_at=available_at(one.member, group, table.moment) if one.refusal is None else None,
        picked=one.member.user_id == owner,
    )
