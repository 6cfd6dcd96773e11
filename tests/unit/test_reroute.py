"""Re-routing: which leads are routed once more, to whom, and which are left alone for good."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from lead_router.core.decide import decide
from lead_router.core.keys import lead_key
from lead_router.core.model import Ask, Assign, Cause, Hold, Outcome, Reroute, Skip, Status, ToGroup, ToMatched, ToOwner
from lead_router.core.targets import MatchBy, MatchOn
from support.decide_scene import INTAKE, NOW, ask, configuration, lead, lead_id, pool, rep, row, rule, snapshot, user

LATER = NOW + timedelta(hours=1)
TWO = (rule("asia", 1, "Country = 'JP'", ToGroup("g2")), rule("rest", 2))


def asked(cause: Cause, at=LATER) -> Ask:
    return Ask(1, "job-1", lead_id(1), at, 0.0, cause)


def given(settings, one, groups, ledger, question):
    (decision,) = decide(settings, snapshot([one], groups, ledger), [question])
    return decision


def routed(name: str, round_: int = 1, **changes):
    """The ledger row of lead 1's routing to that rep of g1, written before LATER."""
    return row(1, user(name), round_, assigned_to=user(name), **({"group_id": "g1", "created_at": NOW} | changes))


def test_a_returned_lead_goes_to_the_next_one_in_a_new_round():
    """D7: B gives the lead back to the intake queue; the turn stays on record, the next round is not B's."""
    group = pool("emea", [rep("A"), rep("B"), rep("C", next_turn=2_000_000_000, last_turn=1)])
    rows = [routed("B", lead_owner_id=INTAKE), routed("A", 2, lead_owner_id=INTAKE)]
    decision = given(configuration(), lead(1, round=2), [group], rows, ask(1))
    assert isinstance(decision, Assign)
    assert (decision.owner_id, decision.round, decision.submission) == (user("C"), 3, None)
    assert decision.turn.group.members[:2] == group.members[:2]  # what they were owed, they are owed
    assert decision.explanation == (
        "Routed anew: it was returned. Rule 'all' chose group 'emea'; turn 1 went to C. "
        "Passed over: A: had this lead before; B: had this lead before."
    )


@pytest.mark.parametrize(
    ("members", "had", "why"),
    [
        ("A", "A", "A had this lead before; nobody else of the group may have it."),
        ("AB", "AB", "A had this lead before, as had all of the group who may have it, and was not the last."),
        ("AB", "B", ""),
    ],
    ids=["alone", "all had it", "new to it"],
)
def test_who_has_a_returned_lead_again_is_told_why(members, had, why):
    """A row that says "returned" and then the same name needs a reason."""
    rows = [routed(name, number, lead_owner_id=INTAKE) for number, name in enumerate(had, start=1)]
    decision = given(configuration(), lead(1, round=len(had)), [pool("emea", members)], rows, ask(1))
    passed = "" if had == "A" else " Passed over: B: had this lead before."
    said = "Routed anew: it was returned. Rule 'all' chose group 'emea'; turn 1 went to A."

    assert isinstance(decision, Assign)
    assert decision.explanation == f"{said}{passed}{f' {why}' if why else ''}"


def test_a_returned_lead_waits_for_someone_else():
    """D7: the only other one is away: the lead is held for them rather than given back."""
    rows = [routed("A", lead_owner_id=INTAKE)]
    away = rep("B", daily_cap=1, day="2026-03-04", day_count=1)
    decision = given(configuration(), lead(1), [pool("emea", ["A", away])], rows, ask(1))
    assert isinstance(decision, Hold)
    assert decision.until == NOW.replace(hour=0) + timedelta(days=1)
    assert "A: had this lead before" in decision.reason


def test_a_named_owner_who_gave_the_lead_back_does_not_get_it_again():
    """A rule's own target is no exception; the lead is held and says so."""
    settings = configuration(rule("vip", 1, "", ToOwner(user("V"), "Vera")))
    decision = given(settings, lead(1), [], [routed("V", lead_owner_id=INTAKE)], ask(1))
    assert isinstance(decision, Hold)
    assert decision.reason == "rule 'vip' names Vera, who had this lead before"


STATUS = configuration(intake_statuses=frozenset({"New"}))


def owned(name: str = "A", **changes):
    return lead(1, owner_id=user(name), **({"round": 1} | changes))


@pytest.mark.parametrize(
    ("cause", "status", "at", "ledger", "again"),
    [
        (Cause.STATUS, "new", LATER, [routed("A")], True),
        (Cause.STATUS, "Working", LATER, [routed("A")], False),
        (Cause.STATUS, "New", NOW, [routed("A")], False),  # an event of before that routing
        (Cause.STATUS, "New", LATER, [routed("A", created_at=None)], False),
        (Cause.STATUS, "New", LATER, [], False),  # the ledger does not know its round
        (Cause.WAITING, "New", LATER, [routed("A")], False),  # the status stayed as it was
        (Cause.CHANGED, "New", LATER, [routed("A")], False),
    ],
)
def test_a_status_set_back_routes_anew_and_a_status_that_stayed_does_not(cause, status, at, ledger, again):
    """Someone sets the status back after the routing: a new round, to someone else."""
    decision = given(STATUS, owned(status=status), [pool("emea", "AB")], ledger, asked(cause, at))
    if not again:
        assert decision == Skip(asked(cause, at), "already owned")
        return
    assert (decision.owner_id, decision.round) == (user("B"), 2)
    assert decision.explanation.startswith("Routed anew: its status was set back.")


