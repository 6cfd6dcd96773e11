"""Explain: the whole decision about one lead, rule by rule and member by member, as a value to be shown."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from lead_router.core import wording
from lead_router.core.anew import as_new
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
    Switch,
    ToGroup,
)
from lead_router.core.reopening import Late, Left, Wanted, want_of
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
    name: str
    mode: Mode
    next_turn: int
    members: tuple[MemberAccount, ...]


@dataclass(frozen=True, slots=True)
class Account:
    """One lead's whole decision, as it would fall now.

    `settled` says why nothing is to be done, None where the lead wants an owner; rules and groups are told all the
    same, on the condition `provided`, under which `would` is decided (None: as `decision`). `former` are the users that
    had it before, and may not have it again; `notes` are what hops say of it: its score, and what was enriched.
    """

    at: datetime
    lead_id: str
    settled: str | None
    former: frozenset[str]
    rules: tuple[RuleAccount, ...]
    matches: tuple[MatchAccount, ...]
    groups: tuple[GroupAccount, ...]
    decision: Decision
    provided: str = ""
    notes: tuple[str, ...] = ()
    would: Decision | None = None


HAD_JUST_COME_IN = "had it just come in"
WERE_REROUTES_LIVE = "were re-routing live"


def explain(configuration: Configuration, snapshot: Snapshot, ask: Ask) -> Account | None:
    """The decision about the ask's lead with everything that led to it; None where the lead is not in the snapshot.

    Raises Misconfigured where the configuration cannot be used.
    """
    lead = snapshot.leads.get(ask.lead_id)
    if lead is None:
        return None
    want = want_of(laid(configuration, snapshot), ask, lead)
    (decision,) = decide(configuration, snapshot, [ask])
    seen, told, provided = snapshot, decision, ""
    settled = None if isinstance(want, Wanted | Late) or isinstance(decision, Count) else want.reason
    if isinstance(want, Left):
        live = replace(configuration, rollout=replace(configuration.rollout, reroutes=Switch.LIVE))
        (told,), provided = decide(live, snapshot, [ask]), WERE_REROUTES_LIVE
    elif settled is not None:
        seen, provided = as_new(configuration, snapshot, [lead.id]), HAD_JUST_COME_IN
        (told,) = decide(configuration, seen, [replace(ask, idempotency_key="")])
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
        provided=provided,
        notes=lead.notes,
        would=told if provided else None,
    )


def told_of(account: Account) -> Decision:
    """The decision that rules and groups of the account are about."""
    return account.would or account.decision


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
        RuleAccount(one.rule, one.criteria.matches(lead.seen, at), one.rule == decided) for one in table.book.rules
    )


def _asked(table: Table, rule: Rule | None) -> tuple[Group, ...]:
    """The group that the rule chose and those it falls back on."""
    chosen = table.groups.get(rule.target.group_id) if rule and isinstance(rule.target, ToGroup) else None
    return () if chosen is None else chain(chosen, table.groups)


def _group(table: Table, lead: Lead, group: Group, owner: str | None) -> GroupAccount:
    found = standings_of(table, group, lead, former_of(table, lead))
    members = tuple(_member(table, group, one, owner) for one in in_turn(group, found))
    return GroupAccount(group.id, group.key, group.name, group.mode, group.turn + 1, members)


def _member(table: Table, group: Group, one: Standing, owner: str | None) -> MemberAccount:
    return MemberAccount(
        member_id=one.member.id,
        user_id=one.member.user_id,
        name=one.member.name,
        reason=wording.reason_of(one),
        available_at=available_at(one.member, group, table.moment) if one.refusal is None else None,
        picked=one.member.user_id == owner,
    )
