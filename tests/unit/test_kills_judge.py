"""The verdict on a router that was killed again and again can be a bad one."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.kills import Life
from benchmarks.kills_judge import holes, lost, off_share, resumed, twice
from support.verdict import Books

GROUP = {"Id": "g", "Turn__c": 3}
MEMBERS = [{"Id": name, "Group__c": "g", "Weight__c": 1, "Leads_Received__c": 1} for name in "abc"]


def books(*rows: tuple[str, int | None], owner: str = "005A") -> Books:
    """Three leads; of each ledger row the lead and the turn."""
    ledger = [{"Lead__c": lead, "Group__c": "g", "Turn__c": turn} for lead, turn in rows]
    return Books({lead: {"OwnerId": owner} for lead in "xyz"}, ledger, [GROUP], MEMBERS)


SOUND = books(("x", 1), ("y", 2), ("z", 3))


def life(started: float, ended: float) -> Life:
    return Life(0, "at work", started, ended, 137, unanswered=False)


def test_sound_books_have_nothing_to_count():
    """Three leads, three turns, three reps."""
    given = {lead: [1.0] for lead in "xyz"}
    assert (lost(SOUND, "xyz"), twice(SOUND, given), holes(SOUND), off_share(SOUND)) == (set(), set(), 0, 0.0)


@pytest.mark.parametrize(
    ("seen", "count"),
    [
        (books(("x", 1), ("y", 3)), 2 + 1),  # turn 2 is missing, and 3 is beyond; the group counts one more
        (books(("x", 1), ("y", 2), ("z", 2)), 1 + 1),
        (books(("x", 1), ("y", 2)), 1),
        (books(("x", 1), ("y", 2), ("z", None)), 1),
    ],
    ids=["hole", "repeat", "the group is ahead", "no turn"],
)
def test_each_fault_of_the_turns_is_counted(seen, count):
    """Turns are 1..n, each once, and as many as the group counts."""
    assert holes(seen) == count


def test_leads_without_owner_or_row_are_lost():
    """Either is missed."""
    assert lost(books(("x", 1), ("y", 2)), "xyz") == {"z"}
    assert lost(books(("x", 1), ("y", 2), ("z", 3), owner="00GA"), "xyz") == set("xyz")


def test_leads_with_two_rows_or_two_gifts_were_assigned_twice():
    """Either is seen, a second gift without a row too."""
    seen = books(("x", 1), ("x", 2), ("y", 3))
    assert twice(seen, {"x": [1.0], "y": [1.0, 2.0]}) == {"x", "y"}


def test_shares_are_told_in_leads():
    """Two leads more than a third of six."""
    rows: list[dict[str, Any]] = [
        {**one, "Leads_Received__c": got} for one, got in zip(MEMBERS, (4, 1, 1), strict=True)
    ]
    assert off_share(Books({}, [], [{**GROUP, "Turn__c": 6}], rows)) == 2.0


def test_an_outage_lasts_until_the_first_owner_whatever_lives_were_cut_short_in_it():
    """Lives that gave no owner have no time of their own, and are part of the outage that they stand in.

    What the org still carried out for a killed life is not the next one's.
    """
    lives = [life(0, 10), life(11, 12), life(13, 20), life(21, 30)]
    began = [1.0, float("inf"), 14.0, 22.0]
    assert resumed(lives, began, [2.0, 9.0, 13.5, 15.0, 24.0]) == ([2.0, 2.0, 3.0], [4.0, 5.0])
