"""Leads taken by hand: which of them use up a turn, whose, and where the rotation stands afterwards."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from lead_router.core.decide import batches, decide
from lead_router.core.explain import explain
from lead_router.core.keys import submission_of
from lead_router.core.model import (
    Absence,
    Assign,
    Cause,
    Count,
    Follow,
    Match,
    MatchBy,
    MatchOn,
    Mode,
    Reroute,
    Skip,
    Switch,
    ToGroup,
    ToMatched,
    ToOwner,
)
from lead_router.core.rollout import Rollout
from lead_router.core.rotation import in_order, who_is_next
from lead_router.salesforce.writes import compose
from support.decide_scene import INTAKE, NOW, ask, configuration, lead, pool, rep, row, rule, snapshot, user

S = 1_000_000_000
OWNED = "already owned"
AWAY = configuration(
    absences={user(name): (Absence(user(name), NOW - timedelta(hours=1), NOW + timedelta(hours=1)),) for name in "HI"}
)


def counting(members, **changes):
    return pool("emea", members, **({"counts_manual": True} | changes))


def at(name, next_turn, last_turn, **changes):
    return rep(name, next_turn=next_turn, last_turn=last_turn, **changes)


def of_intake(number=1, **changes):
    """A job that was made while the lead was in the intake queue."""
    return replace(ask(number), owner_before=INTAKE, **changes)


def decided(group, *, by="B", settings=None, asked=None, ledger=(), **changes):
    seen = snapshot([lead(1, owner_id=user(by), **changes)], [group], ledger)
    (decision,) = decide(settings or configuration(), seen, [asked or of_intake()])
    return decision


# Each row: members, clock, who took a lead; then the taker's next turn, the clock, and all in order afterwards.
ROSTERS = {
    "a newcomer": (["A", "B", "C"], 0, "B", S, 0, "ACB"),
    "out of turn": ([at("A", 0, None), at("B", S, 1)], 0, "B", 2 * S, 0, "AB"),
    "whose turn it was": ([at("A", S, 1), at("B", 0, None)], 0, "B", S, 0, "AB"),
    "by weight": ([at("A", S // 2, None), at("B", 0, None, weight=4)], 0, "B", S // 4, 0, "BA"),
    "the clock follows the duty": ([at("A", 9 * S, 8), at("B", 9 * S, 9)], 3 * S, "B", 10 * S, 9 * S, "AB"),
    "owed at most two turns": ([at("A", 9 * S, 8), at("C", 9 * S, 9), at("B", 0, 1)], 0, "B", 5 * S, 4 * S, "BAC"),
    "not eligible": ([at("A", 0, None), at("B", 0, None, accepts="Country = 'JP'")], 0, "B", S, 0, "AB"),
    "over the cap": ([at("A", S, 1), rep("B", daily_cap=1, day="2026-03-04", day_count=1)], 0, "B", S, 0, "AB"),
    "off duty, the clock stays": ([at("A", 9 * S, 8), at("H", S, 1)], 0, "H", 4 * S, 0, "HA"),
    "off duty, all alone": ([at("I", 5 * S, 5), at("H", 5 * S, 6)], 4 * S, "H", 6 * S, 4 * S, "IH"),
}


@pytest.mark.parametrize(
    ("members", "clock", "taker", "next_turn", "clock_after", "order"), ROSTERS.values(), ids=ROSTERS
)
def test_a_roster_after_a_lead_taken_by_hand(members, clock, taker, next_turn, clock_after, order):
    """The taker's place moves on by one turn, as though only they could have had the lead; nobody else's does."""
    group = counting(members, clock=clock, turn=9)
    decision = decided(group, by=taker, settings=AWAY)
    assert isinstance(decision, Count)
    after = decision.turn.group
    assert (after.turn, after.clock, decision.turn.member.next_turn) == (10, clock_after, next_turn)
    assert (decision.turn.member.last_turn, decision.turn.member.leads_received) == (10, 1)
    assert "".join(one.name for one in in_order(after)) == order
    moved = [one.name for one in after.members if one not in group.members]
    assert (moved, decision.owner_id, decision.round) == ([taker], user(taker), 1)


def test_the_explanation_says_who_took_it_and_which_turn_that_was():
    """It names rule, group and member, as every row of the ledger does."""
    decision = decided(counting("AB", turn=11))
    assert isinstance(decision, Count)
    assert decision.explanation == (
        "Taken by hand by B; counted as turn 12 of group 'emea', which rule 'all' would have chosen."
    )


def test_the_taker_gets_fewer_turns_until_all_are_even():
    """Two of three leads taken by hand by B: the next four turns are the others'."""
    group = counting("ABC")
    for number in (1, 2):
        seen = snapshot([lead(number, owner_id=user("B"))], [group])
        (decision,) = decide(configuration(), seen, [of_intake(number)])
        group = decision.turn.group
    assert "".join(one.name for one in who_is_next(group, 7)) == "ACACBAC"


