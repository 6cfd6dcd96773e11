"""`lead-router explain`: the whole decision about one lead, and what was decided about it before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime

from lead_router.app.batch import snapshot_of
from lead_router.app.beside import at_hand, hopped, own_ask, with_elders
from lead_router.app.departed import JOBS_SHOWN, Departed, departed_in
from lead_router.app.naming import names_of
from lead_router.app.rounds import Round, Thought, rounds_of, thoughts_of
from lead_router.app.wiring import Wired, wire
from lead_router.core.explain import Account, explain, told_of
from lead_router.core.ids import LONG, SHORT, UNFIT, is_id, to18
from lead_router.core.model import Ask, Assign, Configuration, Count, Decision, Follow, Hold, Observed, Skip, Snapshot
from lead_router.core.terms import told as told_of_clock
from lead_router.core.touch import touched_at
from lead_router.errors import Misconfigured
from lead_router.loops.capping import REROUTES_MAX, capped
from lead_router.ports import JobStore, JobView
from lead_router.settings import Settings


@dataclass(frozen=True, slots=True)
class Explained:
    """A lead's history and what was observed of it, oldest first, its jobs, newest first, and how it would be decided.

    `groups` are keys by id, `names` are of owners by id, as far as they are known. Where the job database cannot be
    looked at, `jobs` is None and `jobs_fault` says why. `edited_at` is when the lead was last changed, None where that
    was the router's doing. `discarded` is the job that a person ended for good, where for its sake the unassigned lead
    is left alone, and `dead` the one that a person has to decide about first. `first_touch` is what the first-touch
    clock says of it, None where none asks about it.
    """

    lead: str
    owner_id: str
    owner_is_intake: bool
    status: str | None
    history: tuple[Round, ...]
    account: Account
    groups: Mapping[str, str]
    names: Mapping[str, str]
    observed: tuple[Thought, ...] = ()
    jobs: tuple[JobView, ...] | None = None
    jobs_fault: str | None = None
    edited_at: datetime | None = None
    discarded: JobView | None = None
    dead: JobView | None = None
    first_touch: str | None = None


def explained(
    settings: Settings, lead_id: str, *, at: datetime | None, wired: Wired | None = None
) -> Explained | Departed:
    """The lead's account; raises Misconfigured for an id that is none, or of which nothing is known."""
    wired = wired or wire(settings)
    found = at_hand(settings, wired)
    if isinstance(found, str):
        told = explained_in(wired, lead_id, at=at, reroutes_max=settings.reroutes_max)
        return replace(told, jobs_fault=found)
    with closing(found) as store:
        return explained_in(wired, lead_id, at=at, reroutes_max=settings.reroutes_max, store=store)


def with_jobs(told: Explained, store: JobStore) -> Explained:
    """The same with what a store within reach knows of the lead's jobs."""
    jobs = tuple(store.jobs_of(told.lead, limit=JOBS_SHOWN))
    return replace(told, jobs=jobs, discarded=_standing(told, jobs), dead=_dead(told, jobs))


def _dead(told: Explained, jobs: Sequence[JobView]) -> JobView | None:
    """The latest dead job of a lead that wants an owner, where no other job of it is open."""
    is_open = any(job.status in {"queued", "working"} for job in jobs)
    if told.account.settled is not None or is_open:
        return None
    return max((job for job in jobs if job.status == "dead"), key=lambda job: job.id, default=None)


def _standing(told: Explained, jobs: Sequence[JobView]) -> JobView | None:
    """The discard that keeps the sweep from the lead: nobody changed it since, and no other job of it is open."""
    ended = [(job.completed_at, job) for job in jobs if is_discarded(job) and job.completed_at is not None]
    if told.account.settled is not None or not ended or any(job.status != "done" for job in jobs):
        return None
    at, latest = max(ended, key=lambda pair: pair[0])
    return latest if told.edited_at is None or told.edited_at <= at else None


def is_discarded(job: JobView) -> bool:
    """Whether a person ended this job for good."""
    return job.status == "done" and (job.outcome or "").startswith("discarded:")


