"""Decide: caps are exact within a batch, and who waits is never overtaken."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import timedelta

import pytest

from lead_router.core.decide import WAIT_RETRY_S, batches, decide
from lead_router.core.model import Assign, Follow, Hold, Mode, ToGroup, ToOwner
from support.decide_scene import INTAKE, NOW, ask, configuration, lead, lead_id, pool, rep, row, rule, snapshot, user


def decided(members, count, settings=None, **changes):
    """The decisions on that many leads at once."""
    seen = snapshot([lead(number) for number in range(count)], [pool("emea", members)], **changes)
    return decide(settings or configuration(), seen, [ask(number) for number in range(count)])


def owners(decisions) -> Counter[str]:
    return Counter(one.turn.member.name for one in decisions if isinstance(one, Assign) and one.turn)


def test_a_cap_of_five_takes_exactly_five_of_twenty_at_once():
    """P31: the counter moves with each turn of the batch, and is written with it."""
    decisions = decided([rep("A", daily_cap=5)], 20)
    assert owners(decisions) == {"A": 5}
    assert [type(one) for one in decisions] == [Assign] * 5 + [Hold] * 15
    (batch,) = batches(decisions)
    assert [(one.day, one.day_count) for one in batch.after.members] == [("2026-03-04", 5)]
    assert decisions[5].reason == "group 'emea': nobody can take it: A: cap 5/5 today"
    assert decisions[5].until == NOW.replace(hour=0) + timedelta(days=1)


def test_a_capped_member_leaves_the_rest_to_the_others():
    """The count of before the batch is gone on from; yesterday's is not."""
    members = [
        rep("A", daily_cap=5, day="2026-03-04", day_count=3),
        rep("B", daily_cap=4, day="2026-03-03", day_count=4),
    ]
    assert owners(decided([*members, "C"], 30)) == {"A": 2, "B": 4, "C": 24}


def test_open_leads_are_counted_on_within_a_batch():
    """Read once, and moved on by every lead given to the user: by turn, by name, or as a second of a submission."""
    assert owners(decided([rep("A", open_cap=5), "B"], 10, open_leads={user("A"): 3})) == {"A": 2, "B": 8}
    named = configuration(rule("vip", 1, "Country = 'VA'", ToOwner(user("A"), "A")), rule("all", 2))
    leads = [lead(0, Country="VA"), lead(1, "ann@example.com"), lead(2, "ann@example.com"), lead(3), lead(4)]
    seen = snapshot(leads, [pool("emea", [rep("A", open_cap=3), rep("B", sort_order=1)])])
    decisions = decide(named, seen, [ask(number) for number in range(5)])
    assert [one.owner_id for one in decisions] == [user("A")] * 3 + [user("B")] * 2
    assert isinstance(decisions[2], Follow)


def test_a_lead_by_name_counts_for_a_member_who_was_judged_before_it():
    """B takes the first turn while A is free; A then gets a lead by name, and is full for the third."""
    settings = configuration(rule("vip", 1, "Country = 'VA'", ToOwner(user("A"), "A")), rule("all", 2))
    members = [rep("A", open_cap=1, sort_order=1), rep("B")]
    seen = snapshot([lead(1), lead(2, Country="VA"), lead(3)], [pool("emea", members)])
    decisions = decide(settings, seen, [ask(1), ask(2), ask(3)])
    assert [one.owner_id for one in decisions] == [user("B"), user("A"), user("B")]


def test_an_open_lead_cap_is_the_users_in_all_groups():
    """Two groups, one user: what one gives counts in the other."""
    settings = configuration(rule("asia", 1, "Country = 'JP'", ToGroup("g2")), rule("all", 2))
    groups = [pool("emea", [rep("A", open_cap=1)]), pool("apac", [rep("A", id="a2", open_cap=1)])]
    seen = snapshot([lead(1), lead(2, Country="JP")], groups)
    assert [type(one) for one in decide(settings, seen, [ask(1), ask(2)])] == [Assign, Hold]


def at(number: int, minutes: float, key: str | None = None):
    """An ask of an event that many minutes before now."""
    return replace(ask(number, key=key), event_at=NOW - timedelta(minutes=minutes))


def test_the_oldest_event_is_decided_first_whatever_the_order_asked():
    """P68: one slot is free; it is the oldest's. Decisions come back as asked, turns are written in order."""
    seen = snapshot([lead(1), lead(2), lead(3)], [pool("emea", [rep("A", daily_cap=2)])])
    asks = [at(1, 1), at(2, 30), at(3, 20)]
    decisions = decide(configuration(), seen, asks)
    assert [one.ask for one in decisions] == asks
    assert [type(one) for one in decisions] == [Hold, Assign, Assign]
    (batch,) = batches(decisions)
    assert [write.lead.id for write in batch.writes] == [lead_id(2), lead_id(3)]
    reversed_asks = decide(configuration(), seen, [at(3, 20), at(1, 1), at(2, 30)])
    (batch,) = batches(reversed_asks)
    assert [write.turn.number for write in batch.writes] == [1, 2]
    assert batch.before.turn == 0
    assert batch.after.turn == 2