def test_a_lead_taken_by_hand_counts_towards_the_cap_a_day():
    """The member's count of the day moves with the turn, beyond the cap if need be."""
    group = counting(["A", rep("B", daily_cap=2, day="2026-03-04", day_count=1)])
    decision = decided(group)
    assert isinstance(decision, Count)
    assert (decision.turn.member.day, decision.turn.member.day_count) == ("2026-03-04", 2)
    fresh = snapshot([lead(2), lead(3)], [replace(decision.turn.group, members=decision.turn.group.members[1:])])
    assert [type(one).__name__ for one in decide(configuration(), fresh, [ask(2), ask(3)])] == ["Hold", "Hold"]


NOBODYS = {
    "off by default": (pool("emea", "AB"), {}),
    "an observing group": (counting("AB", mode=Mode.OBSERVE), {}),
    "a group that is off": (counting("AB", mode=Mode.OFF), {}),
    "not of the group": (counting("AC"), {}),
    "paused by weight 0": (counting(["A", rep("B", weight=0)]), {}),
    "an inactive member": (counting(["A", rep("B", active=False)]), {}),
    "made in the rep's own name": (counting("AB"), {"asked": ask(1)}),
    "asked when a field was changed": (counting("AB"), {"asked": replace(ask(1), cause=Cause.CHANGED)}),
    "routed, then given on": (counting("AB"), {"ledger": [row(1, user("B"), assigned_to=user("A"))]}),
    "routed, then the ledger was cleared": (counting("AB"), {"round": 1, "stamp": f"x.{lead(1).id}.create"}),
    "routed by this very job": (counting("AB"), {"ledger": [row(1, user("B"), idempotency_key="job-1")]}),
    "no rule": (counting("AB"), {"settings": configuration(rule("japan", 1, "Country = 'JP'"))}),
    "a rule that names somebody": (
        counting("AB"),
        {"settings": configuration(rule("to", 1, "", ToOwner(user("A"), "A")), rule("all", 2))},
    ),
    "not unassigned as it stood in the queue": (
        counting("AB"),
        {"settings": configuration(unassigned="Country = 'FR'"), "Country": "DE"},
    ),
    "held, but a status may have been why": (
        counting("AB"),
        {"asked": replace(ask(1), held=True), "settings": configuration(intake_statuses=frozenset({"Open"}))},
    ),
    "unassigned by status, and the owner's all along": (
        counting("AB"),
        {"asked": replace(ask(1), owner_before=user("B"))},
    ),
}


@pytest.mark.parametrize(("group", "seen"), NOBODYS.values(), ids=NOBODYS)
def test_what_does_not_count(group, seen):
    """P13: off by default; and a lead that was not taken from where it waited, or by none of its group, is nobody's."""
    decision = decided(group, **seen)
    assert isinstance(decision, Skip)
    assert decision.reason in {OWNED, "already routed"}


