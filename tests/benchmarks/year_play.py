"""Plays a company's time on the pure core: leads come, jobs are claimed, decided and written as the worker does it."""

from __future__ import annotations

import heapq
import random
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TypeAlias

from benchmarks.year_checks import Checks
from benchmarks.year_world import INTAKE, START, Arrival, Change, World
from lead_router.core.decide import HOLD_RETRY_MAX_S, batches, decide
from lead_router.core.ids import to18
from lead_router.core.model import Ask, Assign, Configuration, Decision, Group, Hold, Lead, Snapshot

POLL_S = 60
NOTICE_S = 120  # a change of the roster asks all that wait, but newer leads may come before
CLAIM_MAX = 200
OPEN_HOURS = 6.0  # mean time until an owner closes a lead

Decide: TypeAlias = Callable[[Configuration, Snapshot, Sequence[Ask]], list[Decision]]


@dataclass(slots=True)
class State:
    """What Salesforce and the queue hold: seconds are from the start of the play."""

    groups: dict[str, Group]
    arrivals: deque[Arrival]
    changes: deque[Change]
    leads: dict[str, Lead] = field(default_factory=dict)
    jobs: dict[int, tuple[Arrival, Ask]] = field(default_factory=dict)
    held: dict[int, int] = field(default_factory=dict)
    due: list[tuple[int, int]] = field(default_factory=list)
    open_leads: Counter[str] = field(default_factory=Counter)
    closings: list[tuple[float, str]] = field(default_factory=list)


@dataclass(slots=True)
class Played:
    """What became of it, and how long the core took for it, in seconds."""

    checks: Checks
    changes: Counter[str] = field(default_factory=Counter)
    rounds: int = 0
    decisions: int = 0
    core_s: float = 0.0
    all_s: float = 0.0


def play(world: World, seed: int, *, patient: bool = True, decide: Decide = decide) -> Played:
    """Every minute of the time: leads that came and jobs that are due are decided, 200 at most at once, oldest first.

    Where `patient`, a held lead is asked when its hold says that somebody comes or the roster changes, and each quarter
    of an hour where no clock tells; else as often as the worker does, which asks several times as much of the core.
    """
    began = time.perf_counter()
    state = State(dict(world.groups), deque(world.arrivals), deque(world.changes))
    seen = Played(Checks(world))
    dice = random.Random(seed)
    now, last = 0, round((world.end - START).total_seconds())
    while now < last:
        now = _next(now, state, last)
        _catch_up(state, seen, now)
        while claimed := _claimed(state, now):
            for decision in _round(world, state, seen, claimed, now, decide):
                _settle(state, decision, now, dice, patient=patient)
    seen.checks.ended(state.groups, set(state.jobs))
    seen.all_s = time.perf_counter() - began
    return seen


def _next(now: int, state: State, last: int) -> int:
    """The next minute at which something is to be done."""
    times = [float(last)]
    times += [(state.arrivals[0].at - START).total_seconds()] if state.arrivals else []
    times += [(state.changes[0][0] - START).total_seconds()] if state.changes else []
    times += [state.due[0][0]] if state.due else []
    return max(now + POLL_S, -int(-min(times) // POLL_S) * POLL_S)


def _catch_up(state: State, seen: Played, now: int) -> None:
    """What admins, buyers and owners did until now."""
    at = START + timedelta(seconds=now)
    while state.changes and state.changes[0][0] <= at:
        _, what, change = state.changes.popleft()
        change(state.groups)
        seen.changes[what] += 1
        state.held = dict.fromkeys(state.held, now + NOTICE_S)
        state.due = [(now + NOTICE_S, number) for number in sorted(state.held)]
    while state.arrivals and state.arrivals[0].at <= at:
        coming = state.arrivals.popleft()
        _arrive(state, coming, now)
        seen.checks.came(coming)
    while state.closings and state.closings[0][0] <= now:
        owner = heapq.heappop(state.closings)[1]
        state.open_leads[owner] -= 1
        seen.checks.closed(owner)


def _round(world: World, state: State, seen: Played, claimed: list[int], now: int, decide: Decide) -> list[Decision]:
    at = START + timedelta(seconds=now)
    snapshot = _snapshot(state, at, claimed)
    asks = [state.jobs[number][1] for number in claimed]
    started = time.perf_counter()
    made = decide(world.configuration, snapshot, asks)
    written = batches(made)
    seen.core_s += time.perf_counter() - started
    seen.rounds, seen.decisions = seen.rounds + 1, seen.decisions + len(made)
    seen.checks.decided(at, state.groups, made)
    for batch in written:
        if batch.before is not None and batch.after is not None:
            seen.checks.wrote(state.groups[batch.before.id], batch)
            state.groups[batch.after.id] = batch.after
    return made


def _arrive(state: State, coming: Arrival, now: int) -> None:
    lead_id = to18(f"00Q{coming.number:012d}")
    kind = coming.kind
    fields = {
        "Country": kind.country,
        "Rating": kind.rating,
        "LeadSource": "Partner" if kind.partner else "Web",
        "OwnerId": INTAKE,
    }
    state.leads[lead_id] = Lead(
        lead_id, INTAKE, coming.at, round=0, stamp=None, status="Open", is_converted=False, fields=fields
    )
    state.jobs[coming.number] = (coming, Ask(coming.number, f"{lead_id}.create", lead_id, coming.at))
    heapq.heappush(state.due, (now, coming.number))


def _claimed(state: State, now: int) -> list[int]:
    found: list[int] = []
    while state.due and state.due[0][0] <= now and len(found) < CLAIM_MAX:
        when, number = heapq.heappop(state.due)
        if number in state.jobs and state.held.get(number, when) == when and number not in found:
            found.append(number)
    return found


def _snapshot(state: State, at: datetime, claimed: list[int]) -> Snapshot:
    mine = set(claimed)
    waiting = tuple(state.jobs[number][1] for number in state.held if number not in mine)
    return Snapshot(at, dict(state.groups), dict(state.leads), (), open_leads=+state.open_leads, waiting=waiting)


def _settle(state: State, decision: Decision, now: int, dice: random.Random, *, patient: bool) -> None:
    number = decision.ask.job_id
    match decision:
        case Assign(owner_id=owner, lead=lead):
            del state.jobs[number], state.leads[lead.id]
            state.held.pop(number, None)
            state.open_leads[owner] += 1
            heapq.heappush(state.closings, (now + dice.expovariate(1 / (OPEN_HOURS * 3600)), owner))
        case Hold(retry_s=retry_s, until=until, behind=behind, group_id=group_id):
            if patient and group_id is not None and behind is None:
                by_count = until is None or retry_s < min(HOLD_RETRY_MAX_S, (until - START).total_seconds() - now)
                retry_s = HOLD_RETRY_MAX_S if by_count else (until - START).total_seconds() - now
            state.held[number] = now + -int(-retry_s // 1)
            heapq.heappush(state.due, (state.held[number], number))
            if behind is not None:
                older = int(behind[3:15])
                state.held[older] = now
                heapq.heappush(state.due, (now, older))
        case _:
            raise AssertionError(f"no such decision was to be expected: {decision}")
