"""Tables: each row a roster's state, whom it picks, and the rotation afterwards."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest

from lead_router.core.decide import batches, decide
from lead_router.core.hours import windows
from lead_router.core.model import Absence, Assign, Hold, Hours, ToGroup
from lead_router.core.rotation import in_order
from support.decide_scene import NOW, ask, configuration, lead, pool, rep, row, rule, snapshot, user

S = 1_000_000_000
ALWAYS = (windows(0, 0),) * 7
SHUT = Hours("shut", "shut", "UTC", ((),) * 7)
OPEN = Hours("open", "open", "UTC", ALWAYS)
SETTINGS = configuration(
    hours={"shut": SHUT, "open": OPEN},
    absences={
        user("H"): (Absence(user("H"), NOW - timedelta(hours=1), NOW + timedelta(hours=1)),),
        user("E"): (Absence(user("E"), NOW - timedelta(hours=1), NOW),),
    },
)
TODAY = {"day": "2026-03-04"}


def at(name: str, next_turn: int | None, last_turn: int | None, **changes):
    return rep(name, next_turn=next_turn, last_turn=last_turn, **changes)


# Each row: members, the group's clock; then who is picked, the picked one's next turn, the clock, and all in order.
ROSTERS = {
    "newcomers, by id": (["A", "B", "C"], 0, "A", S, 0, "BCA"),
    "sort order before id": ([rep("A", sort_order=2), rep("B", sort_order=1)], 0, "B", S, 0, "AB"),
    "earliest deadline": ([at("A", S, 1), at("B", 0, None)], 0, "B", S, 0, "AB"),
    "weight first at equal places": ([rep("A"), rep("B", weight=5)], 0, "B", S // 5, 0, "BA"),
    "longest since the own turn": ([at("A", S, 2), at("B", S, 1)], S, "B", 2 * S, S, "AB"),
    "a newcomer after who had turns": ([at("A", S, 1), at("B", None, None)], S, "A", 2 * S, S, "BA"),
    "the clock follows the duty": ([at("A", 9 * S, 8), at("B", 9 * S, 9)], 3 * S, "A", 10 * S, 9 * S, "BA"),
    "owed at most two turns": ([at("A", 9 * S, 8), at("B", 9 * S, 9), at("C", 0, 1)], 0, "C", 5 * S, 4 * S, "CAB"),
    "paused by weight 0": ([at("A", 0, 1, weight=0), at("B", S, 2)], 0, "B", 2 * S, S, "BA"),
    "inactive member": ([rep("A", active=False), at("B", S, 1)], 0, "B", 2 * S, S, "AB"),
    "inactive user": ([rep("A", user_active=False), at("B", S, 1)], 0, "B", 2 * S, S, "AB"),
    "frozen user": ([rep("A", frozen=True), at("B", S, 1)], 0, "B", 2 * S, S, "AB"),
    "absent": ([rep("H"), at("I", S, 1)], 0, "I", 2 * S, S, "HI"),
    "absence just over": ([rep("E"), at("I", S, 1)], 0, "E", S, 0, "IE"),
    "outside own hours": ([rep("A", hours_id="shut"), at("B", S, 1)], 0, "B", 2 * S, S, "AB"),
    "within own hours": ([rep("A", hours_id="open"), at("B", S, 1)], 0, "A", S, 0, "BA"),
    "at the daily cap": ([rep("A", daily_cap=2, day_count=2, **TODAY), at("B", S, 1)], 0, "B", 2 * S, S, "AB"),
    "the cap was yesterday's": (
        [rep("A", daily_cap=2, day_count=2, day="2026-03-03"), at("B", S, 1)],
        0,
        "A",
        S,
        0,
        "BA",
    ),
    "does not accept it": ([rep("A", accepts="Country = 'FR'"), at("B", S, 1)], 0, "B", 2 * S, 0, "AB"),
    "cannot read leads": ([rep("A", reads_leads=False), at("B", S, 1)], 0, "B", 2 * S, 0, "AB"),
    "first of five is gone": (
        [at("B", S, 2), at("C", S, 3), at("D", 0, None), at("E", 0, None)],
        0,
        "D",
        S,
        0,
        "EBCD",
    ),
}


@pytest.mark.parametrize("name", ROSTERS)
def test_this_roster_picks_this_member_and_stands_so_afterwards(name):
    """D4, D8, D11, D13, D16, P1, P7, P16, P17, P50, P52: only the picked one and the group move."""
    members, clock, picked, next_turn, clock_after, order = ROSTERS[name]
    group = pool("emea", members, clock=clock, turn=9)
    (decision,) = decide(SETTINGS, snapshot([lead(1, Country="DE")], [group]), [ask(1)])
    assert isinstance(decision, Assign)
    turn = decision.turn
    assert (turn.member.name, turn.member.next_turn, turn.group.clock) == (picked, next_turn, clock_after)
    assert (turn.number, turn.group.turn, turn.member.last_turn) == (10, 10, 10)
    assert "".join(one.name for one in in_order(turn.group)) == order
    others = [one for one in turn.group.members if one.name != picked]
    assert others == [one for one in group.members if one.name != picked]


NOBODY = {
    "no members": [],
    "all weights 0": [rep("A", weight=0), rep("B", weight=0)],
    "all away": [rep("H"), rep("A", hours_id="shut")],
    "all full": [rep("A", daily_cap=1, day_count=1, **TODAY), rep("B", open_cap=0)],
    "none accepts it": [rep("A", accepts="Country = 'FR'")],
}


@pytest.mark.parametrize("name", NOBODY)
def test_this_roster_picks_nobody_and_stands_as_before(name):
    """D4, D13, D16: the lead is held, no turn is used, and nothing is written."""
    decisions = decide(SETTINGS, snapshot([lead(1, Country="DE")], [pool("emea", NOBODY[name])]), [ask(1)])
    assert isinstance(decisions[0], Hold)
    assert batches(decisions) == []


def test_who_does_not_work_on_leads_gets_no_more_and_no_fewer():
    """D26: B opens none of his leads; the rotation counts leads given, and 9 of three members are 3 each."""
    seen = snapshot([lead(n) for n in range(9)], [pool("emea", "ABC")], open_leads={user("B"): 90})
    assert set(Counter(one.owner_id for one in decide(configuration(), seen, [ask(n) for n in range(9)])).values()) == {
        3
    }


def test_rows_of_history_move_no_cursor():
    """P13, P14: ledger rows of other leads, whoever owns them now, are not what the rotation is told by."""
    group = pool("emea", [at("A", S, 1), at("B", 0, None)], turn=1)
    rows = [row(number, user("B"), group_id="g1") for number in range(50, 60)]
    (decision,) = decide(configuration(), snapshot([lead(1)], [group], rows), [ask(1)])
    assert (decision.owner_id, decision.turn.number) == (user("B"), 2)


def test_leads_of_others_move_no_cursor():
    """P23: every third lead is the group's; its turns are shared among its members alike, whatever comes between."""
    settings = configuration(rule("asia", 1, "Country = 'JP'", ToGroup("g2")), rule("all", 2))
    leads = [lead(n, Country="JP" if n % 3 == 0 else "DE") for n in range(27)]
    seen = snapshot(leads, [pool("emea", "AB"), pool("apac", "XYZ")])
    decisions = decide(settings, seen, [ask(n) for n in range(27)])
    assert "".join(one.turn.member.name for one in decisions if one.group_id == "g2") == "XYZXYZXYZ"


@pytest.mark.parametrize(("minutes", "expected"), [(-1, "hold"), (0, "given")])
def test_the_count_of_a_day_ends_with_the_last_of_the_month(minutes, expected):
    """P5: at midnight of the 1st the cap is free again, at the instant and not before, and the rotation goes on."""
    midnight = datetime(2026, 4, 1, tzinfo=UTC)
    full = at("A", 7 * S, 7, daily_cap=7, day="2026-03-31", day_count=7)
    seen = snapshot([lead(1)], [pool("emea", [full], turn=7, clock=6 * S)])
    moved = type(seen)(midnight + timedelta(minutes=minutes), seen.groups, seen.leads, ())
    (decision,) = decide(configuration(), moved, [ask(1)])
    if expected == "hold":
        assert decision.until == midnight
    else:
        assert (decision.turn.number, decision.turn.member.day, decision.turn.member.day_count) == (8, "2026-04-01", 1)
