"""What a race is judged by: shares, owners, turns and the order of commits."""

from __future__ import annotations

import pytest

from benchmarks.chart import Bars, bars
from benchmarks.race import measured
from benchmarks.race_judge import Given, judged
from benchmarks.race_report import LOCKLESS, ROUTER, groups, table

REPS = ("A", "B", "C")


def race(order: str, turns: list[int | None] | None = None, leads: list[str] | None = None) -> list[Given]:
    """One lead per letter, a second apart."""
    numbers = turns or list(range(1, len(order) + 1))
    names = leads or [f"lead {place}" for place in range(len(order))]
    return [
        Given(name, rep, turn, float(place))
        for place, (rep, turn, name) in enumerate(zip(order, numbers, names, strict=True), start=1)
    ]


def test_a_rotation_is_even():
    """Nobody out of turn, nobody ahead by more than one; waits by nearest rank."""
    seen = judged(race("BCABCA"), REPS, 6)

    assert seen.even
    assert (seen.least, seen.most, seen.out_of_turn, seen.run, seen.apart) == (2, 2, 0, 1, 1)
    assert (seen.p50_ms, seen.p99_ms, seen.rate) == (3000, 6000, 1.0)


def test_what_is_left_over_may_go_to_anybody():
    """Seven leads on three reps."""
    assert judged(race("ABCABCA"), REPS, 7).even


@pytest.mark.parametrize(
    ("given", "leads", "what", "count"),
    [
        (race("ABCACB"), 6, "out_of_turn", 1),
        (race("AAABBBCCC"), 9, "run", 3),
        (race("AAABBBCCC"), 9, "apart", 3),
        (race("ABC", leads=["1", "1", "2"]), 2, "twice", 1),
        (race("ABC", turns=[1, 1, 2]), 3, "shared", 1),
        (race("ABC", turns=[1, 2, 4]), 3, "unused", 1),
    ],
)
def test_what_goes_wrong_is_counted(given, leads, what, count):
    """Each kind by itself."""
    assert getattr(judged(given, REPS, leads), what) == count


@pytest.mark.parametrize(
    ("given", "leads"),
    [
        (race("AAB"), 3),
        (race("ABC"), 4),
        (race("ABCA", leads=["1", "2", "3", "3"]), 3),
        (race("ABC", turns=[1, 1, 2]), 3),
        (race("ABC", turns=[1, 3, 4]), 3),
    ],
)
def test_a_race_that_went_wrong_is_not_even(given, leads):
    """Unlike shares, a lead without an owner or with two, a turn shared or unused."""
    assert not judged(given, REPS, leads).even


def test_more_runs_make_no_miss_good():
    """All of them must be even, not as many as were asked for."""
    good, bad = judged(race("ABCABC"), REPS, 6), judged(race("AAABBC"), REPS, 6)
    seen = {6: {LOCKLESS: [bad]}}

    assert measured([good] * 200, seen).reached
    assert not measured([good] * 200 + [bad], seen).reached
    assert not measured([good] * 199, seen).reached


def test_a_way_without_turns_is_judged_by_its_order():
    """There is nothing to share or to leave out."""
    seen = judged(race("ABCB", turns=[None] * 4), REPS, 4, tries=5)

    assert (seen.shared, seen.unused, seen.out_of_turn, seen.tries) == (0, 0, 1, 5)


def test_the_table_tells_the_worst_of_several_races():
    """And says so, and what is counted for a rep; the chart has a bar for each way, of a length that fits."""
    good, bad = judged(race("ABCABC"), REPS, 6), judged(race("AAABBC"), REPS, 6)
    by = {LOCKLESS: [good, bad], ROUTER: [good, good]}

    lines = table(6, by).splitlines()

    assert "2 races of each way: the worst of them in each column" in lines[0]
    assert "a lead given twice counts twice" in lines[0]
    assert "assignments per rep" in lines[2]
    assert [cell.strip() for cell in lines[4].split("|")[2:9]] == ["6", "1 to 3", "0", "0", "0", "3", "3"]
    picture = bars("six leads", [*groups(by), Bars("nothing", [("none", 0.0, "0")])])
    assert (picture.count("<rect"), picture.count(LOCKLESS)) == (1 + 7, 3)
