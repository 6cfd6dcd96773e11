"""Doubles: a machine gives a lead to one rep and, within minutes, a machine gives it to another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from lead_router.audit.judging.roles import Given, Roles
from lead_router.audit.past import Story

WITHIN_S = 600.0
BUYER_WITHIN_S = 86_400.0
BUYER_LEADS_MAX = 5  # leads that share an address; more is a switchboard or a test, not a buyer

RULE = (
    f"A double is a lead that came to two different reps within {WITHIN_S / 60:.0f} minutes, the second time by a "
    "machine's write (or one whose writer is not told). A rep who takes a lead, hands it on or is given it by a "
    "person is not counted; nor is a lead that a rep created and a machine then gave away."
)


@dataclass(frozen=True, slots=True)
class Double:
    """A lead with two owners within minutes, `apart_s` seconds apart, and who wrote each."""

    lead: str
    at: float
    apart_s: float
    one: str
    other: str
    one_by: str
    other_by: str


@dataclass(frozen=True, slots=True)
class Twin:
    """Two lead records of one buyer that different reps have; `apart_s` between their creations."""

    lead: str
    twin: str
    at: float
    apart_s: float
    owner: str
    twin_owner: str
    by: str
    """What they share: `e-mail` or `telephone`."""


def doubles(given: Iterable[Sequence[Given]], known: Roles) -> list[Double]:
    """At most one of each lead, its first; `given` holds the handovers of each lead."""
    found = (next((one for pair in pairwise(each) if (one := _double(*pair, known))), None) for each in given)
    return sorted((one for one in found if one is not None), key=lambda one: (one.at, one.lead))


def _double(one: Given, other: Given, known: Roles) -> Double | None:
    apart = other.at - one.at
    own = one.made and one.owner == one.by  # who creates a lead has it until someone says whose it is
    if apart > WITHIN_S or own or (other.by and other.by not in known.machines):
        return None
    return Double(one.story.id, other.at, apart, one.owner, other.owner, one.by, other.by)


def pairs(found: Iterable[Double]) -> list[tuple[tuple[str, str], int]]:
    """How often the same two writers, the most often first."""
    return Counter((one.one_by, one.other_by) for one in found).most_common()


def twins(stories: Iterable[tuple[Story, str]]) -> list[Twin]:
    """Each record with the one before it of the same buyer, if different reps were given them.

    `stories` come by creation, each with the first rep who had the lead, "" for none.
    """
    kinds = ("e-mail", "telephone")
    last: list[dict[int, tuple[Story, str]]] = [{}, {}]
    shared: list[Counter[int]] = [Counter(), Counter()]
    found: list[tuple[Twin, int, int]] = []
    for story, owner in stories:
        seen = False
        for kind, address in enumerate(story.buyer):
            if not address:
                continue
            shared[kind][address] += 1
            before = last[kind].get(address)
            last[kind][address] = (story, owner)
            if before is None or seen or not owner or not before[1] or before[1] == owner:
                continue
            apart = story.created - before[0].created
            if apart <= BUYER_WITHIN_S:
                seen = True
                twin = Twin(before[0].id, story.id, story.created, apart, before[1], owner, kinds[kind])
                found.append((twin, kind, address))
    return [twin for twin, kind, address in found if shared[kind][address] <= BUYER_LEADS_MAX]