def test_a_converted_lead_and_one_in_another_queue_are_nobodys():
    """E1: conversion ends a lead; a queue takes no turns."""
    assert decided(counting("AB"), is_converted=True) == Skip(of_intake(), "converted")
    elsewhere = snapshot([lead(1, owner_id=configuration().queues["Lost_Leads"])], [counting("AB")])
    assert decide(configuration(), elsewhere, [of_intake()]) == [Skip(of_intake(), OWNED)]


@pytest.mark.parametrize(
    "asked",
    [
        replace(ask(1), held=True),
        of_intake(held=True),
        replace(ask(1), owner_before=user("Z"), held=True),
    ],
)
def test_a_held_lead_was_surely_unassigned(asked):
    """The router itself saw it, whatever the definition of unassigned makes of the lead as it is now."""
    settings = configuration(unassigned="Country = 'FR'")
    assert isinstance(decided(counting("AB"), asked=asked, settings=settings, Country="DE"), Count)


def test_rules_are_asked_about_the_lead_as_it_was():
    """A rule may look at the owner: it is asked with the one that the lead was taken from."""
    settings = configuration(rule("queued", 1, "Owner.Type = 'Queue'"), rule("rest", 2, "", ToGroup("g2")))
    decision = decided(counting("AB"), settings=settings)
    assert isinstance(decision, Count)
    assert decision.rule.name == "queued"


def test_rules_for_matching_records_fall_through_as_they_do_for_new_leads():
    """Nobody owned a matching record: the group's rule below decides; somebody did: the lead was not the group's."""
    settings = configuration(rule("match", 1, "", ToMatched((MatchOn.ACCOUNT,), MatchBy.EMAIL)), rule("all", 2))
    assert isinstance(decided(counting("AB"), settings=settings), Count)
    match = Match(MatchOn.ACCOUNT, MatchBy.EMAIL, "001", user("A"), "A")
    seen = snapshot([lead(1, owner_id=user("B"))], [counting("AB")], matches={lead(1).id: (match,)})
    assert decide(settings, seen, [of_intake()]) == [Skip(of_intake(), OWNED)]


def test_turns_taken_by_hand_and_turns_given_are_one_sequence():
    """P26: in the order of what happened, in one batch; each counts for those behind it."""
    seen = snapshot([lead(1), lead(2, owner_id=user("B")), lead(3), lead(4, owner_id=user("B"))], [counting("ABC")])
    decisions = decide(configuration(), seen, [ask(1), of_intake(2), ask(3), of_intake(4)])
    (batch,) = batches(decisions)
    assert [(type(one).__name__, one.turn.number, one.owner_id) for one in batch.writes] == [
        ("Assign", 1, user("A")),
        ("Count", 2, user("B")),
        ("Assign", 3, user("C")),
        ("Count", 4, user("B")),
    ]
    assert (batch.before, batch.after) == (seen.groups["g1"], decisions[3].turn.group)


def test_nothing_is_written_on_a_lead_taken_by_hand():
    """P62: a commit has no part for such a lead, and no empty one."""
    (alone,) = batches([decided(counting("AB"))])
    assert [part.reference for part in compose([alone], NOW, lock_touch=True).parts] == ["group", "ledger", "members"]
    seen = snapshot([lead(1, owner_id=user("B")), lead(2)], [counting("AB")])
    (mixed,) = batches(decide(configuration(), seen, [of_intake(), ask(2)]))
    composed = compose([mixed], NOW, lock_touch=True)
    written = {
        part.reference: [one.get("id") for one in (part.body or {}).get("records", ())] for part in composed.parts
    }
    assert (written["lock"], written["leads"], len(written["ledger"])) == ([lead(2).id], [lead(2).id], 2)


