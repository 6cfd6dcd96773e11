"""Eligibility: which members on duty may have this lead, and what the ledger says of the others."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from lead_router.core.decide import decide
from lead_router.core.duty import Moment
from lead_router.core.eligible import Former, former_owners, standings
from lead_router.core.model import Absence, Hold
from lead_router.core.rules import rulebook
from support.decide_scene import INTAKE, NOW, ask, configuration, lead, pool, rep, row, snapshot, user


def given(members, lead_fields=None, settings=None, **changes):
    """The decision on one lead, for a group of these members."""
    seen = snapshot([lead(1, **(lead_fields or {}))], [pool("emea", members, **changes)])
    (decision,) = decide(settings or configuration(), seen, [ask(1)])
    return decision


@pytest.mark.parametrize(
    ("accepts", "country", "taken"),
    [
        ("", None, True),
        ("  ", "FR", True),
        ("Country = 'FR'", "fr", True),
        ("Country = 'FR'", "DE", False),
        ("Country = 'FR'", None, False),
        ("Country IN ('FR', 'BE') AND Email = null", "BE", True),
    ],
)
def test_a_member_takes_the_leads_it_accepts(accepts, country, taken):
    """`Accepts__c` is a SOQL clause, with SOQL's rules for case and null; others pass by at no cost."""
    decision = given([rep("A", accepts=accepts), rep("B", sort_order=1)], {"Country": country})
    assert decision.turn.number == 1
    assert decision.owner_id == user("A" if taken else "B")
    told = "" if taken else " Passed over: A: does not accept this lead."
    assert decision.explanation == f"Rule 'all' chose group 'emea'; turn 1 went to {'A' if taken else 'B'}.{told}"


def test_criteria_that_cannot_be_used_keep_their_member_out_and_no_other():
    """A clause broken since the configuration was loaded, or over fields not read, never matches silently."""
    broken, unread = rep("A", accepts="Country ="), rep("B", accepts="City = 'Rome'")
    decision = given([broken, unread, rep("C", sort_order=1)], {"Country": "FR", "City": "Rome"})
    assert decision.owner_id == user("C")
    assert "A: criteria of accepted leads cannot be used" in decision.explanation
    assert "B: criteria of accepted leads ask for fields that are not read yet" in decision.explanation
    types = configuration(field_types={"Country": "string", "Email": "email"})
    wrong = given([rep("A", accepts="Country > TODAY"), "C"], {"Country": "FR"}, types)
    assert wrong.owner_id == user("C")


def test_a_user_who_cannot_read_leads_gets_none():
    """P52: checked before, as Salesforce may let it through."""
    decision = given([rep("A", reads_leads=False), rep("B", sort_order=1)])
    assert decision.owner_id == user("B")
    assert decision.explanation.endswith("Passed over: A: user cannot read leads.")


def test_a_member_whose_leads_wait_for_an_owner_gets_none():
    """What an intake user were given would be given out again, and again."""
    decision = given(
        [rep("A"), rep("B", sort_order=1)], None, configuration(intake_owners=frozenset({INTAKE, user("A")}))
    )
    assert decision.owner_id == user("B")
    assert decision.explanation.endswith("Passed over: A: is an intake user: leads would go round for ever.")


def test_the_ledger_names_who_was_passed_over_in_the_order_of_their_turns():
    """A rep's "why not me?": each reason in words, who would have come first first, the paused last."""
    absent = {user("D"): (Absence(user("D"), NOW, datetime(2026, 12, 4, 9, tzinfo=UTC)),)}
    members = [
        rep("A", next_turn=9_000_000_000, last_turn=9),
        rep("B", next_turn=3_000_000_000, last_turn=3, daily_cap=5, day="2026-03-04", day_count=5),
        rep("C", weight=0),
        rep("D", next_turn=1_000_000_000, last_turn=1),
        rep("E", next_turn=2_000_000_000, last_turn=2, accepts="Country = 'FR'"),
    ]
    decision = given(members, {"Country": "DE"}, configuration(absences=absent), clock=1_000_000_000, turn=9)
    assert decision.explanation == (
        "Rule 'all' chose group 'emea'; turn 10 went to A. Passed over: D: absent until 4 Dec 09:00 +00:00; "
        "E: does not accept this lead; B: cap 5/5 today; C: paused: weight 0."
    )


