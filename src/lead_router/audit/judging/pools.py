"""Pools: leads that one machine gives out among the same reps, in order of time, and the order it keeps, if any."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from lead_router.audit.judging.roles import Given, Roles

LEADS_MIN = 60  # ten rounds of six reps: of fewer, chance alone makes orders, shares and runs
SAME_REPS = 0.8  # of the smaller of two sources' reps are the other's too
REP_PART_MIN = 0.02  # of a source's leads make a rep one of its reps
REGULAR_MIN = 0.6  # of the leads go to the rep who follows
CYCLE_MIN = 3  # reps
CYCLE_PART_MIN = 0.7  # of the leads go to reps of the cycle


@dataclass(frozen=True, slots=True)
class Pool:
    """What `writer` gave out of these sources. `cycle` is the order it keeps, empty where it keeps none.

    `regular` is the part of its leads that went to the rep who follows.
    """

    writer: str
    sources: tuple[str, ...]
    given: tuple[Given, ...]
    cycle: tuple[str, ...]
    regular: float


def first_by_machine(given: Iterable[Given], known: Roles) -> list[Given]:
    """The first givings of leads that a machine did, or that were created with an owner other than who created them."""
    return [
        one
        for one in given
        if one.first and (one.by in known.machines or (one.made and one.by != one.owner) or not one.by)
    ]


def pools(given: Iterable[Given]) -> list[Pool]:
    """The pools of LEADS_MIN and more leads, the largest first."""
    by_source: dict[str, dict[str, list[Given]]] = defaultdict(lambda: defaultdict(list))
    for one in given:
        by_source[one.by][one.story.source].append(one)
    found: list[Pool] = []
    for writer, sources in by_source.items():
        for names in _alike(sources):
            whole = _pool(writer, names, [one for name in names for one in sources[name]])
            parts = [_pool(writer, (name,), sources[name]) for name in names]
            if len(names) > 1 and _regular(parts) > whole.regular + 0.05:
                found += parts
            else:
                found.append(whole)
    large = [pool for pool in found if len(pool.given) >= LEADS_MIN]
    return sorted(large, key=lambda pool: (-len(pool.given), pool.writer, pool.sources))


def _regular(parts: Sequence[Pool]) -> float:
    return sum(pool.regular * len(pool.given) for pool in parts) / sum(len(pool.given) for pool in parts)


def _alike(sources: dict[str, list[Given]]) -> list[tuple[str, ...]]:
    """Sources in groups that have the same reps, roughly."""
    groups: list[tuple[set[str], list[str]]] = []
    for name in sorted(sources, key=lambda name: (-len(sources[name]), name)):
        counted = Counter(one.owner for one in sources[name])
        reps = {rep for rep, many in counted.items() if many >= REP_PART_MIN * len(sources[name])}
        for known, names in groups:
            if len(known & reps) >= SAME_REPS * min(len(known), len(reps)):
                known.update(reps)
                names.append(name)
                break
        else:
            groups.append((reps, [name]))
    return [tuple(names) for _, names in groups]


def _pool(writer: str, sources: tuple[str, ...], given: Sequence[Given]) -> Pool:
    ordered = sorted(given, key=lambda one: (one.at, one.story.id))
    cycle = _cycle([one.owner for one in ordered])
    if not cycle:
        return Pool(writer, sources, tuple(ordered), (), 0.0)
    ordered = _untied(ordered, {rep: place for place, rep in enumerate(cycle)})
    owners = [one.owner for one in ordered]
    regular = _followed(owners, cycle)
    return Pool(writer, sources, tuple(ordered), cycle if regular >= REGULAR_MIN else (), regular)


def _cycle(owners: Sequence[str]) -> tuple[str, ...]:
    """The order in which each rep is mostly followed by the next; empty where there is none."""
    follows: dict[str, Counter[str]] = defaultdict(Counter)
    for one, other in pairwise(owners):
        if one != other:
            follows[one][other] += 1
    if not follows:
        return ()
    order: list[str] = []
    rep = Counter(owners).most_common(1)[0][0]
    while rep not in order:
        order.append(rep)
        if not follows[rep]:
            return ()
        rep = min(follows[rep], key=lambda other: (-follows[order[-1]][other], other))
    cycle = order[order.index(rep) :]
    counted = Counter(owners)
    covered = sum(counted[one] for one in cycle)
    return tuple(cycle) if len(cycle) >= CYCLE_MIN and covered >= CYCLE_PART_MIN * len(owners) else ()


def _untied(given: Sequence[Given], place: dict[str, int]) -> list[Given]:
    """The same, with leads of one second put into the order of the cycle: their real order is not told."""
    found: list[Given] = []
    start = 0
    while start < len(given):
        end = start
        while end < len(given) and given[end].at == given[start].at:
            end += 1
        tied = list(given[start:end])
        while tied:
            last = place.get(found[-1].owner, -1) if found else -1
            best = min(tied, key=lambda one: ((place.get(one.owner, 0) - last - 1) % len(place), one.story.id))
            tied.remove(best)
            found.append(best)
        start = end
    return found


def _followed(owners: Sequence[str], cycle: Sequence[str]) -> float:
    """The part of the leads of the cycle's reps that went to the rep who follows."""
    place = {rep: at for at, rep in enumerate(cycle)}
    places = [place[owner] for owner in owners if owner in place]
    return sum((b - a) % len(cycle) == 1 for a, b in pairwise(places)) / max(1, len(places) - 1)
