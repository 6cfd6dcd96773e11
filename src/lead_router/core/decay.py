"""What a minute's wait is worth, by the published odds of qualifying a lead: an estimate, never a measure."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import pairwise

ODDS = ((5.0, 1.0), (10.0, 1 / 4), (30.0, 1 / 21))
"""Minutes until the first call, and the odds of qualifying against those of a call within five minutes.

Lead Response Management study (J. Oldroyd with InsideSales.com, 16 October 2007): the odds of qualifying drop 21 times
from 5 to 30 minutes, and "400 %" from 5 to 10, taken as four times. In between a straight line over both logarithms.
Before five minutes nothing is told, so nothing is gained; after thirty no more is lost.
"""

WITHIN_FIVE = 0.10
"""The chance of qualifying a lead that is called within five minutes: an assumption, the studies tell ratios only."""


def odds(minutes: float) -> float:
    """The odds of qualifying against those of a call within five minutes: 1 to 1/21."""
    if minutes <= ODDS[0][0]:
        return 1.0
    for (early, higher), (late, lower) in pairwise(ODDS):
        if minutes <= late:
            part = math.log(minutes / early) / math.log(late / early)
            return higher * math.pow(lower / higher, part)
    return ODDS[-1][1]


def chance(minutes: float, within_five: float = WITHIN_FIVE) -> float:
    """The chance of qualifying a lead that is first called after so many minutes."""
    at_once = within_five / (1 - within_five)
    own = at_once * odds(minutes)
    return own / (1 + own)


def qualified(minutes: Iterable[float], within_five: float = WITHIN_FIVE) -> float:
    """How many leads are expected to be qualified, by the minutes until each was first called."""
    return sum(chance(one, within_five) for one in minutes)


def lost(minutes: Iterable[float], within_five: float = WITHIN_FIVE) -> float:
    """How many leads fewer are expected to be qualified than if each had been called within five minutes."""
    return sum(within_five - chance(one, within_five) for one in minutes)
