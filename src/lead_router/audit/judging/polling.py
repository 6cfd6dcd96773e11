"""Poll intervals: givings that fall on multiples of a period, and waits that are spread evenly over it.

Pairs within one stretch of hours are not independent: of a handful of rounds chance alone makes some period look
strong. With ROUNDS_MIN rounds on DAYS_MIN days, a working week, chance reaches the thresholds less than once in a
thousand looks at all periods, before the waits are asked, too; of fewer nothing is told.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lead_router.audit.judging.figures import percentile, uniform_distance
from lead_router.audit.judging.roles import Given

PERIOD_MIN_S, PERIOD_MAX_S = 55.0, 3660.0
WINDOW_S = 6 * 3600.0  # givings further apart are not compared: a loop that sleeps drifts
ROUND_S = 30.0  # givings this near belong to one round
SOON_PART, SOON_S = 0.6, 20.0  # where this part of the waits is shorter, nothing waits for a round
ROUNDS_MIN, DAYS_MIN = 60, 5
PAIRS_MIN, PAIRS_MAX = 150, 4_000
OVERSAMPLED = 3
STRENGTH_MIN = 0.3  # of 1, the mean cosine
SIGMA_MIN = 6.0
AS_STRONG = 0.8  # a longer period this strong beside the strongest is the period, the strongest its fraction
LATE_PART = 1.2  # of the period, which
NEAR_MIN = 0.75  # of the waits do not exceed: a poller may sleep at night
GAP_MAX = 0.12  # Kolmogorov's distance of the waits from uniform, beside chance's own 1.63/√n

RULE = (
    f"Of all pairs of givings of one writer and source that are at most {WINDOW_S / 3600:.0f} hours apart, R² is the "
    "mean of cos(2π Δt / P): Rayleigh's phase concentration, blind to slow drift. The period P from "
    f"{PERIOD_MIN_S:.0f} to {PERIOD_MAX_S:.0f} s with the largest R² is told where R² is at least {STRENGTH_MIN}, R² "
    f"√(2 pairs) at least {SIGMA_MIN:.0f}, with {PAIRS_MIN} pairs or more of {ROUNDS_MIN} rounds or more on {DAYS_MIN} "
    "days or more (chance reaches that less than once in a thousand looks over all periods), and where the waits are "
    f"spread evenly from 0 to P ({NEAR_MIN:.0%} of them at most {LATE_PART} P): Kolmogorov's distance at most "
    f"{GAP_MAX} + 1.63/√n."
)


@dataclass(frozen=True, slots=True)
class Poll:
    """A poller's signature: `strength` is R², `phases` the rounds of its busiest hours by their part of the period."""

    writer: str
    sources: tuple[str, ...]
    leads: tuple[str, ...]
    period_s: float
    strength: float
    sigma: float
    gap: float
    waits: tuple[float, ...]
    phases: tuple[float, ...]


def polls(given: Iterable[Given]) -> list[Poll]:
    """The pollers among writers, one for each period; `given` are first givings by machines."""
    apart: dict[tuple[str, str], list[Given]] = defaultdict(list)
    for one in given:
        if not one.made:
            apart[one.by, one.story.source].append(one)
    found = [poll for (writer, source), each in sorted(apart.items()) if (poll := _poll(writer, source, each))]
    return _together(found)


def evidence(given: Iterable[Given]) -> tuple[int, int]:
    """Rounds of the writer and source that has the most, and on how many days they were."""
    apart: dict[tuple[str, str], list[float]] = defaultdict(list)
    for one in given:
        if not one.made:
            apart[one.by, one.story.source].append(one.at)
    known = [_rounds(sorted(times)) for times in apart.values()]
    _, days, rounds = max(((min(len(one), ROUNDS_MIN), _days(one), len(one)) for one in known), default=(0, 0, 0))
    return rounds, days