def explained_in(
    wired: Wired,
    lead_id: str,
    *,
    at: datetime | None,
    reroutes_max: int = REROUTES_MAX,
    store: JobStore | None = None,
) -> Explained | Departed:
    """The same for an org within reach, and for a job store where there is one: as its router would decide."""
    lead_id = _lead(lead_id)
    configuration = wired.org.configuration()
    first = wired.org.snapshot(configuration, [lead_id], [])
    found = first.leads.get(lead_id)
    if found is None:
        return departed_in(wired, configuration, first, lead_id, store)
    snapshot, due = _with_touches(configuration, snapshot_of(wired.org, configuration, [found], at=at), first, store)
    ask = Ask(0, "", found.id, found.created_at, held=found.held)
    if store is not None:
        snapshot = with_elders(wired.org, store, configuration, snapshot, waiting=True)
        ask = own_ask(store, ask, snapshot.taken_at)
    snapshot = hopped(store, configuration, snapshot)
    account = _account(configuration, snapshot, ask, reroutes_max)
    history = rounds_of(wired.rest, found.id)
    observed = () if store is None else thoughts_of(store, found.id)
    given = [*(one.owner_id for one in history), *(one.owner_id for one in observed)]
    owners = (found.owner_id, *map(owner_of, (account.decision, told_of(account))), *account.former, *given)
    told = Explained(
        lead=found.id,
        owner_id=found.owner_id,
        owner_is_intake=found.owner_id in configuration.intake_owners,
        status=found.status,
        history=history,
        account=account,
        groups=configuration.group_keys,
        names=names_of(wired.rest, configuration, owners, (one.match for one in account.matches)),
        observed=observed,
        edited_at=touched_at(found.fields, by_others_than=configuration.integration_user_id),
        first_touch=due,
    )
    return told if store is None else with_jobs(told, store)


def _with_touches(
    configuration: Configuration, seen: Snapshot, first: Snapshot, store: JobStore | None
) -> tuple[Snapshot, str | None]:
    """With the activities that were read first, together with groups, and what the first-touch clock says then."""
    found = replace(seen, touches=first.touches, blind=first.blind)
    (lead,) = found.leads.values()
    position = configuration.rollout.first_touch.value
    began = {} if store is None else store.clocks_began(position=position)
    if store is not None and (lead.id, lead.round) in store.touched([lead.id]):
        return found, "no first-touch clock runs: touched: its owner changed it"
    return found, told_of_clock(configuration, found, lead, began)


def _lead(lead_id: str) -> str:
    """The id in its long form; raises Misconfigured for what is no id of a lead."""
    if lead_id.startswith("00Q") and is_id(lead_id):
        return to18(lead_id)
    if lead_id.startswith("00Q") and len(lead_id) == LONG and is_id(lead_id[:SHORT]):
        fault = UNFIT
    else:
        fault = f"{SHORT} or {LONG} characters that begin with 00Q"
    raise Misconfigured(f"'{lead_id}' is no id of a lead: {fault}")


def _account(configuration: Configuration, snapshot: Snapshot, ask: Ask, reroutes_max: int) -> Account:
    account = explain(configuration, snapshot, ask)
    if account is None:
        raise Misconfigured(f"there is no lead {ask.lead_id}")
    stopped, _ = capped(configuration, snapshot, [ask], reroutes_max)
    return _stopped(account, stopped[0]) if stopped else account


def owner_of(decision: Decision) -> str | None:
    """Who would have the lead by this decision, None where nobody would yet."""
    match decision:
        case Assign(owner_id=owner) | Count(owner_id=owner) | Follow(owner_id=owner):
            return owner
        case Observed(would=would):
            return owner_of(would)
        case Hold() | Skip():
            return None


def _stopped(account: Account, hold: Hold) -> Account:
    """The account of a lead that is returned over and over: nobody is picked."""
    groups = (
        replace(group, members=tuple(replace(one, picked=False) for one in group.members)) for group in account.groups
    )
    return replace(account, groups=tuple(groups), decision=hold)
