"""Rotation: what joiners, leave, backups, months and groups of other sizes do to the shares of those who stay."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from lead_router.core.decide import batches, decide
from lead_router.core.model import Ask, Assign, ToGroup
from lead_router.core.rotation import take_turn
from support.decide_scene import ask, configuration, lead, lead_id, pool, rep, rule, snapshot, user
from support.rotation_play import Play, member, of_weights, sequence

MIDNIGHT = datetime(2026, 4, 1, tzinfo=UTC)
TWO_GROUPS = configuration(rule("asia", 1, "Country = 'JP'", ToGroup("g2")), rule("rest", 2))


def owners(decisions) -> Counter[str]:
    return Counter(one.turn.member.name for one in decisions if isinstance(one, Assign) and one.turn)


@pytest.mark.parametrize(("size", "before", "leads", "each"), [(2, 1000, 30, 10), (4, 200, 10, 2)])
def test_a_joiner_gets_an_equal_share_from_the_first_day(size, before, leads, each):
    """D10, P2: others have 500, or 50, each; of the next leads the joiner gets as many as anyone, never two running."""
    play = Play(take_turn, of_weights(*(1,) * size))
    play.leads(before)
    play.group = replace(play.group, members=(*play.group.members, member("Z")))
    given = play.leads(leads)
    assert set(Counter(given).values()) == {each}
    assert "ZZ" not in given


def test_heavy_weights_are_interleaved_to_the_lead():
    """D14, P17: 21 to 11: of 32 leads 21 and 11, and nobody more than twice running."""
    turns = sequence(take_turn, (21, 11), 64)
    assert Counter(turns[:32]) == Counter(turns[32:]) == {"A": 21, "B": 11}
    assert "AAA" not in turns
    assert "BB" not in turns


def test_a_leave_leaves_no_echo():
    """P4: after it, every four leads are one each, for as long as two thousand leads: no gap comes round again."""
    play = Play(take_turn, of_weights(1, 1, 1, 1))
    play.leads(400)
    play.leads(90, duty="ABC")
    back = play.leads(2000)
    assert {frozenset(back[at : at + 4]) for at in range(0, len(back), 4)} == {frozenset("ABCD")}


def test_a_backup_of_three_absent_members_has_an_equal_share():
    """P11: B and E alone are there: the turns of the others are skipped, and not B's; back, they share with B alike."""
    play = Play(take_turn, of_weights(1, 1, 1, 1, 1))
    play.leads(5)
    assert Counter(play.leads(40, duty="BE")) == {"B": 20, "E": 20}
    back = play.leads(40)
    assert set(Counter(back).values()) == {8}


def test_a_fallback_group_takes_leads_of_others_in_turn():
    """P11: leads of a group that is away are turns of the backup group: no member of it gets more than another."""
    groups = [pool("emea", [rep(name, active=False) for name in "KLM"], fallback_group="g2"), pool("apac", "BX")]
    leads = [lead(number, Country="JP" if number % 2 else "DE") for number in range(40)]
    decisions = decide(TWO_GROUPS, snapshot(leads, groups), [ask(number) for number in range(40)])
    assert owners(decisions) == {"B": 20, "X": 20}
    assert [one.turn.number for one in decisions] == list(range(1, 41))


def test_the_unit_of_a_share_is_the_member_within_the_group():
    """P22: as many leads for a group of 2 as for one of 20: equal within each, ten times as many per person in one.

    A user in both takes turns in both: a share is a membership's, and one who is to have one share is in one group.
    """
    twenty = [rep("ABCDEFGHIJKLMNOPQRST"[number], id=f"m{number:02d}") for number in range(20)]
    groups = [pool("emea", [rep("A"), rep("B")]), pool("apac", twenty)]
    leads = [lead(number, Country="JP" if number % 2 else "DE") for number in range(80)]
    decisions = decide(TWO_GROUPS, snapshot(leads, groups), [ask(number) for number in range(80)])
    shares = {key: owners(one for one in decisions if one.group_id == key) for key in ("g1", "g2")}
    assert shares["g1"] == {"A": 20, "B": 20}
    assert set(shares["g2"].values()) == {2}
    assert len(shares["g2"]) == 20
    assert Counter(one.owner_id for one in decisions)[user("A")] == 22


def test_the_turn_of_the_month_interrupts_no_rotation():
    """P5: a lead a minute over midnight of the 1st, some in flight: each once, in the strict cycle, without a burst.

    The counts of both days add up to all of them.
    """
    group = pool("emea", [rep(name, daily_cap=50) for name in "ABC"])
    given, days = "", Counter()
    start = MIDNIGHT - timedelta(minutes=20)
    for number in range(0, 40, 2):  # two leads are in each batch
        now = start + timedelta(minutes=number + 1)
        asks = [Ask(n, f"job-{n}", lead_id(n), start + timedelta(minutes=n)) for n in (number, number + 1)]
        seen = replace(snapshot([lead(number), lead(number + 1)], [group]), taken_at=now)
        (batch,) = batches(decide(configuration(), seen, asks))
        given += "".join(one.turn.member.name for one in batch.writes)
        days.update(one.turn.member.day for one in batch.writes)
        group = batch.after
    assert given == ("ABC" * 14)[:40]
    assert days == {"2026-03-31": 20, "2026-04-01": 20}
    assert sum(one.day_count for one in group.members) == 20
