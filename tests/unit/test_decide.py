"""Decide: one lead, every way it can go."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from lead_router.core.batch import together
from lead_router.core.decide import HOLD_RETRY_S, UNSEEN_S, WAIT_RETRY_S, batches, decide
from lead_router.core.keys import submission_of
from lead_router.core.model import Absence, Assign, Batch, Hold, Mode, Observed, Outcome, Skip, ToGroup, ToOwner
from lead_router.errors import Misconfigured
from support.decide_scene import (
    FALLBACK,
    INTAKE,
    NOW,
    ask,
    configuration,
    lead,
    lead_id,
    pool,
    rep,
    row,
    rule,
    snapshot,
    user,
)

EMEA = pool("emea", "ABC")


def one(settings, leads, groups, ledger=(), asked=None):
    (decision,) = decide(settings, snapshot(leads, groups, ledger), [asked or ask(1)])
    return decision


def test_a_new_lead_gets_the_next_member_of_its_group():
    """The main path: owner, round, keys, turn and the reason, whole."""
    settings = configuration()
    new = lead(1, "ann@example.com")
    decision = one(settings, [new], [pool("emea", ["A", rep("B", user_active=False), rep("C", weight=0)])])
    assert isinstance(decision, Assign)
    assert decision == Assign(
        ask=ask(1),
        lead=new,
        owner_id=user("A"),
        round=1,
        outcome=Outcome.ASSIGNED,
        rule=rule("all", 1),
        group_id="g1",
        turn=decision.turn,
        submission=submission_of(new.fields, settings),
        explanation=(
            "Rule 'all' chose group 'emea'; turn 1 went to A. Passed over: B: user inactive; C: paused: weight 0."
        ),
        passed_over=("Paused", "Inactive"),
    )
    assert decision.turn is not None
    assert (decision.turn.number, decision.turn.member.user_id) == (1, user("A"))


def test_a_batch_of_leads_takes_turns_in_their_order():
    """D2, P26: thirty leads of one batch are ten each, in turn order, in one batch from the first turn to the last."""
    asks = [ask(number) for number in range(1, 31)]
    seen = snapshot([lead(number) for number in range(1, 31)], [EMEA])
    decisions = decide(configuration(), seen, asks)
    assert [decision.owner_id for decision in decisions] == [user(name) for name in "ABC" * 10]
    assert [decision.turn.number for decision in decisions] == list(range(1, 31))
    assert batches(decisions) == [Batch(tuple(decisions), EMEA, decisions[-1].turn.group)]


@pytest.mark.parametrize(
    ("leads", "ledger", "reason"),
    [
        ([lead(1, is_converted=True)], [], "converted"),
        ([lead(1, is_converted=True)], [row(1, INTAKE, idempotency_key="job-1")], "converted"),
        ([lead(1, owner_id=user("B"))], [row(1, user("B"), idempotency_key="job-1")], "already routed"),
        ([lead(1, owner_id=user("B"))], [], "already owned"),
        ([lead(1, owner_id=user("B"), is_converted=True)], [], "converted"),
    ],
)
def test_what_needs_no_owner_is_skipped(leads, ledger, reason):
    """D25, E1, P58, P59, P62: gone, converted, routed by this very job, or owned: nothing is written, no turn used."""
    assert one(configuration(), leads, [EMEA], ledger) == Skip(ask(1), reason)
    assert batches([Skip(ask(1), reason)]) == []


def test_a_lead_that_its_job_has_routed_and_that_was_given_back_is_told_of():
    """P44: the job writes nothing, and says that its lead waits, so that a sweep looks for it."""
    ledger = [row(1, INTAKE, idempotency_key="job-1")]
    assert one(configuration(), [lead(1)], [EMEA], ledger) == Skip(ask(1), "already routed", returned=True)


def test_a_lead_that_cannot_be_read_is_gone_only_after_a_minute():
    """E17: the read may come a moment before the lead can be seen; nothing is given up so soon."""
    assert one(configuration(), [], [EMEA]) == Hold(ask(1), None, "not to be read yet", WAIT_RETRY_S)
    assert one(configuration(), [], [EMEA], asked=ask(1, UNSEEN_S)) == Skip(ask(1, UNSEEN_S), "gone")


@pytest.mark.parametrize(
    ("own", "ledger", "expected"),
    [(0, [], 1), (0, [2], 3), (4, [2], 5), (1, [1, 3, 2], 4)],
)
def test_the_round_is_one_more_than_lead_and_ledger_know(own, ledger, expected):
    """A blanked field on the lead cannot make a round collide; only the first round stores submission keys."""
    rows = [row(1, INTAKE, round_) for round_ in ledger]
    decision = one(configuration(), [lead(1, "ann@example.com", round=own)], [EMEA], rows)
    assert decision.round == expected
    assert (decision.submission is None) is (expected > 1)


def test_no_rule_no_group_and_switched_off_groups_hold_the_lead_with_the_reason():
    """P65, D4: nobody waits unseen: the lead is held, with a sentence that says why, and no turn moves."""
    picky = configuration(rule("french", 1, "Country = 'FR'"))
    waiting = lead(1)
    cases = [
        (picky, [EMEA], "no rule matches", None),
        (configuration(), [], "rule 'all' chose a group that is gone", None),
        (configuration(), [replace(EMEA, mode=Mode.OFF)], "group 'emea' is off", "g1"),
        (configuration(), [pool("emea", "")], "group 'emea': it has no members", "g1"),
        (
            configuration(),
            [pool("emea", [rep("A", active=False)])],
            "group 'emea': nobody can take it: A: member inactive",
            "g1",
        ),
    ]
    for settings, groups, reason, group_id in cases:
        expected = Hold(ask(1), waiting, reason, HOLD_RETRY_S, group_id=group_id, rule=settings.rules[0])
        found = one(settings, [waiting], groups)
        assert found == (replace(expected, rule=None) if settings is picky else expected)


def test_an_observed_group_tells_the_whole_sequence_and_gives_nothing():
    """Observe: each lead of the batch is told its own turn, and nothing of it is written."""
    seen = snapshot([lead(1), lead(2)], [replace(EMEA, mode=Mode.OBSERVE, turn=41)])
    decisions = decide(configuration(), seen, [ask(1), ask(2)])
    assert [type(decision) for decision in decisions] == [Observed, Observed]
    assert [(one.would.owner_id, one.would.turn.number, one.group_id) for one in decisions] == [
        (user("A"), 42, "g1"),
        (user("B"), 43, "g1"),
    ]
    assert decisions[0].would.explanation == "Rule 'all' chose group 'emea'; turn 42 went to A."
    assert batches(decisions) == []


def test_an_observed_group_that_has_nobody_would_use_its_fallbacks_and_moves_none():
    """Observe: the queue, or a turn of another group, is only told; that group's next lead gets the very same turn."""
    apac = pool("apac", "XY")
    settings = configuration(rule("asia", 1, "Country = 'JP'", ToGroup("g2")), rule("all", 2), fallbacks={"g1": "g2"})
    empty = pool("emea", "", mode=Mode.OBSERVE, fallback_group="g2")
    seen = snapshot([lead(1), lead(2, Country="JP")], [empty, apac])
    observed, given = decide(settings, seen, [ask(1), ask(2)])
    assert (observed.would.owner_id, observed.would.outcome) == (user("X"), Outcome.FALLBACK)
    assert (given.owner_id, given.turn.number) == (user("X"), 1)
    queue = pool("emea", "", mode=Mode.OBSERVE, fallback_queue="Lost_Leads")
    assert one(configuration(), [lead(1)], [queue]).would.owner_id == FALLBACK
    nobody = one(configuration(), [lead(1)], [pool("emea", "", mode=Mode.OBSERVE)])
    assert isinstance(nobody.would, Hold)


