"""Plays histories on a rotation, checks it against DESIGN section 5's sequences, and restates the rule in fractions."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from math import floor
from typing import Any

from lead_router.core.model import Group, Member, Mode, Turn

TakeTurn = Callable[[Group, Collection[str], Collection[str]], Turn | None]
LETTERS = "ABCDEFGHIJKL"


def member(name: str, weight: int = 1, sort_order: int = 0, **changes: Any) -> Member:
    """A member on duty, whose id is its name."""
    fields = {"active": True, "user_active": True, "next_turn": None, "last_turn": None} | changes
    return Member(id=name, user_id=f"005{name}", name=name, weight=weight, sort_order=sort_order, **fields)


def group(*members: Member, **changes: Any) -> Group:
    """A live group at its very beginning."""
    fields = {"mode": Mode.LIVE, "epoch": 0, "turn": 0, "clock": 0, "fallback_queue": None} | changes
    return Group(id="g", key="g", name="g", members=members, **fields)


def of_weights(*weights: int) -> Group:
    """Members A, B, C… with these weights."""
    return group(*(member(name, weight) for name, weight in zip(LETTERS, weights, strict=False)))


class Play:
    """One group's history: `leads` adds turns and answers who got them, `-` for nobody."""

    def __init__(self, take_turn: TakeTurn, start: Group) -> None:
        self.take_turn = take_turn
        self.group = start

    def lead(self, duty: Iterable[str] | None = None, eligible: Iterable[str] | None = None) -> str:
        on = set(duty if duty is not None else (one.id for one in self.group.members))
        turn = self.take_turn(self.group, on, on if eligible is None else on & set(eligible))
        if turn is None:
            return "-"
        assert turn.before == self.group
        assert turn.number == self.group.turn + 1 == turn.group.turn
        assert turn.member in turn.group.members
        self.group = turn.group
        return turn.member.id

    def leads(self, count: int, duty: Iterable[str] | None = None, eligible: Iterable[str] | None = None) -> str:
        return "".join(self.lead(duty, eligible) for _ in range(count))


def sequence(take_turn: TakeTurn, weights: Sequence[int], count: int) -> str:
    """Who gets the first leads when all are on duty."""
    return Play(take_turn, of_weights(*weights)).leads(count)


def away_and_back(take_turn: TakeTurn) -> tuple[str, str]:
    play = Play(take_turn, of_weights(1, 1, 1, 1))
    return play.leads(3, duty="ACD"), play.leads(8)


def newcomer(take_turn: TakeTurn) -> str:
    play = Play(take_turn, of_weights(1, 1))
    play.leads(1001)
    play.group = replace(play.group, members=(*play.group.members, member("C")))
    return play.leads(6)


def not_eligible_and_back(take_turn: TakeTurn) -> str:
    play = Play(take_turn, of_weights(1, 1, 1))
    play.leads(30, eligible="AC")
    return play.leads(12)


def specialist(take_turn: TakeTurn) -> Counter[str]:
    play = Play(take_turn, of_weights(1, 1, 1))
    return Counter(play.lead(eligible="C" if number % 2 else None) for number in range(3000))


def ties(take_turn: TakeTurn) -> str:
    """Equal in all but one: sort order before id, id last."""
    by_sort = Play(take_turn, group(member("A", sort_order=2), member("B", sort_order=1), member("D"), member("C")))
    return by_sort.leads(4)


def at_the_mean(take_turn: TakeTurn) -> str:
    """B stands exactly at the weighted mean of all three, with the earliest deadline."""
    places = (("A", 1, 0), ("B", 2, 250_000_000), ("C", 1, 500_000_000))
    return Play(take_turn, group(*(member(name, weight, next_turn=place) for name, weight, place in places))).lead()


def golden(take_turn: TakeTurn) -> dict[str, tuple[object, object]]:
    """Name to (expected, got), for every sequence that DESIGN section 5 gives, and for ties."""
    many = Counter(sequence(take_turn, (18, 18, 32, 32), 50))
    return {
        "5,1,1": ("ABAACAAABAACAA", sequence(take_turn, (5, 1, 1), 14)),
        "1,1,1": ("ABCABCABC", sequence(take_turn, (1, 1, 1), 9)),
        "3,2,1": ("ABACABABACAB", sequence(take_turn, (3, 2, 1), 12)),
        "18,18,32,32": ({"A": 9, "B": 9, "C": 16, "D": 16}, dict(many)),
        "away and back": (("ACD", "BACDBACD"), away_and_back(take_turn)),
        "newcomer": ("BCABCA", newcomer(take_turn)),
        "not eligible and back": ("BBBBACBACBAC", not_eligible_and_back(take_turn)),
        "specialist": ({"A": 750, "B": 750, "C": 1500}, dict(specialist(take_turn))),
        "ties": ("CDBA", ties(take_turn)),
        "at the mean": ("B", at_the_mean(take_turn)),
    }


class Restated:
    """The rule again, from DESIGN's text, with fractions and one table of places; keeps its own state."""

    def __init__(self, weights: Sequence[int]) -> None:
        self.weights = dict(zip(LETTERS, weights, strict=False))
        self.place: dict[str, int] = {}
        self.own: dict[str, int] = {}
        self.clock = 0
        self.turn = 0

    def lead(self, duty: Collection[str], eligible: Collection[str]) -> str:
        weights = {name: weight for name, weight in self.weights.items() if weight > 0 and name in duty}
        if not weights.keys() & set(eligible):
            return "-"
        start = {name: max(self.place.get(name, self.clock), self.clock) for name in weights}
        mean = floor(Fraction(sum(weights[name] * start[name] for name in weights), sum(weights.values())))
        for name, weight in weights.items():
            start[name] = max(start[name], mean - 2 * (10**9 // weight))
        self.clock = min(start.values())  # never behind the clock: each start is at least the clock
        level = Fraction(sum(weights[name] * start[name] for name in weights), sum(weights.values()))
        able = sorted(name for name in weights if name in eligible)
        ready = [name for name in able if start[name] <= level]
        ready = ready or [name for name in able if start[name] == min(start[one] for one in able)]
        ready.sort(key=lambda name: self.own.get(name, 10**18))
        ready.sort(key=lambda name: start[name])
        ready.sort(key=lambda name: start[name] + 10**9 // weights[name])
        self.turn += 1
        self.place[ready[0]] = start[ready[0]] + 10**9 // weights[ready[0]]
        self.own[ready[0]] = self.turn
        return ready[0]


def differing(take_turn: TakeTurn, seeds: Iterable[int], leads: int = 60) -> list[int]:
    """The seeds of random histories (weights, duty, eligibility) in which the rotation and the restated rule differ."""
    return [seed for seed in seeds if not _agree(take_turn, random.Random(seed), leads)]


def _agree(take_turn: TakeTurn, dice: random.Random, leads: int) -> bool:
    weights = [dice.choice((0, 1, 1, 2, 3, 7, 100)) for _ in range(dice.randint(2, 6))]
    names = LETTERS[: len(weights)]
    play, restated = Play(take_turn, of_weights(*weights)), Restated(weights)
    duty = set(names)
    for _ in range(leads):
        duty ^= {dice.choice(names)} if dice.random() < 0.2 else set()
        eligible = {name for name in names if dice.random() < 0.8}
        if play.lead(duty, eligible) != restated.lead(duty, eligible):
            return False
        if play.group.clock != restated.clock or play.group.turn != restated.turn:
            return False
    return True
