"""Worded: decisions, rules, members and jobs in the sentences that people read, on a terminal and on a page."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from lead_router.app.explaining import Explained, is_discarded
from lead_router.core.explain import MatchAccount, MemberAccount, RuleAccount, told_of
from lead_router.core.leads import ELLIPSIS
from lead_router.core.model import Assign, Count, Decision, Follow, Hold, Observed, Skip, ToGroup, ToMatched, ToOwner
from lead_router.ports import JobView

ERROR_SHOWN = 300
"""Characters of a job's error; `jobs show` has all of it."""


def whole_decision(told: Explained) -> str:
    """What would be decided now; of a lead that waits for a person, that first; then what `provided` brings."""
    account, decision = told.account, decision_told(told.account.decision, told.names)
    if told.dead is not None:
        return f"nothing will be given out: {awaits(told.dead)}. Were it retried: {decision}"
    if told.discarded is not None:
        return f"nothing will be given out: {left_alone(told.discarded)}. Were it asked for: {decision}"
    if account.would is None or account.would == account.decision:
        return decision
    provided = account.provided[:1].upper() + account.provided[1:]
    return f"{decision}. {provided}: {decision_told(account.would, told.names)}"


def awaits(job: JobView) -> str:
    """Why a lead whose job is dead is given to nobody."""
    return f"job {job.id} is dead, and a person decides"


def no_rule_asked(told: Explained) -> str:
    """Which lead it follows instead of being asked about by rules; "" where rules are asked."""
    decision = told_of(told.account)
    if not isinstance(decision, Follow):
        return ""
    return f"no rule is asked: it follows lead {decision.first_lead_id}, the first of its submission"


def left_alone(job: JobView) -> str:
    """Why a lead whose job a person ended is not asked for again."""
    return f"job {job.id} was {job.outcome}; that stands until somebody changes the lead or an event asks for it"


def job_told(job: JobView, at: datetime) -> str:
    """What the job store knows of one job, and what a person can do about it on the command line."""
    if job.status != "dead":
        return job_state(job, at)
    ends = f'`lead-router jobs discard {job.id} --reason "…"` ends it for good'
    return f"{job_state(job, at)}; `lead-router jobs retry {job.id}` tries again, {ends}"


def job_state(job: JobView, at: datetime) -> str:
    """What the job store knows of one job."""
    what = f"job {job.id}"
    match job.status:
        case "dead":
            tries = "attempt" if job.attempts == 1 else "attempts"
            return f"{what} is dead after {job.attempts} {tries}: {short(job.last_error)}"
        case "queued":
            why = f": {short(job.last_error)}" if job.last_error else ""
            if job.next_run_at <= at:
                return f"{what} is due now{why}"
            return f"{what} waits until {job.next_run_at:%Y-%m-%d %H:%M:%SZ}{why}"
        case "working":
            return f"{what} is at work, by {job.locked_by}"
        case _:
            when = f" at {job.completed_at:%Y-%m-%d %H:%M:%SZ}" if job.completed_at else ""
            error = f"; its last error: {short(job.last_error)}" if is_discarded(job) else ""
            return f"{what} was done{when}: {job.outcome}{error}"


def short(error: str | None) -> str:
    """An error in one line of at most ERROR_SHOWN characters."""
    line = " ".join((error or "-").split())
    return line if len(line) <= ERROR_SHOWN else f"{line[:ERROR_SHOWN]}{ELLIPSIS}"


def named(owner_id: str, names: Mapping[str, str]) -> str:
    """An owner's name and id, as far as a name is known."""
    name = names.get(owner_id)
    return owner_id if name is None else f"{name} ({owner_id})"


def match_told(one: MatchAccount) -> str:
    """A matching record with what stands against its owner."""
    match, why = one.match, one.reason or "could have it"
    return f"matching {match.on} {match.record_id} by {match.by} of {match.name}: {why}"


def verdict(one: RuleAccount, decided: int | None, *, asked: bool = True) -> str:
    """What a rule was for the lead; `decided` is the precedence of the one that decided; `asked`: rules were asked."""
    if one.decided or not one.met:
        return "decides" if one.decided else "not met"
    if decided is None:
        return "met" if asked else "met, not asked"  # no rule decided: another lead did, or something before any rule
    return "met, fell through" if one.rule.precedence < decided else "met, not reached"


def target_told(one: RuleAccount, told: Explained) -> str:
    """Where a rule sends leads."""
    match one.rule.target:
        case ToGroup(group_id=group_id):
            return f"group {told.groups.get(group_id, group_id)}"
        case ToOwner(name=name):
            return name
        case ToMatched(on=on, by=by):
            return f"owner of {' or '.join(on)} by {by}"


def standing(one: MemberAccount) -> str:
    """What a member could do with the lead."""
    return one.reason or ("picked" if one.picked else "could take it")


def decision_told(decision: Decision, names: Mapping[str, str]) -> str:
    """A decision in one sentence."""
    match decision:
        case Assign(owner_id=owner, explanation=said):
            return f"assign to {named(owner, names)}. {said}"
        case Count(owner_id=owner, explanation=said):
            return f"count for {named(owner, names)}. {said}"
        case Follow(owner_id=owner, explanation=said):
            return f"follow to {named(owner, names)}. {said}"
        case Hold(reason=reason, until=until):
            return f"hold: {reason}" + (f"; until {until:%Y-%m-%d %H:%M:%SZ}" if until else "")
        case Skip(reason=reason):
            return f"skip: {reason}"
        case Observed(would=would):
            return f"observe only; it would {decision_told(would, names)}"