def test_a_second_lead_of_the_submission_follows_the_one_taken_by_hand():
    """It follows in the same batch, and later by the ledger; it uses no turn, though a member took it by hand too."""
    first, second = lead(1, "a@x.example", owner_id=user("B")), lead(2, "a@x.example")
    decisions = decide(configuration(), snapshot([first, second], [counting("AB")]), [of_intake(), ask(2)])
    assert isinstance(decisions[0], Count)
    assert decisions[0].submission == submission_of(first.fields, configuration())
    assert isinstance(decisions[1], Follow)
    assert (decisions[1].owner_id, len(batches(decisions))) == (user("B"), 1)
    stored = decisions[0].submission
    assert stored is not None
    held = row(1, user("B"), outcome="Manual", submission_even=stored.even, submission_odd=stored.odd)
    taken_too = replace(second, owner_id=user("B"))
    (later,) = decide(configuration(), snapshot([taken_too], [counting("AB")], [held]), [of_intake(2)])
    assert later == Skip(of_intake(2), OWNED)


def test_where_duplicates_are_only_observed_each_lead_taken_counts():
    """The second bears no keys, which are the first one's, and tells what it would have done."""
    settings = configuration(rollout=Rollout(duplicates=Switch.OBSERVE))
    leads = [lead(number, "a@x.example", owner_id=user("B")) for number in (1, 2)]
    seen = snapshot(leads, [counting("AB")])
    first, second = decide(settings, seen, [of_intake(1), of_intake(2)])
    assert isinstance(first, Count)
    assert isinstance(second, Count)
    assert (first.submission is None, second.submission) == (False, None)
    assert "counted as turn 2" in second.explanation
    assert "Duplicates are only observed" in second.explanation


def test_an_open_lead_taken_by_hand_is_counted_once_among_open_leads():
    """The count read from the org holds it already: the next lead still fits under the cap."""
    group = counting([rep("B", open_cap=2)])
    seen = snapshot([lead(1, owner_id=user("B")), lead(2)], [group], open_leads={user("B"): 1})
    decisions = decide(configuration(), seen, [of_intake(), ask(2)])
    assert [type(one) for one in decisions] == [Count, Assign]


def test_what_was_taken_by_hand_is_never_routed_away():
    """P62: not even where the group routes leads anew that come to match another one."""
    settings = configuration(rule("japan", 1, "Country = 'JP'", ToGroup("g2")), rule("all", 2))
    groups = [counting("AB", reroute=Reroute.REROUTE), pool("apac", "XY")]
    counted = row(1, user("B"), assigned_to=user("B"), outcome="Manual", group_id="g1", created_at=NOW)
    asked = replace(ask(1), cause=Cause.CHANGED, event_at=NOW + timedelta(minutes=1))
    moved = lead(1, owner_id=user("B"), Country="JP")
    assert decide(settings, snapshot([moved], groups, [counted]), [asked]) == [Skip(asked, OWNED)]
    given = replace(counted, outcome="Assigned")
    assert isinstance(decide(settings, snapshot([moved], groups, [given]), [asked])[0], Assign)


def test_a_lead_given_back_goes_to_somebody_else():
    """D7: whoever took it by hand had it before."""
    counted = row(1, INTAKE, assigned_to=user("A"), outcome="Manual", group_id="g1", created_at=NOW)
    (decision,) = decide(configuration(), snapshot([lead(1)], [counting("AB")], [counted]), [ask(1, key="later")])
    assert isinstance(decision, Assign)
    assert (decision.owner_id, decision.round) == (user("B"), 2)


def test_it_is_explained_as_a_turn_to_be_counted():
    """Something would be done, so it is not told as settled; the taker is the one picked."""
    seen = snapshot([lead(1, owner_id=user("B"))], [counting("AB", turn=4)])
    account = explain(configuration(), seen, of_intake())
    assert account is not None
    assert (account.settled, type(account.decision)) == (None, Count)
    assert [(one.name, one.picked) for one in account.groups[0].members] == [("A", False), ("B", True)]
    assert account.groups[0].next_turn == 5
