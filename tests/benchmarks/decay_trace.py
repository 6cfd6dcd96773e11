"""One day by seed, the same for every architecture: requests, who is down when, and what befalls which attempt."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

DAY_S = 86_400.0
REQUESTS = 1_000
BY_DAY, OPEN_S, CLOSE_S = 0.65, 8 * 3_600.0, 20 * 3_600.0
MAIL_AT_S, MAIL_S, MAIL_SHARE = 10 * 3_600.0, 600.0, 0.15  # a mail to all customers, answered within minutes

CALLER_S = 10.0  # how long a caller waits for an answer
CALLER_AGAIN_S = (60.0, 300.0, 900.0)  # from one attempt to the next; then it gives up
CALL_S = 0.4  # one call of the CRM
ENRICH_S, ENRICH_SPREAD = 1.2, 1.0  # median and sigma of a log-normal time
ENRICH_LIMIT_S = 30.0  # the chain's own time-out
ANSWER_LOST = 0.005  # of answers that come after a commit
EVENT_LOST = 0.002  # of events that no subscriber hears
EVENT_S = 1.0  # from a commit to the subscriber

Part: TypeAlias = Literal["crm", "enrichment", "own"]
Window: TypeAlias = tuple[float, float]

OUTAGES_MIN: dict[Part, tuple[float, ...]] = {"crm": (6.0, 25.0), "enrichment": (40.0,), "own": (0.5, 0.5, 1.0, 10.0)}
"""How long each part is away, in minutes, once for each figure; "own" is the program that assigns."""


@dataclass(frozen=True, slots=True)
class Trace:
    """`arrivals` are seconds of the day, ascending; a request is its place in them."""

    seed: int
    arrivals: tuple[float, ...]
    outages: dict[Part, tuple[Window, ...]]

    def down(self, part: Part, at_s: float) -> bool:
        """Whether the part is away at that moment."""
        return any(start <= at_s < end for start, end in self.outages[part])

    def up_at(self, part: Part, at_s: float) -> float:
        """The first moment from then on at which it is there."""
        return max((end for start, end in self.outages[part] if start <= at_s < end), default=at_s)

    def chance(self, what: str, request: int, attempt: int) -> float:
        """In [0, 1), the same whoever asks."""
        return random.Random(f"{self.seed} {what} {request} {attempt}").random()

    def enrich_s(self, request: int, attempt: int) -> float:
        """How long enrichment takes where it is there."""
        dice = random.Random(f"{self.seed} enrich {request} {attempt}")
        return ENRICH_S * dice.lognormvariate(0, ENRICH_SPREAD)


def trace(seed: int, requests: int = REQUESTS) -> Trace:
    """The day of that seed. Outages are within the day's busy hours and do not meet another one of their part."""
    dice = random.Random(seed)
    arrivals = sorted(_arrival(dice) for _ in range(requests))
    outages = {part: tuple(sorted(_windows(dice, minutes))) for part, minutes in OUTAGES_MIN.items()}
    return Trace(seed, tuple(arrivals), outages)


def _arrival(dice: random.Random) -> float:
    chance = dice.random()
    if chance < MAIL_SHARE:
        return MAIL_AT_S + dice.uniform(0, MAIL_S)
    return dice.uniform(OPEN_S, CLOSE_S) if chance < MAIL_SHARE + BY_DAY else dice.uniform(0, DAY_S)


def _windows(dice: random.Random, minutes: Sequence[float]) -> Iterator[Window]:
    """One in each of as many equal parts of the busy hours."""
    each = (CLOSE_S - OPEN_S) / len(minutes)
    for place, length in enumerate(dice.sample(list(minutes), len(minutes))):
        start = OPEN_S + place * each + dice.uniform(0, each - length * 60)
        yield start, start + length * 60


def records(day: Trace) -> list[tuple[float, int]]:
    """When a record of which request is written, by callers that write it into the CRM themselves.

    An answer that was lost, or an outage, has the caller try again; what it wrote before stays.
    """
    found = []
    for request, arrival in enumerate(day.arrivals):
        for attempt, at in enumerate(attempts(arrival)):
            if day.down("crm", at):
                continue
            found.append((at + CALL_S, request))
            if day.chance("answer", request, attempt) >= ANSWER_LOST:
                break
    return sorted(found)


def attempts(arrival: float) -> Iterator[float]:
    """When a caller that never hears of success tries."""
    yield arrival
    for pause in CALLER_AGAIN_S:
        arrival += pause
        yield arrival
