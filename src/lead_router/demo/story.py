"""What happens in the demo, and when: decided by the seed before anything starts."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

RATE_PER_S = 60.0
BURST = 50
BURST_AT = 0.45
RETRY_SHARE = 0.06
RETRY_LATE_S = (0.2, 2.0)
CRASH_AFTER_S = 0.15

_COUNTRIES = ("France", "Belgium", "Germany", "United States", "Canada", "Brazil", "Japan")
_SOURCES = ("Web", "Webinar", "Trade Show", "Partner")
_FIRST = ("Mia", "Noah", "Zoe", "Ali", "Ines", "Tom", "Yuki", "Sara", "Leo", "Nia")
_LAST = ("Martin", "Peeters", "Schmidt", "Jones", "Silva", "Tanaka", "Khan", "Okafor", "Rossi", "Lund")


@dataclass(frozen=True, slots=True)
class Post:
    """One form post: when, in seconds from the start, with which lead; `retry` says that a webhook sent it again."""

    at_s: float
    fields: dict[str, Any]
    retry: bool


@dataclass(frozen=True, slots=True)
class Story:
    """All posts in order of time, and the moment of the router's crash, in seconds from the start."""

    posts: tuple[Post, ...]
    crash_at_s: float


def tell(seed: int, leads: int) -> Story:
    """The story of `leads` posts: a steady stream with retried webhooks, a burst in one instant, a crash within it."""
    dice = random.Random(seed)
    retries = round(leads * RETRY_SHARE)
    burst = min(BURST, leads // 4)
    burst_at_s = BURST_AT * leads / RATE_PER_S
    times = sorted(dice.uniform(0, leads / RATE_PER_S) for _ in range(leads - retries - burst)) + [burst_at_s] * burst
    first = [Post(at_s, _lead(dice, number), retry=False) for number, at_s in enumerate(sorted(times), start=1)]
    again = [
        Post(post.at_s + dice.uniform(*RETRY_LATE_S), post.fields, retry=True) for post in dice.sample(first, retries)
    ]
    return Story(tuple(sorted(first + again, key=lambda post: post.at_s)), burst_at_s + CRASH_AFTER_S)


def _lead(dice: random.Random, number: int) -> dict[str, Any]:
    first, last = dice.choice(_FIRST), dice.choice(_LAST)
    return {
        "FirstName": first,
        "LastName": last,
        "Company": f"{last} {dice.choice(('GmbH', 'SA', 'Inc', 'Ltd'))}",
        "Email": f"{first}.{last}.{number}@buyer.example".lower(),
        "Country": dice.choice(_COUNTRIES),
        "LeadSource": dice.choice(_SOURCES),
        "AnnualRevenue": dice.choice((50_000, 200_000, 800_000, 1_500_000, 20_000_000)),
    }
