"""Matched owner: a lead goes to whoever already knows the customer, without a turn, if they may have it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from lead_router.core.decide import batches, decide
from lead_router.core.hours import windows
from lead_router.core.model import Absence, Assign, Hold, Hours, Match, MatchBy, MatchOn, Outcome, ToMatched
from lead_router.core.rules import rulebook
from support.decide_scene import INTAKE, NOW, ask, configuration, lead, lead_id, pool, rep, row, rule, snapshot, user

ANY = (MatchOn.ACCOUNT, MatchOn.CONTACT, MatchOn.LEAD)
EMEA = pool("emea", "AB")
ABSENT = {user("V"): (Absence(user("V"), NOW, NOW + timedelta(hours=3)),)}


def match(on=MatchOn.CONTACT, name="V", by=MatchBy.EMAIL, **changes) -> Match:
    own = {"record_id": f"003{name}", "owner_id": user(name), "name": f"Rep {name}"}
    return Match(on, by, **(own | changes))


def settings(target=None, **changes):
    return configuration(rule("known", 1, "", target or ToMatched(ANY, MatchBy.EMAIL)), rule("all", 2), **changes)


def given(matches, target=None, groups=(EMEA,), ledger=(), lead_fields=None, **changes):
    seen = snapshot([lead(1, **(lead_fields or {}))], groups, ledger, matches={lead_id(1): tuple(matches)})
    (decision,) = decide(settings(target, **changes), seen, [ask(1)])
    return decision


def test_the_owner_of_a_matching_record_has_the_lead_without_a_turn():
    """Its own outcome, no turn, no move of any rotation, and the reason."""
    decision = given([match()])
    assert isinstance(decision, Assign)
    assert (decision.owner_id, decision.outcome, decision.turn, decision.group_id) == (
        user("V"),
        Outcome.MATCHED,
        None,
        None,
    )
    assert decision.explanation == (
        "Rule 'known' gives it to Rep V, the owner of Contact 003V of the same e-mail address."
    )
    (batch,) = batches([decision])
    assert batch.before is None


def test_kinds_come_in_the_rules_order_and_records_in_the_snapshots():
    """Of two contacts the first read; of a contact and an account whichever the rule names first."""
    found = [match(MatchOn.LEAD, "L"), match(MatchOn.CONTACT, "C"), match(MatchOn.CONTACT, "D"), match(MatchOn.ACCOUNT)]
    assert given(found).owner_id == user("V")
    assert given(found, ToMatched((MatchOn.CONTACT, MatchOn.ACCOUNT), MatchBy.EMAIL)).owner_id == user("C")
    assert given(found, ToMatched((MatchOn.LEAD,), MatchBy.EMAIL)).owner_id == user("L")
    domain = [match(by=MatchBy.DOMAIN), match(name="W")]
    assert given(domain, ToMatched(ANY, MatchBy.DOMAIN)).explanation.endswith("of the same e-mail domain.")
    assert given(domain).owner_id == user("W")


NO_ADDRESS = "no Account or Contact or Lead has the same e-mail address"
MAIL = {"Email": "ada@acme.example"}


@pytest.mark.parametrize(
    ("found", "why"),
    [
        ([match(owner_id=INTAKE)], "Contact of Rep V: a queue, no person"),
        ([match(user_active=False)], "Contact of Rep V: user inactive"),
        ([match(frozen=True)], "Contact of Rep V: user frozen"),
        ([match(MatchOn.LEAD, reads_leads=False)], "Lead of Rep V: user cannot read leads"),
        ([match(frozen=True), match(frozen=True, record_id="003Z")], "Contact of Rep V: user frozen"),
        (
            [match(frozen=True), match(MatchOn.ACCOUNT, "W", user_active=False)],
            "Account of Rep W: user inactive; Contact of Rep V: user frozen",
        ),
        (
            [match(by=MatchBy.DOMAIN)],
            f"{NO_ADDRESS}; Contact of Rep V: matches by e-mail domain alone",
        ),
        ([match(by=MatchBy.DOMAIN), match(name="W", frozen=True)], "Contact of Rep W: user frozen"),
    ],
)
@pytest.mark.parametrize("falls_through", [True, False])
def test_a_match_that_can_own_nothing_falls_through_and_says_who_was_passed_over(found, why, falls_through):
    """E4, P52, P65: queues, inactive, frozen and blind users own nothing; waiting for them would be for ever."""
    decision = given(found, ToMatched(ANY, MatchBy.EMAIL, falls_through), lead_fields=MAIL)
    assert (decision.owner_id, decision.outcome, decision.turn.number) == (user("A"), Outcome.ASSIGNED, 1)
    assert decision.explanation == (
        f"Rule 'known' fell through: {why}. Rule 'all' chose group 'emea'; turn 1 went to A."
    )


@pytest.mark.parametrize(
    ("fields", "by", "why"),
    [
        ({}, MatchBy.EMAIL, "the lead has no e-mail address"),
        ({"Email": "  "}, MatchBy.DOMAIN, "the lead has no e-mail address"),
        ({"Email": "ada at acme"}, MatchBy.EMAIL, "its e-mail address cannot be looked for"),
        (MAIL, MatchBy.EMAIL, "no Contact or Lead has the same e-mail address"),
        (MAIL, MatchBy.DOMAIN, "no Contact or Lead has the same e-mail domain"),
        ({"Email": "Ada@GMAIL.com"}, MatchBy.EMAIL, "no Contact or Lead has the same e-mail address"),
        (
            {"Email": "Ada@GMAIL.com"},
            MatchBy.DOMAIN,
            "its e-mail domain is that of a public mail service, so that only whole addresses match",
        ),
    ],
)
def test_where_nothing_matches_the_ledger_says_why_and_tells_no_address(fields, by, why):
    """P65: "why did this not go to the account's owner?" is answered by the row alone."""
    decision = given([], ToMatched((MatchOn.CONTACT, MatchOn.LEAD), by), lead_fields=fields)
    assert decision.explanation.startswith(f"Rule 'known' fell through: {why}. Rule 'all'")
    assert "ada" not in decision.explanation.lower()


def test_whose_record_came_before_the_chosen_one_is_told_with_the_reason():
    """P65: two people know the customer; the one passed over can read why in the row of the other."""
    decision = given([match(frozen=True), match(name="W"), match(name="Z", user_active=False)])
    assert decision.owner_id == user("W")
    assert decision.explanation.endswith("same e-mail address. Passed over: Contact of Rep V: user frozen.")
    away = given([match(), match(name="W")], ToMatched(ANY, MatchBy.EMAIL, falls_through=False), absences=ABSENT)
    assert away.explanation.endswith("Passed over: Contact of Rep V: absent until 4 Mar 15:00 +00:00.")


def test_many_records_are_told_up_to_a_limit():
    """A domain with a thousand contacts makes no ledger row of a thousand names."""
    decision = given([match(name=chr(65 + number), frozen=True) for number in range(24)], lead_fields=MAIL)
    assert "Contact of Rep T: user frozen; and 4 more. Rule" in decision.explanation


def test_users_known_to_be_inactive_or_refused_own_nothing_either():
    """P50: known from a member's row, or from a refused commit; an intake user is no owner."""
    group = pool("emea", ["A", rep("V", user_active=False)])
    assert given([match()], groups=[group]).outcome is Outcome.ASSIGNED
    by_intake = given([match()], intake_owners=frozenset({INTAKE, user("V")}))
    assert "Contact of Rep V: an intake user." in by_intake.explanation
    seen = snapshot([lead(1)], [EMEA], matches={lead_id(1): (match(),)}, unfit=frozenset({user("V")}))
    (refused,) = decide(settings(), seen, [ask(1)])
    assert refused.owner_id == user("A")
    assert "Contact of Rep V: user refused as an owner by Salesforce." in refused.explanation