def test_nobody_on_duty_sends_the_lead_to_the_fallback_queue_without_a_turn():
    """D4, D16: never an off-duty person; the queue that the group names has the lead, with the reason."""
    empty = pool("emea", [rep("A", active=False)], fallback_queue="Lost_Leads")
    decision = one(configuration(), [lead(1)], [empty])
    assert (decision.owner_id, decision.outcome, decision.turn) == (FALLBACK, Outcome.FALLBACK, None)
    assert decision.group_id == "g1"
    assert decision.explanation == (
        "Rule 'all' chose group 'emea'; nobody can take it: A: member inactive. Fallback queue Lost_Leads has the lead."
    )
    assert batches([decision]) == [Batch((decision,), None, None)]


@pytest.mark.parametrize(
    ("queue", "reason"),
    [
        ("Gone_Queue", "Gone_Queue does not exist"),
        ("Lead_Intake", "waits in Lead_Intake, whose leads count as unassigned"),
    ],
)
def test_a_fallback_queue_that_solves_nothing_holds_the_lead(queue, reason):
    """A queue that is gone, or an intake queue (the lead would be routed round and round): held instead."""
    decision = one(configuration(), [lead(1)], [pool("emea", "", fallback_queue=queue)])
    assert isinstance(decision, Hold)
    assert reason in decision.reason


def test_a_rule_may_name_an_owner():
    """A person or queue by rule: no group, no turn."""
    settings = configuration(rule("vip", 1, "Country = 'FR'", ToOwner(user("V"), "Vera")), rule("all", 2))
    decision = one(settings, [lead(1, Country="fr")], [EMEA])
    assert (decision.owner_id, decision.turn, decision.group_id) == (user("V"), None, None)
    assert decision.explanation == "Rule 'vip' names Vera."


