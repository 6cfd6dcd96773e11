"""Charts: where lines and bars lie, in the units of their SVG; the templates draw them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from lead_router.core.decay import ODDS, lost, odds

FIRST_S, LAST_S = 0.01, 3600.0
FIVE_MINUTES_S = 300.0
TICKS = (
    (0.01, "10 ms"),
    (0.1, "0.1 s"),
    (1.0, "1 s"),
    (10.0, "10 s"),
    (60.0, "1 min"),
    (300.0, "5 min"),
    (1800.0, "30 min"),
)
LEVELS = ((1.0, "100 %"), (0.5, "50 %"), (0.0, "0"))
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 12, 10, 26
_POINTS = 60


@dataclass(frozen=True, slots=True)
class Curves:
    """The share of leads that had an owner by then, beside the odds left to a lead first called then; time is log."""

    width: int
    height: int
    left: int
    right: int
    top: int
    bottom: int
    five: int
    owned: str
    odds: str
    ticks: tuple[tuple[int, str], ...]
    levels: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class Latencies:
    """Waits in milliseconds: percentiles, the share within five minutes, and leads lost to them by the odds."""

    count: int
    p50: int
    p95: int
    max: int
    within_five: float
    lost: float


def latencies(waits_ms: Sequence[int]) -> Latencies | None:
    """The figures of some waits; None of none."""
    if not waits_ms:
        return None
    waits = sorted(waits_ms)
    within = sum(1 for wait in waits if wait <= FIVE_MINUTES_S * 1000)
    minutes = [wait / 60_000 for wait in waits]
    return Latencies(
        len(waits), _percentile(waits, 0.5), _percentile(waits, 0.95), waits[-1], within / len(waits), lost(minutes)
    )


def curves(waits_ms: Sequence[int], *, width: int, height: int) -> Curves:
    """The chart of these waits in a picture of that size."""
    right, bottom = width - _RIGHT, height - _BOTTOM

    def across(seconds: float) -> int:
        part = math.log(min(max(seconds, FIRST_S), LAST_S) / FIRST_S) / math.log(LAST_S / FIRST_S)
        return round(_LEFT + part * (right - _LEFT))

    def up(share: float) -> int:
        return round(bottom - share * (bottom - _TOP))

    evenly = (FIRST_S * (LAST_S / FIRST_S) ** (step / _POINTS) for step in range(_POINTS + 1))
    moments = sorted({*evenly, *(minutes * 60 for minutes, _ in ODDS)})
    fallen = " L".join(f"{across(at)} {up(odds(at / 60))}" for at in moments)
    return Curves(
        width=width,
        height=height,
        left=_LEFT,
        right=right,
        top=_TOP,
        bottom=bottom,
        five=across(FIVE_MINUTES_S),
        owned=_steps([(across(at), up(share)) for at, share in _shares(sorted(waits_ms))], bottom, right),
        odds=f"M{fallen}",
        ticks=tuple((across(at), label) for at, label in TICKS),
        levels=tuple((up(share), label) for share, label in LEVELS),
    )


def _shares(waits: Sequence[int]) -> list[tuple[float, float]]:
    """When, in seconds, which share of the leads had an owner; one point for each wait that differs."""
    return [(wait / 1000, place / len(waits)) for place, wait in enumerate(waits, start=1)]


def _steps(points: Sequence[tuple[int, int]], bottom: int, right: int) -> str:
    if not points:
        return ""
    path, former, last_y = [f"M{points[0][0]} {bottom}"], points[0][0], bottom
    for x, y in points:
        if x != former:
            path.append(f"V{last_y}H{x}")
        former, last_y = x, y
    return "".join([*path, f"V{last_y}H{right}"])


def _percentile(ordered: Sequence[int], part: float) -> int:
    return ordered[min(len(ordered) - 1, math.ceil(part * len(ordered)) - 1)]