def test_an_owner_off_duty_is_waited_for_or_not_as_the_rule_says():
    """Falls through to the next rule, or holds the lead until the owner is back; the next match comes first."""
    through = given([match()], absences=ABSENT)
    assert through.owner_id == user("A")
    assert through.explanation.startswith(
        "Rule 'known' fell through: Contact of Rep V: absent until 4 Mar 15:00 +00:00. Rule 'all'"
    )
    waits = given([match()], ToMatched(ANY, MatchBy.EMAIL, falls_through=False), absences=ABSENT)
    assert isinstance(waits, Hold)
    assert (waits.until, waits.group_id) == (NOW + timedelta(hours=3), None)
    assert (
        waits.reason
        == "rule 'known' waits for the owner of a matching record: Contact of Rep V: absent until 4 Mar 15:00 +00:00"
    )
    other = given([match(), match(name="W")], ToMatched(ANY, MatchBy.EMAIL, falls_through=False), absences=ABSENT)
    assert (other.owner_id, other.outcome) == (user("W"), Outcome.MATCHED)


@pytest.mark.parametrize(("second", "retry_s"), [(0, 60), (0.25, 59.75), (29, 31), (30, 60), (59.5, 30.5)])
def test_a_wait_for_an_owner_is_looked_at_within_a_minute_and_together_with_others(second, retry_s):
    """No event tells of another owner: each look is at a whole half minute, and the owner's return comes first."""
    at = NOW.replace(second=0, microsecond=0) + timedelta(seconds=second)
    seen = replace(snapshot([lead(1)], (EMEA,), (), matches={lead_id(1): (match(),)}), taken_at=at)
    waits = settings(ToMatched(ANY, MatchBy.EMAIL, falls_through=False), absences=ABSENT)
    (decision,) = decide(waits, seen, [ask(1)])
    assert decision.retry_s == retry_s
    (almost,) = decide(waits, replace(seen, taken_at=NOW + timedelta(hours=3, seconds=-7)), [ask(1)])
    assert almost.retry_s == 7


