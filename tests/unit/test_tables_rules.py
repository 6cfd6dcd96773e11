"""Tables: each row a lead's shape and the rule that wins, with what that rule makes of it."""

from __future__ import annotations

import pytest

from lead_router.core.decide import decide
from lead_router.core.model import Assign, Hold, Match, Skip, ToGroup, ToMatched, ToOwner
from lead_router.core.rules import first_match, rulebook
from lead_router.core.targets import MatchBy, MatchOn
from support.decide_scene import INTAKE, NOW, ask, configuration, lead, pool, rule, snapshot, user

VERA = ToOwner(user("V"), "Vera")
BOOK = (
    rule("matched", 5, "Email LIKE '%@known.example'", ToMatched((MatchOn.ACCOUNT,), MatchBy.DOMAIN)),
    rule("big", 10, "AnnualRevenue >= 1000000", VERA),
    rule("dach", 20, "Country IN ('DE', 'AT', 'CH') AND LeadSource != 'Partner'", ToGroup("g1")),
    rule("norway", 30, "Country = 'NO'", ToGroup("g1")),
    rule("quiet", 40, "Country = null AND (NOT Email LIKE '%@%')", ToGroup("g2")),
    rule("fresh", 50, "CreatedDate = TODAY AND Rating IN ('Hot', 'Warm')", ToGroup("g2")),
    rule("rest", 90),
)
SHAPES = [
    ({"Country": "DE"}, "dach"),
    ({"Country": "de"}, "dach"),
    ({"Country": "DE", "LeadSource": "Partner"}, "rest"),
    ({"Country": "DE", "LeadSource": None}, "dach"),
    ({"Country": "NO"}, "norway"),
    ({"Country": "FR"}, "rest"),
    ({"Country": "DE", "AnnualRevenue": 1_000_000}, "big"),
    ({"Country": "DE", "AnnualRevenue": 999_999.99}, "dach"),
    ({"Country": "DE", "AnnualRevenue": None}, "dach"),
    ({"Country": None}, "quiet"),
    ({}, "quiet"),
    ({"Country": "", "Rating": "Hot"}, "quiet"),
    ({"Country": "FR", "Rating": "Hot"}, "fresh"),
    ({"Country": "FR", "Rating": "Cold"}, "rest"),
    ({"Country": "FR", "Rating": "Hot", "CreatedDate": "2026-03-03T23:59:59.000+0000"}, "rest"),
    ({"Country": "FR", "Email": "a@known.example"}, "matched"),
    ({"Country": "FR", "Email": "a@KNOWN.example", "AnnualRevenue": 5e6}, "matched"),
    ({"Country": "FR", "Email": "a@known.example.org"}, "rest"),
]


@pytest.mark.parametrize(("shape", "winner"), SHAPES, ids=str)
def test_a_lead_of_this_shape_is_won_by_this_rule(shape, winner):
    """P65, E16: first match by precedence; the country code NO is text; blank is null; the order of rows is nothing."""
    one = lead(1, shape.get("Email"), **{name: value for name, value in shape.items() if name != "Email"})
    for rows in (BOOK, BOOK[::-1]):
        assert first_match(rulebook(configuration(*rows)), one, NOW).name == winner


MATCH = Match(MatchOn.ACCOUNT, MatchBy.DOMAIN, "001000000000001AAA", user("M"), "Mia")
AWAY = Match(MatchOn.ACCOUNT, MatchBy.DOMAIN, "001000000000001AAA", user("M"), "Mia", user_active=False)
KNOWN = "a@known.example"
BECOMES = [
    # the lead's shape, what matches it, then owner and the rule that led there
    ({"Country": "DE"}, (), user("A"), "dach"),
    ({"AnnualRevenue": 2e6}, (), user("V"), "big"),
    ({"Email": KNOWN, "Country": "DE"}, (MATCH,), user("M"), "matched"),
    ({"Email": KNOWN, "Country": "DE"}, (AWAY,), user("A"), "dach"),
    ({"Email": KNOWN, "Country": "DE"}, (), user("A"), "dach"),
    ({"Email": KNOWN, "AnnualRevenue": 2e6}, (AWAY,), user("V"), "big"),
    ({"Country": "FR", "Rating": "Hot"}, (), user("X"), "fresh"),
]


@pytest.mark.parametrize(("shape", "matches", "owner", "winner"), BECOMES)
def test_the_winning_rule_gives_the_lead_to_its_target(shape, matches, owner, winner):
    """P65: a matched rule falls through to the next that the lead meets; a person, a group and a match each decide."""
    one = lead(1, shape.get("Email"), **{name: value for name, value in shape.items() if name != "Email"})
    seen = snapshot([one], [pool("emea", "A"), pool("apac", "X")], matches={one.id: matches})
    (decision,) = decide(configuration(*BOOK), seen, [ask(1)])
    assert isinstance(decision, Assign)
    assert (decision.owner_id, decision.rule.name) == (owner, winner)
    assert (decision.turn is None) == (owner in {user("M"), user("V")})


STATES = [
    ({}, Assign, ""),
    ({"owner_id": user("Z")}, Skip, "already owned"),
    ({"is_converted": True}, Skip, "converted"),
    ({"owner_id": user("Z"), "round": 1}, Skip, "already owned"),
    ({"owner_id": INTAKE, "round": 1}, Assign, "Routed anew: it was returned."),
]


@pytest.mark.parametrize(("state", "kind", "told"), STATES)
def test_a_lead_in_this_state_comes_to_a_rule_or_not(state, kind, told):
    """E1, P55, P56, P59, P62: unassigned is an intake queue's; what a person owns or converted stays as it is."""
    (decision,) = decide(configuration(), snapshot([lead(1, **state)], [pool("emea", "A")]), [ask(1)])
    assert isinstance(decision, kind)
    said = decision.explanation if isinstance(decision, Assign) else decision.reason
    assert said.startswith(told)


def test_no_rule_holds_the_lead():
    """P65: without a catch-all a lead that meets nothing waits, and says why."""
    (decision,) = decide(configuration(*BOOK[:4]), snapshot([lead(1, Country="FR")], []), [ask(1)])
    assert isinstance(decision, Hold)
    assert (decision.reason, decision.rule) == ("no rule matches", None)
