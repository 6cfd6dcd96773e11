"""Figures that several questions need: percentiles, and how likely chance alone is."""

from __future__ import annotations

import math
from collections.abc import Sequence

SURE = 0.001
"""A finding of chance is told where chance alone would bring it about less often than this."""


def percentile(ordered: Sequence[float], part: float) -> float:
    """The value that this part (0 to 1) of the ordered values does not exceed, by nearest rank; 0 for no values."""
    return ordered[max(0, math.ceil(part * len(ordered)) - 1)] if ordered else 0.0


def chi_square_tail(value: float, freedom: int) -> float:
    """The chance of a chi-square at least so large, by Wilson and Hilferty's cube root (1931); 1 without freedom."""
    if freedom < 1 or value <= 0:
        return 1.0
    narrow = 2 / (9 * freedom)
    z = (math.pow(value / freedom, 1 / 3) - (1 - narrow)) / math.sqrt(narrow)
    return 0.5 * math.erfc(z / math.sqrt(2))


def run_tail(length: int, draws: int, choices: int) -> float:
    """The chance that so many even draws among so many choices hold a run of this length or longer.

    Runs begin at a new choice, at n(1 - q) places, and last with q to the power of the length less one, q = 1/choices;
    their number is taken as Poisson.
    """
    if choices < 2 or length < 2:  # noqa: PLR2004 - a run of one is none, and one choice is always a run
        return 1.0
    q = 1 / choices
    return -math.expm1(-draws * (1 - q) * math.pow(q, length - 1))


def uniform_distance(values: Sequence[float], top: float) -> float:
    """Kolmogorov's distance between the values and the uniform distribution from 0 to `top`."""
    ordered = sorted(min(max(value / top, 0.0), 1.0) for value in values)
    many = len(ordered)
    return max(
        (max(place / many - part, part - (place - 1) / many) for place, part in enumerate(ordered, 1)), default=1.0
    )
