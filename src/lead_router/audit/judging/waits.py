"""Waits: from a lead's creation to the first rep who had it, by hour, weekday and source."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from lead_router.audit.judging.figures import percentile
from lead_router.audit.judging.opening import Opening
from lead_router.audit.judging.roles import Given, Roles
from lead_router.audit.past import Story

FEW_S = 300.0  # before five minutes the published curve tells of no loss
YOUNG_S = 86_400.0  # a lead younger than this may still come to someone
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
EDGES_S = (0, 10, 30, 60, 120, 300, 600, 1_800, 3_600, 14_400, 86_400, 604_800)
SOURCES_MAX = 12

RULE = (
    "A wait is the time from a lead's creation to the first rep who had it, to the second, as the history tells it. "
    "Working time counts the business hours alone. A lead that was never given to anybody has no wait, and is counted "
    "apart where it is a day old."
)


@dataclass(frozen=True, slots=True)
class Spread:
    """How long leads waited, in seconds, by the part that waited no longer. `late` waited over five minutes."""

    name: str
    leads: int
    p50: float
    p75: float
    p90: float
    p95: float
    most: float
    late: int


@dataclass(frozen=True, slots=True)
class Late:
    """A lead that waited over five minutes of working time; both waits in seconds."""

    lead: str
    source: str
    wait_s: float
    working_s: float


@dataclass(frozen=True, slots=True)
class Waits:
    """`elapsed` and `working` are of all leads; `histogram` counts leads by EDGES_S, the last class open.

    `never` are leads that nobody who works on leads ever had, `queued` those of them that lie in a queue.
    """

    elapsed: Spread
    working: Spread
    by_hour: tuple[Spread, ...]
    by_day: tuple[Spread, ...]
    by_source: tuple[Spread, ...]
    histogram: tuple[int, ...]
    never: tuple[str, ...]
    queued: int
    late: tuple[Late, ...]
    """The longest wait in working time first."""


def spread(name: str, waits: Iterable[float]) -> Spread:
    """The percentiles of waits in seconds."""
    ordered = sorted(waits)
    at = [percentile(ordered, part) for part in (0.5, 0.75, 0.9, 0.95, 1.0)]
    return Spread(name, len(ordered), at[0], at[1], at[2], at[3], at[4], sum(wait > FEW_S for wait in ordered))


def waits(firsts: Sequence[Given], without: Sequence[Story], opening: Opening, known: Roles, until: float) -> Waits:
    """The waits; `firsts` are the first handovers, `without` the leads that have none."""
    elapsed = [one.at - one.story.created for one in firsts]
    working = [opening.working_s(one.story.created, one.at) for one in firsts]
    never = [one for one in without if not one.converted and until - one.created > YOUNG_S]
    late = [
        Late(one.story.id, one.story.source, wait, work)
        for one, wait, work in zip(firsts, elapsed, working, strict=True)
        if work > FEW_S
    ]
    at = [opening.local(one.story.created) for one in firsts]
    hours = {f"{hour:02}": hour for hour in range(24)}
    return Waits(
        elapsed=spread("all", elapsed),
        working=spread("in working time", working),
        by_hour=_by(elapsed, list(hours), lambda place: f"{at[place].hour:02}"),
        by_day=_by(elapsed, DAYS, lambda place: DAYS[at[place].weekday()]),
        by_source=_largest(_by(elapsed, (), lambda place: firsts[place].story.source or "(none)")),
        histogram=_histogram(elapsed),
        never=tuple(one.id for one in never),
        queued=sum(one.owner in known.parked for one in never),
        late=tuple(sorted(late, key=lambda one: (-one.working_s, one.lead))),
    )


def _by(elapsed: Sequence[float], names: Sequence[str], name: Callable[[int], str]) -> tuple[Spread, ...]:
    """A spread for each name, those named first in their order."""
    found: dict[str, list[float]] = defaultdict(list)
    for one in names:
        found[one] = []
    for place, wait in enumerate(elapsed):
        found[name(place)].append(wait)
    return tuple(spread(one, each) for one, each in found.items())


def _largest(spreads: Sequence[Spread]) -> tuple[Spread, ...]:
    return tuple(sorted(spreads, key=lambda one: (-one.leads, one.name))[:SOURCES_MAX])


def _histogram(elapsed: Iterable[float]) -> tuple[int, ...]:
    counts = [0] * len(EDGES_S)
    for wait in elapsed:
        counts[max(at for at, edge in enumerate(EDGES_S) if wait >= edge or not at)] += 1
    return tuple(counts)