def test_a_rule_that_names_a_person_gives_to_them_though_they_are_away():
    """On duty is asked of groups and matches alone: intended, and told in the row, by their clock where it is known."""
    away = {user("V"): (Absence(user("V"), NOW, NOW + timedelta(hours=1)),)}
    settings = configuration(rule("vip", 1, "", ToOwner(user("V"), "Vera")), absences=away)
    unknown = one(settings, [lead(1)], [EMEA])
    member = one(settings, [lead(1)], [pool("emea", [rep("V", zone="Asia/Tokyo")])])
    told = "Rule 'vip' names Vera. Vera: absent until 4 Mar {}; a rule that names a person does not ask who is on duty."

    assert (unknown.owner_id, unknown.explanation) == (user("V"), told.format("13:00 +00:00"))
    assert member.explanation == told.format("22:00 +09:00")


@pytest.mark.parametrize("owner", [INTAKE, user("C")])
def test_a_rule_that_names_an_intake_queue_or_an_inactive_user_holds_the_lead(owner):
    """P50: a user known to be inactive gets nothing; an intake queue would bring the lead back for ever."""
    settings = configuration(rule("odd", 1, "", ToOwner(owner, "Nobody")))
    decision = one(settings, [lead(1)], [pool("emea", ["A", rep("C", user_active=False)])])
    assert isinstance(decision, Hold)
    assert "rule 'odd' names Nobody" in decision.reason


def test_leads_of_several_groups_become_a_batch_for_each_and_one_without_turn():
    """One commit moves one group: a batch per group in the order of first use, then what needs no turn."""
    settings = configuration(
        rule("vip", 1, "Country = 'VA'", ToOwner(user("V"), "Vera")),
        rule("asia", 2, "Country = 'JP'", ToGroup("g2")),
        rule("all", 3),
    )
    countries = ["VA", "JP", "FR", "JP", "VA"]
    seen = snapshot(
        [lead(number, Country=country) for number, country in enumerate(countries)], [EMEA, pool("apac", "XY")]
    )
    decisions = decide(settings, seen, [ask(number) for number in range(5)])
    ids = [[write.lead.id for write in batch.writes] for batch in batches(decisions)]
    assert ids == [[lead_id(1), lead_id(3)], [lead_id(2)], [lead_id(0), lead_id(4)]]
    assert [batch.before and batch.before.key for batch in batches(decisions)] == ["apac", "emea", None]
    assert [batch.after and batch.after.turn for batch in batches(decisions)] == [2, 1, None]


def test_a_batch_never_exceeds_two_hundred_writes():
    """More than a subrequest can hold becomes two batches, the second from where the first ends."""
    many = range(1, 451)
    decisions = decide(configuration(), snapshot(map(lead, many), [EMEA]), [ask(number) for number in many])
    found = batches(decisions)
    assert [len(batch.writes) for batch in found] == [200, 200, 50]
    assert [(batch.before.turn, batch.after.turn) for batch in found] == [(0, 200), (200, 400), (400, 450)]
    assert found[1].before == found[0].after


def test_a_commit_takes_each_group_once_and_two_hundred_writes():
    """Batches keep their order; what does not fit beside the others begins the next commit."""
    many = range(1, 451)
    settings = configuration(rule("asia", 1, "Country = 'JP'", ToGroup("g2")), rule("all", 2))
    leads = [lead(number, Country="JP" if number <= 80 else "FR") for number in many]
    groups = [EMEA, pool("apac", "XY")]
    found = batches(decide(settings, snapshot(leads, groups), [ask(number) for number in many]))

    assert [len(batch.writes) for batch in found] == [80, 200, 170]
    assert together(found) == [(found[0],), (found[1],), (found[2],)]
    assert together([found[0], found[0]]) == [(found[0],), (found[0],)]
    few = [replace(found[0], writes=found[0].writes[:30]), found[2], Batch((), None, None), Batch((), None, None)]
    assert together(few) == [tuple(few[:3]), (few[3],)]
    assert together([]) == []


def test_a_second_job_of_a_lead_waits_for_the_first():
    """One lead is decided once in a batch, whatever jobs it has."""
    decisions = decide(configuration(), snapshot([lead(1)], [EMEA]), [ask(1), ask(1, key="another")])
    assert [type(decision) for decision in decisions] == [Assign, Hold]


def test_rules_that_cannot_be_used_stop_the_decision():
    with pytest.raises(Misconfigured):
        decide(configuration(rule("lost", 1, target=ToGroup("g9"))), snapshot([], []), [])


def test_held_leads_are_decided_in_the_order_asked():
    """P68: the oldest job is asked first and gets the first turn, whatever the lead's id."""
    decisions = decide(configuration(), snapshot([lead(1), lead(9)], [EMEA]), [ask(9, 900.0), ask(1)])
    assert [(decision.lead.id, decision.turn.number) for decision in decisions] == [(lead_id(9), 1), (lead_id(1), 2)]


def test_a_cloned_lead_is_new_though_it_bears_the_original_s_routing_fields():
    """Cloning copies stamp and round: the copy takes a higher round, and its submission counts as a first one."""
    original = lead(2, "ann@example.com", stamp=f"org.{lead_id(2)}.create", round=1)
    copy = lead(1, "ann@example.com", stamp=original.stamp, round=1)
    decision = one(configuration(), [copy], [EMEA])

    assert (decision.round, decision.submission is None) == (2, False)
