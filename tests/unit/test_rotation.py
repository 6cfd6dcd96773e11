"""Rotation: the sequences that were promised, and what members coming, going and changing does to them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

import pytest

from lead_router.core.duty import Off, off_duty, on_duty
from lead_router.core.rotation import take_turn, who_is_next
from support.rotation_play import Play, golden, group, member, of_weights, sequence

GOLDEN = golden(take_turn)


@pytest.mark.parametrize("name", GOLDEN)
def test_the_promised_sequences_are_kept(name):
    """D14, D10, P2, P10, P17: the golden sequences of the design, turn by turn."""
    expected, got = GOLDEN[name]
    assert got == expected


def test_only_the_picked_member_and_the_group_change():
    """A turn moves one member's place, own turn and count, and the group's turn and clock; nothing else."""
    before = of_weights(1, 2)
    turn = take_turn(before, "AB", "AB")
    assert turn is not None
    picked = replace(before.members[1], next_turn=500_000_000, last_turn=1, leads_received=1)
    assert turn.member == picked
    assert turn.before is before
    assert turn.group == replace(before, turn=1, clock=0, members=(before.members[0], picked))


def test_a_group_without_anyone_gives_no_turn():
    """D4, D13: an empty group, all weights 0, nobody on duty, nobody eligible: no turn, no exception, nothing moves."""
    assert take_turn(group(), "A", "A") is None
    assert take_turn(of_weights(0, 0), "AB", "AB") is None
    assert take_turn(of_weights(1, 1), "", "AB") is None
    assert take_turn(of_weights(1, 1), "AB", "") is None
    assert take_turn(of_weights(1, 1), "A", "B") is None


def test_weight_zero_is_a_pause():
    """D13: weight 0 gets nothing, and the others go on."""
    assert sequence(take_turn, (0, 1), 3) == "BBB"


def test_the_order_of_rows_does_not_matter():
    """P16: the same members in a hundred orders give the same turns."""
    rows = list(of_weights(3, 1, 2, 1).members)
    dice = Random(1)
    plays = {Play(take_turn, group(*dice.sample(rows, len(rows)))).leads(14) for _ in range(100)}
    assert len(plays) == 1


def test_thirty_leads_at_once_are_ten_each():
    """D1, D2, P26: a burst of 30 for three is a strict cycle."""
    assert sequence(take_turn, (1, 1, 1), 30) == "ABC" * 10


@pytest.mark.parametrize("size", [4, 5, 6, 7])
def test_pools_of_any_size_get_equal_shares(size):
    """P10: pools of even and odd size alike."""
    assert set(Counter(sequence(take_turn, (1,) * size, size * 10)).values()) == {10}


def test_removing_a_member_moves_nobody_else():
    """D8, P7, P8: whoever is removed, also the last one picked, the next is next; a joiner does not jump the queue."""
    play = Play(take_turn, of_weights(1, 1, 1, 1, 1))
    assert play.leads(3) == "ABC"
    for gone in "ABC":
        rest = tuple(one for one in play.group.members if one.id != gone)
        assert Play(take_turn, replace(play.group, members=rest)).leads(2) == "DE"
    play.leads(5)
    joined = replace(play.group, members=(*play.group.members, member("F", sort_order=-1)))
    assert Play(take_turn, joined).leads(3) == "DEF"


def test_return_from_a_long_leave_brings_no_flood():
    """D11, P1, P4: after a thousand leads away, the returner comes next, and then shares as the others do."""
    play = Play(take_turn, of_weights(1, 1, 1, 1))
    play.leads(4)
    play.leads(1000, duty="ABC")
    back = play.leads(40)
    assert back[0] == "D"
    assert "DD" not in back
    assert Counter(back[:4]) == Counter("ABCD")
    assert Counter(back) == {"A": 10, "B": 10, "C": 10, "D": 10}


def test_a_new_weight_counts_from_now_on():
    """P20: a weight that changes in mid-cycle is not made up for backwards."""
    play = Play(take_turn, of_weights(1, 1))
    play.leads(100)
    first, second = play.group.members
    play.group = replace(play.group, members=(replace(first, weight=3), second))
    after = Counter(play.leads(40))
    assert abs(after["A"] - 30) <= 1


def test_one_far_ahead_who_comes_costs_the_heavier_of_those_it_joins():
    """A known limit of the rule, kept in sight: the bound 1/wA + 1/wB is for two who were there all the time.

    C alone could take 19 leads while D, heavy, stood still and held the clock; D leaves; A and B come anew. C's return
    lifts the mean, so A, owed most, is cut to two turns: five leads per weight apart, once. Then the shares are right.
    """
    play = Play(take_turn, of_weights(10, 1, 1, 10))
    play.leads(19, duty="CD", eligible="C")
    together = Counter(play.leads(3, duty="AB") + play.leads(24, duty="ABC"))
    assert together == {"A": 20, "B": 7}
    after = Counter(play.leads(240, duty="ABC"))
    assert abs(after["A"] / 10 - after["B"]) <= 1.1


def test_heavy_members_do_not_come_in_bursts():
    """D14, P17: weights 5,1,1: no run over three, and 5/1/1 in every seven."""
    turns = sequence(take_turn, (5, 1, 1), 70)
    assert "AAAA" not in turns
    assert all(Counter(turns[at : at + 7]) == {"A": 5, "B": 1, "C": 1} for at in range(0, 70, 7))


def test_who_is_next_is_what_happens_next():
    """Status tells the coming turns; members off duty are not among them."""
    start = group(member("A", 3), member("B"), member("C", user_active=False))
    told = "".join(one.id for one in who_is_next(start, 6))
    assert told == Play(take_turn, start).leads(6, duty="AB")
    assert who_is_next(group(member("A", 0)), 5) == ()


def test_duty_is_an_active_member_an_active_user_and_a_weight():
    """P50, D5: an inactive user is not on duty, and the reason is told."""
    reasons = {
        "A": None,
        "B": Off("member inactive", lasting=True),
        "C": Off("user inactive", lasting=True),
        "D": Off("paused: weight 0", lasting=True),
    }
    pool = group(member("A"), member("B", active=False), member("C", user_active=False), member("D", 0))
    assert {one.id: off_duty(one, pool) for one in pool.members} == reasons
    assert on_duty(pool) == {"A"}