def _days(times: Iterable[float]) -> int:
    return len({int(at // 86_400) for at in times})


def _poll(writer: str, source: str, given: Sequence[Given]) -> Poll | None:
    if percentile(sorted(one.at - one.since for one in given), SOON_PART) < SOON_S:
        return None
    times = _rounds(sorted(one.at for one in given))
    gaps = _gaps(times)
    if len(times) < ROUNDS_MIN or _days(times) < DAYS_MIN or len(gaps) < PAIRS_MIN:
        return None
    period, strength = _strongest(gaps)
    sigma = strength * math.sqrt(2 * len(gaps))
    if strength < STRENGTH_MIN or sigma < SIGMA_MIN:
        return None
    waits = [one.at - one.since for one in given]
    near = [wait for wait in waits if wait <= LATE_PART * period]
    gap = uniform_distance(near, period)
    if len(near) < NEAR_MIN * len(waits) or gap > GAP_MAX + 1.63 / math.sqrt(len(near)):
        return None
    phases = _phases(times, period)
    return Poll(
        writer, (source,), tuple(one.story.id for one in given), period, strength, sigma, gap, tuple(waits), phases
    )


def _phases(times: Sequence[float], period: float) -> tuple[float, ...]:
    """The rounds of the busiest WINDOW_S, by their part of the period; the first of them stands in the middle."""
    best: Sequence[float] = ()
    start = 0
    for end, at in enumerate(times):
        while at - times[start] > WINDOW_S:
            start += 1
        if end - start + 1 > len(best):
            best = times[start : end + 1]
    return tuple(((at - best[0]) / period + 0.5) % 1 for at in best)


def _rounds(times: Sequence[float]) -> list[float]:
    """The first time of each round."""
    found: list[float] = []
    last = -math.inf
    for at in times:
        if at - last > ROUND_S:
            found.append(at)
        last = at
    return found


def _gaps(times: Sequence[float]) -> list[float]:
    """Time between rounds at most WINDOW_S apart; at most PAIRS_MAX of them, from all over."""
    found: list[float] = []
    near = max(1, PAIRS_MAX // max(1, len(times)))
    step = max(1, len(times) * near // PAIRS_MAX)
    for at in range(0, len(times), step):
        for other in range(at + 1, min(len(times), at + 1 + near)):
            if times[other] - times[at] > WINDOW_S:
                break
            found.append(times[other] - times[at])
    return found


def _strength(gaps: Sequence[float], frequency: float) -> float:
    turn = 2 * math.pi * frequency
    return sum([math.cos(turn * gap) for gap in gaps]) / len(gaps)


def _strongest(gaps: Sequence[float]) -> tuple[float, float]:
    """The period with the largest strength, or the longest that is as strong, and the strength."""
    step = 1 / (OVERSAMPLED * WINDOW_S)
    first = 1 / PERIOD_MAX_S
    many = int((1 / PERIOD_MIN_S - first) / step) + 1
    looked = [(_strength(gaps, first + place * step), first + place * step) for place in range(many)]
    best = max(looked)[0]
    if best < STRENGTH_MIN / 2:
        return 1 / max(looked)[1], best
    strength, frequency = next(one for one in looked if one[0] >= AS_STRONG * best)
    for _ in range(8):
        step /= 2
        around = [(_strength(gaps, at), at) for at in (frequency - step, frequency + step) if at > 0]
        strength, frequency = max([(strength, frequency), *around])
    return 1 / frequency, strength


def _together(found: Sequence[Poll]) -> list[Poll]:
    """Sources that one writer polls with one period, as one."""
    merged: list[Poll] = []
    for poll in sorted(found, key=lambda one: -len(one.leads)):
        for place, one in enumerate(merged):
            if one.writer == poll.writer and abs(one.period_s / poll.period_s - 1) < 0.02:  # noqa: PLR2004 - two per cent
                merged[place] = Poll(
                    one.writer,
                    (*one.sources, *poll.sources),
                    (*one.leads, *poll.leads),
                    one.period_s,
                    one.strength,
                    one.sigma,
                    one.gap,
                    (*one.waits, *poll.waits),
                    one.phases,
                )
                break
        else:
            merged.append(poll)
    return merged