AT_ONCE = timedelta(milliseconds=1)


@pytest.mark.parametrize(
    ("to", "at", "again"),
    [("B", LATER - AT_ONCE, True), ("B", LATER, False), ("B", LATER + AT_ONCE, False), ("A", LATER + AT_ONCE, False)],
    ids=["before", "in that moment", "since", "given on and back since"],
)
@pytest.mark.parametrize("told", ["by an event", "by the lead"])
def test_who_is_given_a_lead_after_its_status_was_set_back_keeps_it(to, at, again, told):
    """P62: a wish of before that moment is no reason to take it from them; a later one is."""
    shown = at if told == "by the lead" else None
    one = owned(to, status="New", overridden_at=shown)
    seen = snapshot([one], [pool("emea", "ABC")], [routed("A")])
    seen = seen if shown else replace(seen, by_hand={lead_id(1): at})
    (decision,) = decide(STATUS, seen, [asked(Cause.STATUS, LATER)])
    assert isinstance(decision, Assign if again else Skip)


def groups(reroute=Reroute.REROUTE, **changes):
    return [pool("emea", "AB", reroute=reroute, **changes), pool("apac", "XY")]


def test_a_lead_that_comes_to_match_another_group_is_routed_there():
    """`Reroute__c` of the group that the lead is with: a new round in the group that it now matches."""
    settings = configuration(*TWO)
    decision = given(settings, owned(Country="JP"), groups(), [routed("A")], asked(Cause.CHANGED))
    assert (decision.owner_id, decision.round, decision.group_id) == (user("X"), 2, "g2")
    assert decision.outcome is Outcome.ASSIGNED
    assert decision.explanation.startswith("Routed anew: it now matches group 'apac'. Rule 'asia'")


@pytest.mark.parametrize(
    ("one", "pools", "ledger"),
    [
        (owned(Country="JP"), groups(Reroute.KEEP), [routed("A")]),
        (owned(Country="DE"), groups(), [routed("A")]),
        (owned("B", Country="JP"), groups(), [routed("A")]),  # given to someone else by hand
        (owned(Country="JP"), groups(), [routed("A", created_at=LATER)]),
        (owned(Country="JP"), groups(), [routed("A", group_id=None)]),
        (owned(Country="JP"), groups(), []),
        (owned(Country="JP", round=2), groups(), [routed("A")]),  # a later round, not in the ledger read
        (owned(Country="JP", unmarked=True), groups(), [routed("A")]),  # given back, held, and taken again
    ],
)
def test_a_change_that_is_no_reason_leaves_the_lead_alone(one, pools, ledger):
    """P13, P62: kept groups, equal groups, hand-given leads and events of before: nothing is written."""
    question = asked(Cause.CHANGED)
    assert given(configuration(*TWO), one, pools, ledger, question) == Skip(question, "already owned")


@pytest.mark.parametrize(("at", "again"), [(NOW - timedelta(milliseconds=1), True), (NOW, False), (LATER, False)])
@pytest.mark.parametrize("cause", [Cause.CHANGED, Cause.WAITING], ids=["changed", "left queued"])
def test_who_has_given_a_lead_back_and_taken_it_again_keeps_it(cause, at, again):
    """P62: it has the owner that its last routing gave it, by a person's own hand all the same, as events tell."""
    one = owned(Country="JP", queued=cause is Cause.WAITING)
    seen = replace(snapshot([one], groups(), [routed("A")]), by_hand={lead_id(1): at})
    (decision,) = decide(configuration(*TWO), seen, [asked(cause)])
    assert isinstance(decision, Assign if again else Skip)


@pytest.mark.parametrize(("queued", "shown"), [(True, False), (False, True)])
def test_an_owned_lead_that_shows_queued_goes_on_showing_it_while_nobody_can_take_it(queued, shown):
    """By that alone it is known that it is to be routed anew; one that its own job remembers shows Held."""
    pools = [pool("emea", "AB", reroute=Reroute.REROUTE), pool("apac", "")]
    one, question = owned(Country="JP", queued=queued), asked(Cause.WAITING if queued else Cause.CHANGED)
    decision = given(configuration(*TWO), one, pools, [routed("A")], question)
    assert isinstance(decision, Hold)
    assert decision.shown is shown