def test_of_two_reasons_the_one_that_holds_for_every_lead_is_told():
    """Off duty comes first: it is what the member sees, too."""
    decision = given([rep("A", active=False, accepts="Country = 'FR'"), "B"], {"Country": "DE"})
    assert decision.explanation.endswith("Passed over: A: member inactive.")


def test_a_long_list_is_cut_and_counted():
    """The ledger's field is finite; the first twenty are named."""
    members = [rep(f"{number:02d}"[-1], id=f"m{number:02d}", active=False) for number in range(25)]
    decision = given([*members, rep("Z", sort_order=1)])
    assert decision.explanation.count("member inactive") == 20
    assert decision.explanation.endswith("; and 5 more.")


def test_a_skip_costs_no_turn():
    """A member passed over comes next on its first chance, and its row is not touched meanwhile."""
    group = pool("emea", [rep("A", accepts="Country = 'FR'"), "B", "C"])
    countries = ["DE", "DE", "FR", "DE"]
    seen = snapshot([lead(number, Country=country) for number, country in enumerate(countries)], [group])
    decisions = decide(configuration(), seen, [ask(number) for number in range(4)])
    assert [decision.turn.member.name for decision in decisions] == ["B", "C", "A", "B"]
    assert [decision.turn.number for decision in decisions] == [1, 2, 3, 4]
    before_a = decisions[1].turn.group.members[0]
    assert before_a == group.members[0]


def test_nobody_eligible_holds_the_lead_and_moves_no_turn():
    """D4: on duty, but not for this lead."""
    decision = given([rep("A", accepts="Country = 'FR'")], {"Country": "DE"})
    assert isinstance(decision, Hold)
    assert decision.reason == "group 'emea': nobody can take it: A: does not accept this lead"
    assert decision.until is None


@pytest.mark.parametrize(
    ("members", "had", "eligible"),
    [
        ("ABC", "A", "BC"),  # never back to the one who had it
        ("ABC", "AB", "C"),  # nor to one before
        ("ABC", "ABC", "AB"),  # all had it: not to the last
        ("AB", "BA", "B"),
        ("A", "A", "A"),  # alone
        ("A", "", "A"),
    ],
)
def test_who_had_the_lead_does_not_get_it_again_unless_alone(members, had, eligible):
    """D7: B gives the lead back; it goes to anyone but B while there is anyone."""
    rows = [row(1, INTAKE, round_ + 1, assigned_to=user(name)) for round_, name in enumerate(had)]
    former = former_owners(lead(1), rows)
    found = standings(pool("emea", members), lead(1), former, Moment(NOW), rulebook(configuration()))
    assert "".join(sorted(one.member.name for one in found if one.refusal is None)) == eligible


def test_only_those_who_come_back_make_nobody_alone():
    """An absent colleague is worth waiting for; a deactivated one, or one who takes no such leads, is not."""
    rows = [row(1, INTAKE, 1, assigned_to=user("A"))]
    former = former_owners(lead(1), rows)
    away = Moment(NOW, absences={user("B"): (Absence(user("B"), NOW, NOW.replace(hour=13)),)})
    book = rulebook(configuration())

    def refused(second, moment):
        (one, *_) = standings(pool("emea", ["A", second]), lead(1, Country="DE"), former, moment, book)
        return one.refusal

    assert refused("B", away) == "had this lead before"
    for second in (rep("B", active=False), rep("B", weight=0), rep("B", accepts="Country = 'FR'")):
        assert refused(second, Moment(NOW)) is None


def test_former_owners_are_people_of_the_ledger_and_whoever_has_it_now():
    """Queues own nothing in this sense; without a routing of ours nobody is a former owner."""
    rounds = [row(1, INTAKE, 2, id="a", assigned_to=user("B")), row(1, INTAKE, 1, id="b", assigned_to=user("A"))]
    assert former_owners(lead(1), rounds) == Former(frozenset({user("A"), user("B")}), user("B"))
    rows = [row(1, user("C"), 2, assigned_to=user("B")), row(1, user("C"), 1, assigned_to=INTAKE)]
    assert former_owners(lead(1, owner_id=user("C")), rows) == Former(frozenset({user("B"), user("C")}), user("C"))
    assert former_owners(lead(1), rows) == Former(frozenset({user("B")}), user("B"))
    assert former_owners(lead(1, owner_id=user("C")), []) == Former()
    assert former_owners(replace(lead(1), owner_id=user("C")), rows[1:]) == Former()