CLOSED = {"late": Hours("late", "Late", "UTC", (windows(780, 1020),) * 7)}


def test_an_owner_who_is_a_member_keeps_that_places_hours_but_not_its_caps():
    """On duty in one place is on duty; a cap or weight of the rotation keeps no customer away."""
    late = pool("emea", ["A", rep("V", hours_id="late")])
    assert given([match()], groups=[late], hours=CLOSED).owner_id == user("A")
    two = [late, pool("apac", [rep("V", id="v2")])]
    assert given([match()], groups=two, hours=CLOSED).owner_id == user("V")
    capped = pool("emea", ["A", rep("V", weight=0, daily_cap=0, active=False, open_cap=0)])
    assert given([match()], groups=[capped]).owner_id == user("V")


def test_an_owner_who_gave_the_lead_back_does_not_get_it_again():
    """D7: of a matched owner too; it falls through even where the rule would wait."""
    rows = [row(1, INTAKE, assigned_to=user("V"))]
    decision = given([match()], ToMatched(ANY, MatchBy.EMAIL, falls_through=False), ledger=rows)
    assert decision.owner_id == user("A")
    assert "Contact of Rep V: had this lead before." in decision.explanation


def test_no_rule_behind_holds_the_lead_and_says_why():
    """P65: what fell through is told where nothing is left."""
    only = configuration(rule("known", 1, "", ToMatched(ANY, MatchBy.EMAIL)))
    (decision,) = decide(only, snapshot([lead(1)], [EMEA]), [ask(1)])
    assert isinstance(decision, Hold)
    assert decision.reason == ("no rule takes it. Rule 'known' fell through: the lead has no e-mail address.")


def test_a_matching_rule_without_criteria_is_no_catch_all():
    """P65: the rules behind it are reached, and the lack of a catch-all is warned about."""
    assert rulebook(settings()).warnings == ()
    alone = rulebook(configuration(rule("known", 1, "", ToMatched(ANY, MatchBy.EMAIL))))
    assert [warning[:30] for warning in alone.warnings] == ["no rule takes every lead: lead"]
