"""Choice: who gets a lead that wants an owner: by rule, turn, fallback, or nobody yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from lead_router.core import wording
from lead_router.core.duty import available_at, counted
from lead_router.core.eligible import Standing, duty_of, eligible_of
from lead_router.core.fallback import chain
from lead_router.core.ids import is_user
from lead_router.core.matched import Awaited, Found, Missed, away_of, matched_owner
from lead_router.core.model import (
    Assign,
    Decision,
    Group,
    Hold,
    Mode,
    Observed,
    Outcome,
    Rule,
    ToGroup,
    ToMatched,
    ToOwner,
    Turn,
)
from lead_router.core.overtaking import older_for
from lead_router.core.passed import kinds_of
from lead_router.core.rotation import take_turn
from lead_router.core.rules import matching
from lead_router.core.table import Case, Table, standings_of

HOLD_RETRY_S = 60.0  # for what a person must change: rules, modes, members
HOLD_RETRY_MAX_S = 900.0  # for what a clock ends: a change of the roster may end it sooner
WATCH_S = 60.0  # for what others may change without an event: owners of matching records, and whether they are active
WAIT_RETRY_S = 5.0  # for another lead that is about to get its owner


def by_rule(table: Table, case: Case) -> Decision:
    """The decision of the first rule that the lead meets and that does not fall through."""
    fell: tuple[str, ...] = ()
    for rule in matching(table.book, case.lead, table.snapshot.taken_at):
        told = replace(case, notes=(*case.notes, *fell)) if fell else case
        match rule.target:
            case ToOwner():
                return _by_owner(table, told, rule, rule.target)
            case ToGroup(group_id=group_id):
                group = table.groups.get(group_id)
                if group is None:
                    return _hold(told, f"rule '{rule.name}' chose a group that is gone", rule)
                return _by_mode(table, told, rule, group)
            case ToMatched():
                decision = _by_match(table, told, rule, rule.target)
                if not isinstance(decision, Missed):
                    return decision
                fell += (f"Rule '{rule.name}' fell through: {decision.reason}.",)
    return _hold(case, wording.joined("no rule takes it.", *fell) if fell else "no rule matches")


def _hold(case: Case, reason: str, rule: Rule | None = None, group_id: str | None = None) -> Hold:
    """The lead waits for what a person must change."""
    return Hold(case.ask, case.lead, reason, HOLD_RETRY_S, group_id=group_id, rule=rule)


def _by_owner(table: Table, case: Case, rule: Rule, target: ToOwner) -> Assign | Hold:
    named = f"rule '{rule.name}' names {target.name}"
    if target.owner_id in table.siblings.inactive:
        return _hold(case, f"{named}, whose user is not active", rule)
    if target.owner_id in table.configuration.intake_owners:
        return _hold(case, f"{named}, whose leads count as unassigned", rule)
    if is_user(target.owner_id) and target.owner_id in case.former.owners:
        return _hold(case, f"{named}, who had this lead before", rule)
    away = away_of(table, target.owner_id) if is_user(target.owner_id) else None
    said = wording.by_owner(rule, target.name, None if away is None else away.text)
    return _assign(case, target.owner_id, Outcome.ASSIGNED, rule, said)


def _by_match(table: Table, case: Case, rule: Rule, target: ToMatched) -> Assign | Hold | Missed:
    found = matched_owner(table, case, target)
    match found:
        case Found(match=match, passed=passed):
            return _assign(case, match.owner_id, Outcome.MATCHED, rule, wording.by_match(rule, match, passed))
        case Missed():
            return found
        case Awaited(reason=reason, until=until):
            said = f"rule '{rule.name}' waits for the owner of a matching record: {reason}"
            retry_s = min(_retry_s(table.moment.at, until), _watch_s(table.moment.at))
            return Hold(case.ask, case.lead, said, retry_s, until, rule=rule)


def _by_mode(table: Table, case: Case, rule: Rule, group: Group) -> Decision:
    match group.mode:
        case Mode.OFF:
            return _hold(case, f"group '{group.key}' is off", rule, group.id)
        case Mode.LIVE:
            return _by_chain(table, case, rule, group)
        case Mode.OBSERVE:
            before = dict(table.groups)
            would = _by_chain(table, case, rule, group)
            # Turns of other groups were only thought of, and nothing will be written of them.
            table.groups = before | {group.id: table.groups[group.id]}
            return Observed(case.ask, case.lead, group.id, would, HOLD_RETRY_S)


def _by_chain(table: Table, case: Case, rule: Rule, group: Group) -> Assign | Hold:
    """A turn of the group or, where nobody of it can take the lead, of the first fallback group where somebody can."""
    nobody: list[str] = []
    seen: list[tuple[Group, tuple[Standing, ...]]] = []
    for one in chain(group, table.groups):
        if one is not group and one.mode is not Mode.LIVE:
            nobody.append(f"fallback group '{one.key}' is not live")
            continue
        found = standings_of(table, one, case.lead, case.former)
        seen.append((one, found))
        turn = take_turn(one, duty_of(found), eligible_of(found))
        if turn is not None:
            told = tuple(nobody)
            behind = _behind(table, case, rule, group, turn)
            return behind or _noted(_by_turn(table, case, rule, group, turn, found, told), seen)
        nobody.append(wording.nobody_of(one, found, named=one is not group))
    resort = _last_resort(table, case, rule, group, nobody)
    return _wait(table, case, rule, group, nobody, seen) if resort is None else _noted(resort, seen)


def _noted(made: Assign, seen: Sequence[tuple[Group, tuple[Standing, ...]]]) -> Assign:
    return replace(made, passed_over=kinds_of(one for _, found in seen for one in found))


def _behind(table: Table, case: Case, rule: Rule, group: Group, turn: Turn) -> Hold | None:
    if group.mode is Mode.OBSERVE:
        return None
    older = older_for(table, case, turn)
    if older is None:
        return None
    reason = f"waits behind an older lead that {turn.member.name} of group '{turn.group.key}' could take"
    return Hold(case.ask, case.lead, reason, WAIT_RETRY_S, group_id=group.id, behind=older.lead_id, rule=rule)


def _by_turn(
    table: Table,
    case: Case,
    rule: Rule,
    group: Group,
    turn: Turn,
    found: Sequence[Standing],
    nobody: Sequence[str],
) -> Assign:
    turn = counted(turn, table.moment.at)
    table.groups[turn.group.id] = turn.group
    owner = turn.member.user_id
    had = wording.again(turn.member, case.former)
    if turn.group.id == group.id:
        said = wording.joined(wording.by_turn(rule, turn, found), had)
        return _assign(case, owner, Outcome.ASSIGNED, rule, said, turn.group, turn)
    said = wording.joined(wording.by_fallback_turn(rule, group, nobody, turn, found), had)
    return _assign(case, owner, Outcome.FALLBACK, rule, said, turn.group, turn)


def _last_resort(table: Table, case: Case, rule: Rule, group: Group, nobody: list[str]) -> Assign | None:
    """The first fallback queue of the chain, else the first manager; one that solves nothing is told in `nobody`."""
    groups = chain(group, table.groups)
    for one in groups:
        if one.fallback_queue:
            queue = table.configuration.queues.get(one.fallback_queue)
            if queue is None:
                nobody.append(f"its fallback queue {one.fallback_queue} does not exist")
            elif queue in table.snapshot.unfit:
                nobody.append(f"its fallback queue {one.fallback_queue} takes no leads")
            elif queue in table.configuration.intake_owners:
                nobody.append(f"the lead waits in {one.fallback_queue}, whose leads count as unassigned")
            else:
                said = wording.by_fallback(rule, group, nobody, f"Fallback queue {one.fallback_queue}")
                return _assign(case, queue, Outcome.FALLBACK, rule, said, group)
    for one in groups:
        if one.manager_id is None:
            continue
        if not one.manager_active or one.manager_id in table.siblings.inactive:
            nobody.append(f"the manager of group '{one.key}' is not active")
        elif one.manager_id in case.former.owners or one.manager_id in table.configuration.intake_owners:
            nobody.append(f"the manager of group '{one.key}' had this lead before")
        else:
            said = wording.by_fallback(rule, group, nobody, f"The manager of group '{one.key}'")
            return _assign(case, one.manager_id, Outcome.FALLBACK, rule, said, group)
    return None


def _wait(
    table: Table,
    case: Case,
    rule: Rule,
    group: Group,
    nobody: Sequence[str],
    seen: Sequence[tuple[Group, tuple[Standing, ...]]],
) -> Hold:
    """Until the first instant at which a member that may have this lead is on duty; open leads may be fewer sooner."""
    able = [(one, where) for where, found in seen for one in found if one.refusal is None and one.off is not None]
    times = [available_at(one.member, where, table.moment) for one, where in able]
    until = min((time for time in times if time is not None), default=None)
    by_count = any(one.off is not None and one.off.until is None and not one.off.lasting for one, _ in able)
    retry_s = _retry_s(table.moment.at, None if by_count else until)
    reason = f"group '{group.key}': {'; '.join(nobody)}"
    return Hold(case.ask, case.lead, reason, retry_s, until, group.id, rule=rule)


def _retry_s(at: datetime, until: datetime | None) -> float:
    return HOLD_RETRY_S if until is None else min(max((until - at) / timedelta(seconds=1), 1.0), HOLD_RETRY_MAX_S)


def _watch_s(at: datetime) -> float:
    """To the half minute after the next one: leads that came one by one are then looked at together, by one read."""
    half = WATCH_S / 2
    return WATCH_S - at.timestamp() % half


def _assign(
    case: Case,
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
        explanation=wording.joined(*case.notes, explanation),
    )
