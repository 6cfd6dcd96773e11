"""Fallback: where a lead goes when nobody of its group can take it, and how long it waits where nobody can at all."""

from __future__ import annotations

from datetime import timedelta

import pytest

from lead_router.core.decide import HOLD_RETRY_MAX_S, HOLD_RETRY_S, batches, decide
from lead_router.core.hours import windows
from lead_router.core.model import Absence, Assign, Hold, Hours, Mode, Outcome
from lead_router.core.rules import rulebook
from lead_router.errors import Misconfigured
from support.decide_scene import FALLBACK, NOW, ask, configuration, lead, pool, rep, row, snapshot, user

OFF = [rep("A", active=False)]
MANAGER = user("M")


def given(groups, settings=None, **changes):
    (decision,) = decide(settings or configuration(), snapshot([lead(1)], groups, **changes), [ask(1)])
    return decision


def test_a_fallback_group_gives_a_turn_of_its_own():
    """P11: the other group's rotation moves, the empty one's does not; both are told."""
    decision = given([pool("emea", OFF, fallback_group="g2"), pool("apac", ["X", rep("Y", weight=0)], turn=7)])
    assert isinstance(decision, Assign)
    assert (decision.owner_id, decision.outcome, decision.group_id) == (user("X"), Outcome.FALLBACK, "g2")
    assert (decision.turn.number, decision.turn.group.key) == (8, "apac")
    assert decision.explanation == (
        "Rule 'all' chose group 'emea'; nobody can take it: A: member inactive. "
        "Fallback group 'apac': turn 8 went to X. Passed over: Y: paused: weight 0."
    )
    (batch,) = batches([decision])
    assert (batch.before.id, batch.after.turn) == ("g2", 8)


def test_the_fallback_group_comes_before_queue_and_manager_and_those_in_that_order():
    """Group, queue, manager: the first that has someone."""
    ends = {"fallback_group": "g2", "fallback_queue": "Lost_Leads", "manager_id": MANAGER}
    assert given([pool("emea", OFF, **ends), pool("apac", "X")]).owner_id == user("X")
    queue = given([pool("emea", OFF, **ends), pool("apac", "")])
    assert (queue.owner_id, queue.outcome, queue.turn, queue.group_id) == (FALLBACK, Outcome.FALLBACK, None, "g1")
    manager = given([pool("emea", OFF, **(ends | {"fallback_queue": None})), pool("apac", "")])
    assert (manager.owner_id, manager.outcome, manager.turn) == (MANAGER, Outcome.FALLBACK, None)
    assert manager.explanation == (
        "Rule 'all' chose group 'emea'; nobody can take it: A: member inactive; group 'apac': it has no members. "
        "The manager of group 'emea' has the lead."
    )


def test_a_fallback_groups_own_queue_and_manager_end_the_chain():
    """What the last group of the chain names is used where the first names nothing."""
    queue = given([pool("emea", OFF, fallback_group="g2"), pool("apac", "", fallback_queue="Lost_Leads")])
    assert queue.owner_id == FALLBACK
    manager = given([pool("emea", OFF, fallback_group="g2"), pool("apac", "", manager_id=MANAGER)])
    assert manager.owner_id == MANAGER


@pytest.mark.parametrize("mode", [Mode.OFF, Mode.OBSERVE])
def test_a_fallback_group_that_is_not_live_gives_nothing(mode):
    decision = given([pool("emea", OFF, fallback_group="g2"), pool("apac", "X", mode=mode)])
    assert isinstance(decision, Hold)
    assert decision.reason.endswith("fallback group 'apac' is not live")


def test_a_manager_who_cannot_own_leads_has_none():
    """P50: inactive, refused by Salesforce, or the one who gave the lead back."""
    plain = pool("emea", OFF, manager_id=MANAGER)
    assert given([plain]).owner_id == MANAGER
    for groups, changes in (
        ([pool("emea", OFF, manager_id=MANAGER, manager_active=False)], {}),
        ([plain], {"unfit": frozenset({MANAGER})}),
        ([plain], {"ledger": [row(1, None, assigned_to=MANAGER)]}),
    ):
        assert isinstance(given(groups, **changes), Hold)


def test_fallback_groups_in_a_loop_are_refused_by_name():
    """A loop is found when the configuration is compiled; met at run time all the same, it ends."""
    with pytest.raises(Misconfigured, match="fallback groups go round: 'emea' to 'apac' to 'emea'; take one"):
        rulebook(configuration(fallbacks={"g1": "g2", "g2": "g1"}))
    with pytest.raises(Misconfigured, match="go round: 'apac' to 'apac'"):
        rulebook(configuration(fallbacks={"g1": "g2", "g2": "g2"}))
    rulebook(configuration(fallbacks={"g1": "g2"}))
    looped = [pool("emea", OFF, fallback_group="g2"), pool("apac", "", fallback_group="g1")]
    assert isinstance(given(looped), Hold)


OPENS_AT_13 = Hours("late", "Late", "UTC", (windows(780, 1020),) * 7)


def test_a_held_lead_waits_for_the_first_who_may_take_it():
    """D16: held until the next opening, absence end or midnight of whoever is first, of the fallback group too."""
    settings = configuration(hours={"late": OPENS_AT_13}, absences={user("B"): (_absence("B", hours=2),)})
    late, absent = rep("A", hours_id="late"), rep("B")
    decision = given([pool("emea", [late, absent])], settings)
    assert (decision.until, decision.retry_s, decision.group_id) == (NOW.replace(hour=13), HOLD_RETRY_MAX_S, "g1")
    assert decision.reason == (
        "group 'emea': nobody can take it: A: outside hours until 4 Mar 13:00 +00:00; "
        "B: absent until 4 Mar 14:00 +00:00"
    )
    chained = given([pool("emea", [absent], fallback_group="g2"), pool("apac", [late])], settings)
    assert (chained.until, chained.group_id) == (NOW.replace(hour=13), "g1")


def _absence(name, **length):
    return Absence(user(name), NOW, NOW + timedelta(**length))


@pytest.mark.parametrize(("seconds", "retry_s"), [(0.5, 1.0), (90, 90.0), (899, 899.0), (5000, HOLD_RETRY_MAX_S)])
def test_it_is_asked_again_when_that_instant_comes(seconds, retry_s):
    """At once when it is near; at the latest after a quarter of an hour, as a roster may change."""
    settings = configuration(absences={user("A"): (_absence("A", seconds=seconds),)})
    decision = given([pool("emea", "A")], settings)
    assert decision.until == NOW + timedelta(seconds=seconds)
    assert decision.retry_s == retry_s


def test_what_no_clock_ends_is_asked_for_every_minute():
    """Open leads are closed by people at any time; who is off for good does not set the time."""
    settings = configuration(absences={user("A"): (_absence("A", hours=9),)})
    full = given([pool("emea", ["A", rep("B", open_cap=2)])], settings, open_leads={user("B"): 2})
    assert (full.until, full.retry_s) == (NOW + timedelta(hours=9), HOLD_RETRY_S)
    off = given([pool("emea", ["A", rep("B", active=False)])], settings)
    assert (off.until, off.retry_s) == (NOW + timedelta(hours=9), HOLD_RETRY_MAX_S)
    picky = given([pool("emea", [rep("A", accepts="Country = 'FR'")])], settings)
    assert (picky.until, picky.retry_s) == (None, HOLD_RETRY_S)
