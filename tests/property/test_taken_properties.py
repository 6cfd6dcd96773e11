"""Leads taken by hand and counted: what they may add to the bounds of the rotation, and that it makes up for them."""

from __future__ import annotations

from collections import Counter
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from lead_router.core.rotation import take_turn
from lead_router.core.taken import by_hand
from support.rotation_play import LETTERS, Play, of_weights

SEEDS = st.integers(0, 2**32)


def take(play: Play, name: str, duty: set[str]) -> None:
    member = next(one for one in play.group.members if one.id == name)
    turn = by_hand(play.group, duty, member)
    assert (turn.before, turn.member.id, turn.number) == (play.group, name, play.group.turn + 1)
    assert turn.group.clock >= play.group.clock
    play.group = turn.group


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.integers(1, 20), st.lists(st.integers(1, 20), max_size=4), st.integers(1, 100), st.floats(0, 0.6))
def test_each_lead_taken_by_hand_parts_two_of_one_weight_by_at_most_one(seed, weight, others, leads, share):
    """P19: A and B, always on duty, all leads counted: two apart, as without, and one more for each that anyone took.

    Of different weights no such bound holds: as with leads that only one member may have, whoever falls behind is owed
    at most two turns, which costs the heavier one more.
    """
    weights = (weight, weight, *others)
    names, got, took = LETTERS[: len(weights)], Counter(), 0
    play, dice = Play(take_turn, of_weights(*weights)), Random(seed)
    for _ in range(leads):
        duty = {"A", "B"} | {name for name in names[2:] if dice.random() < 0.6}
        if dice.random() < share:
            name = dice.choice(names)
            take(play, name, duty)
            took += 1
        else:
            name = play.lead(duty)
        got[name] += 1
        assert abs(got["A"] - got["B"]) <= 2 + took


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 8), st.integers(0, 40), st.data())
def test_who_took_leads_waits_until_the_others_have_as_many(members, rounds, draw):
    """P19: among `n` of equal weight that stand even, who takes `k ≤ n` by hand gets none of the next k·(n - 1)."""
    names = LETTERS[:members]
    play = Play(take_turn, of_weights(*(1 for _ in names)))
    play.leads(rounds * members)
    taker, count = draw.draw(st.sampled_from(names)), draw.draw(st.integers(1, members))
    for _ in range(count):
        take(play, taker, set(names))

    assert Counter(play.leads(count * (members - 1))) == {name: count for name in names if name != taker}
    assert Counter(play.leads(members)) == dict.fromkeys(names, 1)


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.integers(2, 6), st.integers(1, 60), st.integers(1, 20))
def test_what_is_taken_off_duty_moves_nobody_else(seed, members, leads, count):
    """Places of the others and the clock stay, whoever else is on duty; back on duty, the taker comes last."""
    names = LETTERS[:members]
    play = Play(take_turn, of_weights(*(1 for _ in names)))
    play.leads(leads)
    before, dice = play.group, Random(seed)
    taker = dice.choice(names)
    for _ in range(count):
        take(play, taker, {name for name in names if name != taker and dice.random() < 0.5})

    assert play.group.clock == before.clock
    assert [one for one in play.group.members if one.id != taker] == [one for one in before.members if one.id != taker]
    assert taker not in play.leads(members - 1)