def test_an_unassigned_lead_that_shows_queued_shows_held_as_any_other():
    """It wants an owner whatever it shows."""
    decision = given(configuration(), lead(1, queued=True), [pool("emea", "")], [], ask(1))
    assert isinstance(decision, Hold)
    assert decision.shown


QUEUED = {"queued": True, "status": "New", "told": "its status was set back: a record stayed locked"}
BOTH = replace(configuration(*TWO), intake_statuses=STATUS.intake_statuses)


@pytest.mark.parametrize(
    ("one", "ledger", "note"),
    [
        (owned(**QUEUED), [routed("A")], "Routed anew: its status was set back."),
        (
            owned(Country="JP", queued=True),
            [routed("A", created_at=LATER)],
            "Routed anew: it now matches group 'apac'.",
        ),
        (owned(Country="JP", **QUEUED | {"status": "Working"}), [routed("A")], "Routed anew: it now matches"),
    ],
)
def test_a_queued_lead_says_itself_that_it_is_to_be_routed_anew(one, ledger, note):
    """The router inside left it so: whatever found it, and whenever that asks for."""
    decision = given(BOTH, one, groups(), ledger, asked(Cause.WAITING, NOW))
    assert decision.explanation.startswith(note)
    assert decision.round == 2


@pytest.mark.parametrize(
    ("one", "ledger", "shows"),
    [
        (owned(queued=True, status="New"), [routed("A")], Status.ASSIGNED),  # the status stayed as it was
        (owned(**QUEUED | {"status": "Working"}), [routed("A")], Status.ASSIGNED),  # it was set forward again
        (owned("B", **QUEUED), [routed("A")], Status.ASSIGNED),  # given to someone else by hand
        (owned("B", Country="JP", queued=True), [routed("A")], Status.ASSIGNED),
        (owned(queued=True), [routed("A"), routed("A", 2, outcome=Outcome.DUPLICATE)], Status.DUPLICATE),
        (owned(queued=True, round=0), [routed("A", outcome=Outcome.MANUAL)], None),
        (owned(queued=True), [], Status.ASSIGNED),  # the ledger does not know its round
        (owned(queued=True, round=0, status="Working"), [], None),  # taken by a person
    ],
)
def test_a_queued_lead_that_wants_nothing_shows_again_what_it_showed(one, ledger, shows):
    """It keeps its owner, and is Queued no longer."""
    question = asked(Cause.WAITING)
    assert given(BOTH, one, groups(), ledger, question) == Skip(question, "already owned", queued=True, shows=shows)


def test_a_lead_of_a_fallback_group_has_not_changed_group():
    """It is where its rule's group sent it; and a rule that names no group takes no lead away."""
    settings = configuration(rule("asia", 1, "Country = 'JP'", ToGroup("g2")), rule("rest", 2))
    pools = [pool("emea", "AB", reroute=Reroute.REROUTE), pool("apac", "", fallback_group="g1")]
    question = asked(Cause.CHANGED)
    assert isinstance(given(settings, owned(Country="JP"), pools, [routed("A")], question), Skip)
    for target in (ToOwner(user("V"), "Vera"), ToMatched((MatchOn.CONTACT,), MatchBy.EMAIL)):
        named = configuration(rule("asia", 1, "Country = 'JP'", target), rule("rest", 2))
        assert isinstance(given(named, owned(Country="JP"), groups(), [routed("A")], question), Skip)


@pytest.mark.parametrize(
    ("gone", "reason"),
    [({lead_id(1): None}, "deleted"), ({lead_id(1): lead_id(2)}, f"merged into {lead_id(2)}")],
)
def test_deleted_and_merged_leads_are_settled_at_once_with_their_reason(gone, reason):
    """E2, P58: no minute's wait where Salesforce says what became of the lead."""
    (decision,) = decide(configuration(), snapshot([], [pool("emea", "A")], gone=gone), [ask(1)])
    assert decision == Skip(ask(1), reason)


def test_an_undeleted_lead_keeps_its_stamp_and_takes_no_second_turn():
    """P59: owned, it stays; its rows lost their lookup when it was deleted, yet their keys count its rounds."""
    lost = routed("A", lead_id=None, lead_key=lead_key(lead_id(1), 1), lead_owner_id=None)
    group = pool("emea", "AB")
    assert given(configuration(), owned(), [group], [lost], ask(1)) == Skip(ask(1), "already owned")
    decision = given(configuration(), lead(1), [group], [lost], ask(1))
    assert (decision.round, decision.owner_id) == (2, user("B"))
    repeated = given(configuration(), lead(1), [group], [lost], ask(1, key=lost.idempotency_key))
    assert repeated == Skip(ask(1, key=lost.idempotency_key), "already routed", returned=True)


@pytest.mark.parametrize("cause", list(Cause))
def test_converted_leads_are_settled_whatever_is_asked(cause):
    """E1, D25: no retry, no turn."""
    question = asked(cause)
    one = owned(is_converted=True, Country="JP", status="New")
    assert given(STATUS, one, groups(), [routed("A")], question) == Skip(question, "converted")
