"""Handing on: who gets a lead that its owner let lie: the next member of its group, else the group's manager."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lead_router.core import wording
from lead_router.core.choice import WAIT_RETRY_S
from lead_router.core.duty import counted
from lead_router.core.eligible import Standing, duty_of, eligible_of
from lead_router.core.model import Ask, Assign, Group, Hold, Lead, Outcome, Skip
from lead_router.core.overtaking import older_for
from lead_router.core.passed import kinds_of
from lead_router.core.rotation import take_turn
from lead_router.core.table import Case, Table, former_of, last_round, standings_of
from lead_router.core.terms import Running, handed_on


def next_for(table: Table, ask: Ask, lead: Lead, late: Running) -> Assign | Hold | Skip:
    """Whoever comes next and never had it; the manager where nobody may, or as many in a row had it as may.

    It stays with its owner where there is no manager to give it to. The group is the one that gave it out, whatever the
    rules say by now.
    """
    rows = table.rows.get(lead.id, ())
    group = table.groups.get(late.group.id, late.group)
    case = Case(ask, lead, last_round(table, lead) + 1, None, former_of(table, lead))
    times, most = handed_on(rows), group.accept_chain
    if times >= (table.configuration.first_touch.reroutes if most is None else most):
        why = "it was routed anew " + ("once" if times == 1 else f"{times} times") if times else "it is not routed anew"
        return _at_last(table, case, late, why)
    found = _strict(table, case, group)
    turn = take_turn(group, duty_of(found), eligible_of(found))
    if turn is None:
        return _noted(_at_last(table, case, late, wording.nobody_of(group, found)), found)
    older = older_for(table, case, turn)
    if older is not None:
        reason = f"waits behind an older lead that {turn.member.name} of group '{group.key}' could take"
        return Hold(ask, lead, reason, WAIT_RETRY_S, behind=older.lead_id, shown=False)
    turn = counted(turn, table.moment.at)
    table.groups[group.id] = turn.group
    passed = wording.passed_over(turn.before, found)
    said = wording.joined(
        f"Routed anew: {lay(table, late)}.",
        f"Turn {turn.number} of group '{group.key}' went to {turn.member.name}.",
        f"Passed over: {passed}." if passed else "",
    )
    made = Assign(ask, lead, turn.member.user_id, case.round, Outcome.ASSIGNED, None, group.id, turn, None, said)
    return replace(made, passed_over=kinds_of(found))


def lay(table: Table, late: Running) -> str:
    """What its owner let pass, without a full stop."""
    names = {one.user_id: one.name for group in table.groups.values() for one in group.members}
    minutes = f"{late.term.minutes} minute{'s' * (late.term.minutes != 1)}"
    return f"not touched within {minutes} by {names.get(late.row.assigned_to, 'its owner')}"


def _noted(made: Assign | Skip, found: Sequence[Standing]) -> Assign | Skip:
    """With the kinds of reason for which members could not have it."""
    return replace(made, passed_over=kinds_of(found)) if isinstance(made, Assign) else made


def _strict(table: Table, case: Case, group: Group) -> tuple[Standing, ...]:
    """Nobody who had it has it again, though that leave none: the manager is there for that."""
    return tuple(
        replace(one, refusal="had this lead before")
        if one.refusal is None and one.member.user_id in case.former.owners
        else one
        for one in standings_of(table, group, case.lead, case.former)
    )


def _at_last(table: Table, case: Case, late: Running, why: str) -> Assign | Skip:
    group = late.group
    owner = group.manager_id
    lying = f"{lay(table, late)}; {why}"
    if owner is None:
        cannot = "has none"
    elif not group.manager_active or owner in table.siblings.inactive:
        cannot = "has an inactive one"
    elif owner in case.former.owners:
        cannot = "has one who had it before"
    elif owner in table.configuration.intake_owners:
        cannot = "has one whose leads count as unassigned"
    else:
        said = f"{lying[:1].upper()}{lying[1:]}. The manager of group '{group.key}' has the lead."
        return Assign(case.ask, case.lead, owner, case.round, Outcome.FALLBACK, None, group.id, None, None, said)
    return Skip(case.ask, f"it stays with its owner: {lying}; as manager group '{group.key}' {cannot}")
