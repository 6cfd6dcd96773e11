"""Rotation resets: a rotation that leaves its order at one place and goes on in it from another rep.

Each side is judged on SIDE_MIN leads or more, whatever the number of reps: of three reps, chance brings twelve leads
into one phase less than twice in ten thousand times, and three leads, a round, every ninth time.

A rotation that passes over reps who are off duty leaves its order for that. Where it passes over one rep now and then,
it passes over two at once by chance, which looks like a reset: of n leads with s such steps about s²/n times. Above
SKIPS_MAX nothing is told of single resets.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from lead_router.audit.judging.pools import Pool
from lead_router.audit.judging.roles import Given

ROUNDS = 3  # of the cycle, looked at on either side
SIDE_MIN = 12  # leads on each side
LEAP_MIN = 2  # reps that one step passes over; all of the move but for one rep, who may be away behind it
SKIPPED_MAX = 2  # reps who are off duty together, as at lunch
SKIPS_MAX = 0.05  # times that chance alone passes over two reps at once
RESTARTS_MIN, RESTARTS_PART = 10, 0.7  # breaks of the order, and the part of them that goes to one rep
WEIGHTED_MIN = 3  # times between breaks
KEPT_MIN = 0.85  # of the leads on a side keep one phase

RULE = (
    "In a pool that keeps an order, the phase of a lead is its rep's place in the cycle less the lead's own number; a "
    f"rotation keeps it. A reset is told where, over the reps who got leads on both sides, {KEPT_MIN:.0%} of the "
    f"{ROUNDS} rounds before have one phase and as many of the {ROUNDS} rounds behind have another, {SIDE_MIN} leads "
    "or more on each side. A difference of one place forward is a rep who was passed over, and is not told; "
    "breaks that come again after as many leads each time are what weights make. A rotation that often "
    "passes over reps, who are off duty or may not have the lead, is not judged; nor can a reset be seen that lands on "
    f"the rep who follows. A rotation begins anew again and again where {RESTARTS_MIN} breaks or more, "
    f"{RESTARTS_PART:.0%} of all, go to one rep."
)


@dataclass(frozen=True, slots=True)
class Reset:
    """The lead at which the order begins anew, with the rep who got it and the one whose turn it was."""

    lead: str
    at: float
    place: int
    rep: str
    due: str
    passed_over: int
    """How many reps of the cycle were left out, those that the rotation would have come to first."""
    writer: str
    order: tuple[str, ...]
    around: tuple[str, ...]
    """Who got the leads around it, in order of time, `cut` of them before it."""
    cut: int


def resets(pool: Pool) -> list[Reset]:
    """The resets of a pool, in order of time; none where it keeps no order."""
    if is_unsure(pool):
        return []
    place = {rep: at for at, rep in enumerate(pool.cycle)}
    given = [one for one in pool.given if one.owner in place]
    half = max(ROUNDS * len(place), SIDE_MIN)
    looked = (
        (at, scored)
        for at in range(len(place), len(given) - len(place))
        if (place[given[at].owner] - place[given[at - 1].owner]) % len(place) != 1
        and (scored := _break(given, at, half, pool.cycle)) is not None
    )
    found: list[tuple[float, Reset]] = []
    for at, (score, passed, due) in looked:
        one = given[at]
        first = max(0, at - half)
        around = tuple(other.owner for other in given[first : at + half])
        reset = Reset(one.story.id, one.at, at, one.owner, due, passed, pool.writer, pool.cycle, around, at - first)
        told = (score, reset)
        if not found or at - found[-1][1].place > half:
            found.append(told)
        elif score > found[-1][0]:
            found[-1] = told
    kept = [reset for _, reset in found]
    return [] if _weighted([reset.place for reset in kept]) else kept


def is_unsure(pool: Pool) -> bool:
    """Whether the rotation passes over reps so often that a single reset is no more than chance."""
    return skips(pool) ** 2 > SKIPS_MAX * len(pool.given)


def skips(pool: Pool) -> int:
    """How often the rotation passed over one rep or two who were not away, but had leads shortly before and behind."""
    size = len(pool.cycle)
    if size < 3:  # noqa: PLR2004 - two reps have no order
        return 0
    place = {rep: at for at, rep in enumerate(pool.cycle)}
    places = [place[one.owner] for one in pool.given if one.owner in place]
    near = 2 * size
    found = 0
    for at in range(1, len(places)):
        many = (places[at] - places[at - 1] - 1) % size
        left_out = {(places[at] - 1 - back) % size for back in range(many)}
        if 0 < many <= SKIPPED_MAX:
            found += left_out <= set(places[max(0, at - near) : at]) & set(places[at : at + near])
    return found


@dataclass(frozen=True, slots=True)
class Restarts:
    """A rotation that begins at one rep again and again: `times` of `breaks`, with the leads that began it anew."""

    writer: str
    rep: str
    times: int
    breaks: int
    leads: tuple[str, ...]


def restarts(pool: Pool) -> Restarts | None:
    """Whether the order breaks off again and again to go on at one rep, as where each run begins at the list's top."""
    place = {rep: at for at, rep in enumerate(pool.cycle)}
    given = [one for one in pool.given if one.owner in place]
    steps = [(place[b.owner] - place[a.owner]) % len(place) for a, b in pairwise(given)] if place else []
    breaks = [at for at, step in enumerate(steps, 1) if step not in {1, 2}]
    if len(breaks) < RESTARTS_MIN or _weighted(breaks):
        return None
    rep, times = Counter(given[at].owner for at in breaks).most_common(1)[0]
    if times < RESTARTS_PART * len(breaks):
        return None
    leads = tuple(given[at].story.id for at in breaks if given[at].owner == rep)
    return Restarts(pool.writer, rep, times, len(breaks), leads)


