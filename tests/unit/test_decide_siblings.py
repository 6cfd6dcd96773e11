"""Decide: second leads of one submission follow, wait, or go their own way."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from lead_router.core.decide import WAIT_RETRY_S, batches, decide
from lead_router.core.keys import submission_of
from lead_router.core.model import Assign, Elder, Follow, Hold, Mode, Observed, ToOwner
from lead_router.core.siblings import Lone, Siblings, Trail, course, rows_by_key
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

ANN = "ann@example.com"
SETTINGS = configuration()
EMEA = pool("emea", "ABC")
KEYS = submission_of(lead(1, ANN).fields, SETTINGS)


def first(owner, number=1, **changes):
    """The ledger row of a first lead of Ann's submission, with its present owner."""
    return row(number, owner, **({"submission_even": KEYS.even, "submission_odd": KEYS.odd} | changes))


def second(ledger, *, waited_s=0.0, settings=SETTINGS, groups=(EMEA,), **changes):
    seen = snapshot([lead(2, ANN)], groups, ledger, **changes)
    (decision,) = decide(settings, seen, [ask(2, waited_s)])
    return decision


def test_a_second_lead_follows_the_present_owner_of_the_first():
    """To whoever has the first lead now, also if a person gave it there; outcome Duplicate, no turn, no keys."""
    taken_over = first(user("Z"), assigned_to=user("A"))
    decision = second([taken_over])
    said = f"A second lead of one submission: it follows lead {lead_id(1)} to its owner."
    assert decision == Follow(ask(2), lead(2, ANN), user("Z"), 1, lead_id(1), said)
    (batch,) = batches([decision])
    assert (batch.before, batch.after) == (None, None)


@pytest.mark.parametrize("shared", ["submission_even", "submission_odd"])
def test_one_shared_key_is_enough(shared):
    """Neighbouring buckets share one of the two keys, in its own column."""
    other = "submission_odd" if shared == "submission_even" else "submission_even"
    assert isinstance(second([first(user("Z"), **{other: "another"})]), Follow)
    assert isinstance(second([first(user("Z"), submission_even="x", submission_odd="y")]), Assign)


@pytest.mark.parametrize("owner", [INTAKE, FALLBACK])
def test_a_second_lead_waits_while_the_first_has_no_person_and_no_longer_than_told(owner):
    """Bounded: after follow_wait_s it is routed by itself, and leaves the keys to the first."""
    decision = second([first(owner)], waited_s=599)
    assert isinstance(decision, Hold)
    assert decision.retry_s <= WAIT_RETRY_S
    assert lead_id(1) in decision.reason
    alone = second([first(owner)], waited_s=600)
    assert isinstance(alone, Assign)
    assert alone.submission is None
    assert alone.explanation.startswith(f"Lead {lead_id(1)} of the same submission got no owner in 600 s. Rule 'all'")


def test_a_second_lead_whose_first_is_gone_is_routed_by_itself_without_keys():
    """The ledger row of a deleted lead still holds the keys: storing them again would be refused for ever."""
    for gone in (first(None), first(None, lead_id=None)):
        alone = second([gone])
        assert isinstance(alone, Assign)
        assert alone.submission is None
        assert alone.explanation.startswith("An earlier lead of the same submission is gone.")


@pytest.mark.parametrize(
    ("changes", "gone", "said"),
    [
        ({"owner_id": user("Z")}, {}, "was taken by hand before it was routed"),
        ({"owner_id": user("Z"), "is_converted": True}, {}, "was converted before it was routed"),
        (None, {lead_id(1): None}, "was deleted"),
        (None, {lead_id(1): lead_id(9)}, f"was merged into lead {lead_id(9)}"),
        (None, {}, None),
        ({}, {}, None),
        ({"owner_id": user("Z"), "round": 1}, {}, None),
    ],
    ids=["taken", "converted", "deleted", "merged", "not known", "still waits", "routed"],
)
@pytest.mark.parametrize("shows", [True, False], ids=["waited", "never waited"])
def test_a_second_lead_tells_what_became_of_the_first_that_it_waited_for(changes, gone, said, shows):
    """Known by what it shows itself, and by what was read of the first; what is not known is not told."""
    told = f"waits for lead {lead_id(1)} of the same submission, which has no owner yet"
    waits = lead(2, ANN, held=shows, told=told)
    leads = [waits] if changes is None else [lead(1, ANN, **changes), waits]
    (decision,) = decide(SETTINGS, snapshot(leads, [EMEA], gone=gone), [ask(2, 60.0)])
    told = f"Lead {lead_id(1)} of the same submission, for which it waited, {said}; so it is routed by itself. "

    assert isinstance(decision, Assign)
    assert decision.explanation == f"{told if said and shows else ''}Rule 'all' chose group 'emea'; turn 1 went to A."
    assert decision.submission == KEYS


