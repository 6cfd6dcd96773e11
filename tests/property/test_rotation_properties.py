"""Rotation: fairness as bounds that no history breaks."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from lead_router.core.rotation import take_turn
from support.rotation_play import LETTERS, Play, differing, member, of_weights

SEEDS = st.integers(0, 2**32)
WEIGHTS = st.lists(st.integers(1, 100), min_size=2, max_size=12)
STRIDE_ROUNDING = Fraction(1, 10**5)  # strides are whole numbers: a few billionths of a lead per turn


@settings(max_examples=60, deadline=None)
@given(WEIGHTS, st.integers(1, 250))
def test_with_everyone_on_duty_no_share_is_off_by_a_whole_lead(weights, leads):
    """P19, P26: after every single lead, each member is within one lead of the exact share."""
    play, got, total = Play(take_turn, of_weights(*weights)), Counter(), sum(weights)
    for number in range(1, leads + 1):
        got[play.lead()] += 1
        for name, weight in zip(LETTERS, weights, strict=False):
            assert abs(got[name] - Fraction(number * weight, total)) < 1


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.lists(st.integers(1, 20), min_size=3, max_size=6), st.integers(1, 120))
def test_two_who_are_always_there_never_drift_apart(seed, weights, leads):
    """A and B, always on duty and able for every lead: within 1/wA + 1/wB leads per weight, whatever others do.

    Able for the same part of the leads is not enough: where that part is less than their weights ask for, both fall
    behind, and being owed at most two turns each costs the heavier one more.
    """
    names, got = LETTERS[: len(weights)], Counter()
    play = Play(take_turn, of_weights(*weights))
    dice = Random(seed)
    for _ in range(leads):
        duty = {"A", "B"} | {name for name in names[2:] if dice.random() < 0.6}
        able = {"A", "B"} | {name for name in names[2:] if dice.random() < 0.7}
        got[play.lead(duty, able)] += 1
        apart = abs(Fraction(got["A"], weights[0]) - Fraction(got["B"], weights[1]))
        assert apart <= Fraction(1, weights[0]) + Fraction(1, weights[1]) + STRIDE_ROUNDING


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.integers(1, 10), st.integers(1, 200))
def test_a_part_timer_never_gets_more_than_a_full_timer(seed, weight, leads):
    """D11, P1: A comes and goes; B of the same weight, always there, has at least as many, but for one lead."""
    play, got = Play(take_turn, of_weights(weight, weight, 3)), Counter()
    dice = Random(seed)
    there = True
    for _ in range(leads):
        there ^= dice.random() < 0.15
        got[play.lead({"A", "B", "C"} if there else {"B", "C"})] += 1
        assert got["A"] <= got["B"] + 1


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**9))
def test_the_rule_is_the_rule_as_restated(seed):
    """Random weights, duty and eligibility: picks, turns and clocks are those of an independent statement."""
    assert differing(take_turn, [seed]) == []


@settings(max_examples=30, deadline=None)
@given(WEIGHTS, st.integers(1, 60))
def test_every_turn_is_numbered_once_and_places_only_grow(weights, leads):
    """Turns are 1…n without hole; clock and next turns never fall; a double carries them exactly."""
    play = Play(take_turn, of_weights(*weights))
    for number in range(1, leads + 1):
        before = play.group
        picked = play.lead()
        assert play.group.turn == number
        assert play.group.clock >= before.clock
        places = {one.id: one.next_turn for one in play.group.members}
        assert (places[picked] or 0) > (next(one.next_turn for one in before.members if one.id == picked) or 0)
        assert max(place or 0 for place in places.values()) < 2**53


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.integers(2, 7), st.integers(0, 20))
def test_whoever_leaves_or_comes_the_others_keep_their_order(seed, size, more):
    """D8, P7, P8: some are removed, some come, all are sorted anew: those who stay go on behind the last one picked."""
    dice, names = Random(seed), LETTERS[:size]
    play = Play(take_turn, of_weights(*(1,) * size))
    last = play.leads(size + more)[-1]
    stay = set(dice.sample(names, dice.randint(1, size)))
    kept = [replace(one, sort_order=dice.randint(0, 9)) for one in play.group.members if one.id in stay]
    come = [member(name, sort_order=dice.randint(-9, 9)) for name in "XYZ"[: dice.randint(0, 3)]]
    play.group = replace(play.group, members=tuple(dice.sample([*kept, *come], len(kept) + len(come))))
    behind = names[names.index(last) + 1 :] + names[: names.index(last) + 1]
    given = play.leads(2 * len(play.group.members))
    assert "".join(one for one in given if one in stay) == "".join(one for one in behind if one in stay) * 2