def _weighted(places: Sequence[int]) -> bool:
    """Whether the breaks come again after as many leads each time: then they are the order, which weights make."""
    apart = [after - before for before, after in pairwise(places)]
    least = min(apart, default=0)
    return len(apart) >= WEIGHTED_MIN and all((gap + 1) % least <= 2 for gap in apart)  # noqa: PLR2004 - one lead off


def _break(given: Sequence[Given], at: int, half: int, cycle: Sequence[str]) -> tuple[float, int, str] | None:
    """How well both sides keep a phase of their own, how many reps were passed over, and who was due; None for none."""
    first = max(0, at - half)
    owners, middle = [one.owner for one in given[first : at + half]], at - first
    both = set(owners[:middle]) & set(owners[middle:])
    if len(both) < 3 or owners[middle] not in both:  # noqa: PLR2004 - two reps have no order
        return None
    order = [rep for rep in cycle if rep in both]
    place = {rep: at for at, rep in enumerate(order)}
    sides = ([rep for rep in owners[:middle] if rep in both], [rep for rep in owners[middle:] if rep in both])
    if min(map(len, sides)) < max(len(order), SIDE_MIN):
        return None
    phases = [(place[rep] - at) % len(order) for at, rep in enumerate([*sides[0], *sides[1]])]
    (before, kept_before) = Counter(phases[: len(sides[0])]).most_common(1)[0]
    (behind, kept_behind) = Counter(phases[len(sides[0]) :]).most_common(1)[0]
    parts = kept_before / len(sides[0]), kept_behind / len(sides[1])
    moved = (behind - before) % len(order)
    if moved <= 1 or min(parts) < KEPT_MIN:
        return None
    last = next(rep for rep in reversed(owners[:middle]) if rep in both)
    leapt = (place[owners[middle]] - place[last] - 1) % len(order)
    if leapt < LEAP_MIN or abs(leapt - moved) > 1:
        return None
    due = order[(before + len(sides[0])) % len(order)]
    return sum(parts), moved, due