def test_an_inactive_owner_is_not_followed():
    """P50: nobody follows to a user who cannot own leads, known from a group or from a refusal."""
    away = pool("emea", ["A", rep("Z", user_active=False)])
    for alone in (
        second([first(user("Z"))], groups=(away,)),
        second([first(user("Y"))], unfit=frozenset({user("Y")})),
    ):
        assert isinstance(alone, Assign)
        assert alone.submission is None
        assert alone.explanation.startswith("An earlier lead of the same submission has an inactive owner.")


def test_an_intake_user_is_not_a_person_to_follow():
    """A form's own user owns leads that wait: the second waits too."""
    settings = configuration(intake_owners=frozenset({INTAKE, user("F")}))
    assert isinstance(second([first(user("F"))], settings=settings), Hold)


def test_of_two_firsts_the_one_with_a_person_is_followed():
    """A middle bucket may neighbour two submissions that are apart."""
    rows = [first(INTAKE, 1, submission_odd="x"), first(user("Z"), 3, submission_even="y")]
    decision = second(rows)
    assert isinstance(decision, Follow)
    assert decision.first_lead_id == lead_id(3)


def test_the_own_ledger_row_and_later_rounds_are_no_duplicate():
    """A lead that comes back to the queue is routed again; what people did to its sibling is theirs."""
    back = snapshot([lead(2, ANN, round=1)], [EMEA], [first(user("Z")), first(INTAKE, 2)])
    (decision,) = decide(SETTINGS, back, [ask(2)])
    assert isinstance(decision, Assign)
    assert (decision.round, decision.submission) == (2, None)


def test_a_lead_is_no_sibling_of_itself():
    """Whatever round its own ledger row bears, a lead never follows itself."""
    siblings = Siblings(rows_by_key([first(user("Z"), 2)]), {}, frozenset(), frozenset(), 600)
    assert course(ask(2), KEYS, siblings) == Lone(keys_free=True)
    assert course(ask(1), KEYS, siblings) == Trail(lead_id(2), user("Z"))


def test_two_leads_of_one_submission_in_one_batch_get_one_owner_in_one_commit():
    """One turn, one owner: the second follows the first of the same batch, and is written with it or not at all."""
    seen = snapshot([lead(1, ANN), lead(2, ANN), lead(3)], [EMEA])
    decisions = decide(SETTINGS, seen, [ask(1), ask(2), ask(3)])
    assert [type(decision) for decision in decisions] == [Assign, Follow, Assign]
    assert [decision.owner_id for decision in decisions] == [user("A"), user("A"), user("B")]
    (batch,) = batches(decisions)
    assert [write.lead.id for write in batch.writes] == [lead_id(1), lead_id(2), lead_id(3)]
    assert batch.after.turn == 2


def test_two_leads_of_a_submission_over_a_bucket_boundary_are_one_too():
    """The bucket boundary between them changes nothing."""
    late = lead(2, ANN, CreatedDate="2026-03-04T12:09:59Z")
    next_bucket = lead(3, ANN, CreatedDate="2026-03-04T12:10:00Z")
    for pair in ((late, next_bucket), (next_bucket, late)):
        seen = snapshot(pair, [EMEA])
        decisions = decide(SETTINGS, seen, [replace(ask(2), lead_id=one.id) for one in pair])
        assert [type(decision) for decision in decisions] == [Assign, Follow]


def test_a_second_lead_waits_with_a_held_first_and_then_goes_first():
    """While the first is held the second is too; when its wait is over it is routed, and takes the keys along."""
    settings = configuration(rule("french", 1, "Country = 'FR'"))
    seen = snapshot([lead(1, ANN, Country="DE"), lead(2, ANN, Country="FR")], [EMEA])
    waits = decide(settings, seen, [ask(1, waited_s=10), ask(2, waited_s=10)])
    assert [type(decision) for decision in waits] == [Hold, Hold]
    goes = decide(settings, seen, [ask(1, waited_s=900), ask(2, waited_s=600)])
    assert [type(decision) for decision in goes] == [Hold, Assign]
    assert goes[1].submission is not None
    third = snapshot([*seen.leads.values(), lead(3, ANN, Country="FR")], [EMEA])
    follows = decide(settings, third, [ask(1, waited_s=900), ask(2, waited_s=600), ask(3)])[2]
    assert isinstance(follows, Follow)
    assert follows.first_lead_id == lead_id(2)