def behind(older, newer, members, settings=None, **changes):
    """The decision on lead 2, while lead 1 waits since an hour."""
    seen = snapshot([older, newer], [pool("emea", members)], waiting=(at(1, 60),), **changes)
    (decision,) = decide(settings or configuration(), seen, [at(2, 5)])
    return decision


def test_a_newer_lead_waits_behind_an_older_one_that_waits():
    """P68: a member is free again; the older lead has not asked yet, so the newer one stands back and names it."""
    decision = behind(lead(1), lead(2), "A")
    assert isinstance(decision, Hold)
    assert (decision.retry_s, decision.group_id, decision.behind) == (WAIT_RETRY_S, "g1", lead_id(1))
    assert decision.reason == "waits behind an older lead that A of group 'emea' could take"


FRENCH = [rep("A", accepts="Country = 'FR'"), rep("B", accepts="Country = 'DE'")]


@pytest.mark.parametrize(
    ("older", "newer", "changes"),
    [
        (lead(1, Country="FR"), lead(2, Country="DE"), {}),  # the older could not take B
        (lead(1, owner_id=user("C"), round=1), lead(2, Country="DE"), {}),  # it has an owner by now
        (lead(1, is_converted=True, Country="DE"), lead(2, Country="DE"), {}),
        (lead(1, Country="DE"), lead(2, Country="DE"), {"ledger": [row(1, INTAKE, assigned_to=user("B"))]}),  # had it
    ],
)
def test_who_could_not_take_that_member_holds_nobody_up(older, newer, changes):
    """P68: never overtaken, and never waited for in vain."""
    members = (
        FRENCH
        if "ledger" not in changes
        else [
            *FRENCH,
            rep("C", accepts="Country = 'FR' OR Country = 'DE'", active=True, next_turn=9_000_000_000, last_turn=1),
        ]
    )
    assert behind(older, newer, members, **changes).owner_id == user("B")


def test_a_lead_that_waits_for_another_group_holds_nobody_up():
    """Only leads that come to the same group stand in line; one whose rule names a person does not."""
    settings = configuration(
        rule("vip", 1, "Country = 'VA'", ToOwner(user("V"), "Vera")),
        rule("asia", 2, "Country = 'JP'", ToGroup("g2")),
        rule("all", 3),
    )
    for country in ("VA", "JP"):
        assert behind(lead(1, Country=country), lead(2), "A", settings).owner_id == user("A")


def test_a_lead_that_may_fall_back_on_a_group_stands_in_its_line():
    """The older one waits for two groups; whichever has someone first is its."""
    settings = configuration(rule("asia", 1, "Country = 'JP'", ToGroup("g2")), rule("all", 2))
    groups = [pool("emea", "A"), pool("apac", "", fallback_group="g1")]
    seen = snapshot([lead(1, Country="JP"), lead(2)], groups, waiting=(at(1, 60),))
    assert isinstance(decide(settings, seen, [at(2, 5)])[0], Hold)


@pytest.mark.parametrize("mode", [Mode.OFF, Mode.OBSERVE])
def test_a_lead_of_a_group_that_is_not_live_holds_nobody_up(mode):
    """It gets nobody, not even of the group behind its own, before a person turns the mode."""
    settings = configuration(rule("asia", 1, "Country = 'JP'", ToGroup("g2")), rule("all", 2))
    groups = [pool("emea", "A"), pool("apac", "B", mode=mode, fallback_group="g1")]
    seen = snapshot([lead(1, Country="JP"), lead(2)], groups, waiting=(at(1, 60),))
    assert isinstance(decide(settings, seen, [at(2, 5)])[0], Assign)


def test_an_older_lead_overtakes_a_newer_one_that_waits():
    """The line is by age: who came first is not held up by who came later."""
    seen = snapshot([lead(1), lead(2)], [pool("emea", "A")], waiting=(at(1, 60),))
    assert isinstance(decide(configuration(), seen, [at(2, 90)])[0], Assign)


def test_who_waits_in_the_batch_itself_is_its_own_turn():
    """A waiting lead that is asked for now needs no one to stand back: it is decided first."""
    for cap, expected in ((1, [Hold, Assign]), (2, [Assign, Assign])):
        seen = snapshot([lead(1), lead(2)], [pool("emea", [rep("A", daily_cap=cap)])], waiting=(at(1, 60),))
        decisions = decide(configuration(), seen, [at(2, 5), at(1, 60)])
        assert [type(one) for one in decisions] == expected


def test_a_lead_that_stands_back_holds_up_those_behind_it():
    """Three in line: the second could take B, and so the third does not, although the first could not."""
    members = [
        rep("A", accepts="Country = 'FR' OR Country = 'BE'"),
        rep("B", sort_order=1, accepts="Country = 'BE' OR Country = 'DE'"),
    ]
    leads = [lead(1, Country="FR"), lead(2, Country="BE"), lead(3, Country="DE")]
    seen = snapshot(leads, [pool("emea", members)], waiting=(at(1, 60),))
    second, third = decide(configuration(), seen, [at(2, 30), at(3, 5)])
    assert (second.behind, third.behind) == (lead_id(1), lead_id(2))