def test_a_first_that_went_to_a_queue_makes_the_second_wait():
    """A queue is not a person: the second waits for someone to take the first."""
    settings = configuration(rule("all", 1, "", ToOwner(FALLBACK, "Lost Leads")))
    decisions = decide(settings, snapshot([lead(1, ANN), lead(2, ANN)], [EMEA]), [ask(1), ask(2)])
    assert [type(decision) for decision in decisions] == [Assign, Hold]


def test_a_follower_of_a_lead_without_turn_is_in_the_batch_without_turn():
    settings = configuration(rule("all", 1, "", ToOwner(user("V"), "Vera")))
    decisions = decide(settings, snapshot([lead(1, ANN), lead(2, ANN)], [EMEA]), [ask(1), ask(2)])
    (batch,) = batches(decisions)
    assert [type(write) for write in batch.writes] == [Assign, Follow]


def test_without_a_window_every_lead_is_its_own():
    """A window of 0 turns submissions off: no keys, no following."""
    settings = configuration(submission_window_s=0)
    decisions = decide(settings, snapshot([lead(1, ANN), lead(2, ANN)], [EMEA]), [ask(1), ask(2)])
    assert [(type(decision), decision.submission) for decision in decisions] == [(Assign, None), (Assign, None)]


def test_an_observed_first_takes_no_turn_for_its_second_either():
    """Observe holds both; nothing follows a decision that was not written."""
    seen = snapshot([lead(1, ANN), lead(2, ANN)], [replace(EMEA, mode=Mode.OBSERVE)])
    assert [type(decision) for decision in decide(SETTINGS, seen, [ask(1), ask(2)])] == [Observed, Hold]


def waits_beside(number=1, *, minutes=-1, keys=(KEYS.even, KEYS.odd)):
    """A living job of an older lead of Ann's submission, none of this round's."""
    return Elder(replace(ask(number), event_at=NOW + timedelta(minutes=minutes), held=True), keys)


def test_a_second_lead_waits_for_an_older_one_that_waits_elsewhere_and_no_longer_than_told():
    """The first was held in an earlier batch: no ledger row tells of it, its job does."""
    seen = {"elders": (waits_beside(),)}
    decision = second([], **seen)
    assert isinstance(decision, Hold)
    assert decision.reason == f"waits for lead {lead_id(1)} of the same submission, which has no owner yet"
    assert [second([], waited_s=waited, **seen).retry_s for waited in (0, 100, 596)] == [WAIT_RETRY_S, 25, 4]
    alone = second([], waited_s=600, **seen)
    assert isinstance(alone, Assign)
    assert alone.submission == KEYS


@pytest.mark.parametrize("keys", [(KEYS.even,), (KEYS.odd,)])
def test_an_elder_of_a_neighbouring_bucket_is_waited_for(keys):
    """One shared key is enough; without one the leads have nothing to do with each other."""
    assert isinstance(second([], elders=(waits_beside(keys=keys),)), Hold)
    assert isinstance(second([], elders=(waits_beside(keys=("e", "o")),)), Assign)


def test_the_older_lead_never_waits_for_the_younger():
    """Of two that know each other one goes: the one whose event came first, then the one with the older job."""
    assert isinstance(second([], elders=(waits_beside(minutes=1),)), Assign)
    assert isinstance(second([], elders=(waits_beside(3, minutes=0),)), Assign)
    assert isinstance(second([], elders=(waits_beside(1, minutes=0),)), Hold)
    assert isinstance(second([], elders=(waits_beside(2),)), Assign)


@pytest.mark.parametrize(
    ("changes", "ledger"),
    [
        ({"owner_id": user("Z")}, []),
        ({"is_converted": True}, []),
        ({"round": 1}, []),
        ({}, [row(1, INTAKE)]),
    ],
)
def test_an_elder_that_waits_for_no_first_owner_is_not_waited_for(changes, ledger):
    """It has an owner, is converted, or was routed before: then the ledger would tell if it held the keys."""
    seen = snapshot([lead(1, ANN, **changes), lead(2, ANN)], [EMEA], ledger, elders=(waits_beside(),))
    (decision,) = decide(SETTINGS, seen, [ask(2)])
    assert isinstance(decision, Assign)
    assert isinstance(second([], elders=(waits_beside(),), gone={lead_id(1): None}), Assign)


def test_a_first_in_the_ledger_or_in_the_batch_comes_before_an_elder():
    """Who has the keys is followed, whoever else waits; a lead of the batch is decided, not waited for."""
    assert isinstance(second([first(user("Z"), 3)], elders=(waits_beside(),)), Follow)
    seen = snapshot([lead(1, ANN), lead(2, ANN)], [EMEA], elders=(waits_beside(),))
    decisions = decide(SETTINGS, seen, [replace(ask(1), event_at=NOW - timedelta(minutes=1)), ask(2)])
    assert [type(decision) for decision in decisions] == [Assign, Follow]
