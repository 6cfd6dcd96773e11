"""Rules: first match by precedence, and what a person is told about the rules."""

from __future__ import annotations

import pytest

from lead_router.core.model import ToGroup
from lead_router.core.rules import first_match, is_unassigned, rulebook
from lead_router.errors import BadCriteria, Misconfigured
from support.decide_scene import INTAKE, NOW, configuration, lead, rule, user

FRENCH = rule("french", 20, "Country = 'FR'")
BIG = rule("big", 10, "AnnualRevenue >= 1000000")
ALL = rule("all", 90)


def test_the_first_match_by_precedence_wins_whatever_the_order_of_rows():
    """P65: precedence decides, not the order in which rules were read."""
    big_french = lead(1, Country="FR", AnnualRevenue=2e6)
    for rules in ((FRENCH, BIG, ALL), (ALL, FRENCH, BIG)):
        book = rulebook(configuration(*rules))
        assert first_match(book, big_french, NOW) == BIG
        assert first_match(book, lead(1, Country="fr"), NOW) == FRENCH
        assert first_match(book, lead(1), NOW) == ALL


def test_no_match_is_none():
    assert first_match(rulebook(configuration(FRENCH)), lead(1, Country="DE"), NOW) is None


@pytest.mark.parametrize(
    ("rules", "warnings"),
    [
        ((BIG, FRENCH, ALL), ()),
        ((FRENCH,), ("no rule takes every lead",)),
        ((rule("first", 1, "  "), FRENCH), ("rule 'french' never matches: rule 'first' above it takes every lead",)),
        ((FRENCH, rule("again", 30, "country='FR'"), ALL), ("rule 'again' never matches: rule 'french' above it has",)),
        ((FRENCH, rule("other", 30, "Country = 'fr '"), ALL), ()),
        ((ALL, rule("last", 99)), ("rule 'last' never matches: rule 'all' above it takes every lead",)),
    ],
)
def test_shadowed_rules_and_a_missing_catch_all_are_told(rules, warnings):
    """P65: a broad rule above a narrow one, the same clause twice, and no catch-all are warned about."""
    found = rulebook(configuration(*rules)).warnings
    assert len(found) == len(warnings)
    assert all(told.startswith(wanted) for told, wanted in zip(found, warnings, strict=True))


def test_a_precedence_used_twice_is_refused_with_both_names():
    with pytest.raises(Misconfigured, match=r"'one' and 'two' both have precedence 5"):
        rulebook(configuration(rule("one", 5), rule("two", 5)))


def test_a_rule_for_an_absent_group_is_refused_by_name():
    with pytest.raises(Misconfigured, match="rule 'lost' targets a group that does not exist"):
        rulebook(configuration(rule("lost", 1, target=ToGroup("g9"))))


def test_a_bad_clause_is_refused_with_the_rule_and_the_place():
    """F13: a clause that cannot be read names its rule and character; a misspelt field its neighbour."""
    with pytest.raises(BadCriteria, match=r"criteria of rule 'odd', character 11: .*value"):
        rulebook(configuration(rule("odd", 1, "Country = = 'FR'")))
    with pytest.raises(BadCriteria, match="did you mean Country"):
        rulebook(configuration(rule("odd", 1, "Contry = 'FR'"), field_types={"Country": "string"}))
    with pytest.raises(BadCriteria, match="definition of unassigned"):
        rulebook(configuration(unassigned="Country ="))


def test_equal_rules_are_compiled_once():
    """Every batch asks for the rulebook; only a change compiles anew."""
    one, same = rulebook(configuration(FRENCH, ALL)), rulebook(configuration(FRENCH, ALL))
    assert one.rules is same.rules
    assert rulebook(configuration(FRENCH, ALL, unassigned="Country != null")).unassigned is not one.unassigned


@pytest.mark.parametrize(
    ("changes", "routed_before", "unassigned"),
    [
        ({}, False, True),
        ({}, True, True),
        ({"owner_id": user("A")}, False, False),
        ({"owner_id": user("A"), "status": "recycled"}, False, True),
        ({"owner_id": user("A"), "status": "Recycled"}, True, False),
        ({"Country": "XX"}, False, False),
        ({"owner_id": user("A"), "status": None}, False, False),
    ],
)
def test_unassigned_is_an_intake_owner_or_status_within_the_clause(changes, routed_before, unassigned):
    """P56: never an empty owner; a status counts only until the first routing, so that it cannot go round for ever."""
    settings = configuration(intake_statuses=frozenset({"Recycled"}), unassigned="Country != 'XX'")
    book = rulebook(settings)
    assert book.intake_owners == {INTAKE}
    assert is_unassigned(book, lead(1, **changes), NOW, routed_before=routed_before) is unassigned


AMOUNTS = {"AnnualRevenue": "currency", "Fee__c": "currency", "Country": "string"}
RICH = rule("rich", 5, "annualrevenue > 1000000 AND Fee__c > 1")
DOLLARS = rule("dollars", 6, "CurrencyIsoCode = 'USD' AND AnnualRevenue > 1000000")


def test_amounts_of_several_currencies_are_not_compared_unseen():
    """E14: told by name where leads bear a currency, and only where the rule names none; one currency needs nothing."""
    several = AMOUNTS | {"CurrencyIsoCode": "picklist"}
    (told,) = rulebook(configuration(RICH, DOLLARS, FRENCH, ALL, field_types=several)).warnings
    assert told == (
        "rule 'rich' compares AnnualRevenue, Fee__c as it stands, whatever the lead's currency: "
        "name one, such as CurrencyIsoCode = 'USD' AND AnnualRevenue > 1000000"
    )
    assert rulebook(configuration(RICH, FRENCH, ALL, field_types=AMOUNTS)).warnings == ()


@pytest.mark.parametrize(
    ("amount", "winner"),
    [
        ({"AnnualRevenue": 5e6, "CurrencyIsoCode": "JPY"}, ALL),
        ({"AnnualRevenue": 5e6, "CurrencyIsoCode": None}, ALL),
        ({"AnnualRevenue": 5e6}, ALL),
        ({"AnnualRevenue": 5e6, "CurrencyIsoCode": "USD"}, DOLLARS),
        ({"AnnualRevenue": 5e5, "CurrencyIsoCode": "USD"}, ALL),
    ],
)
def test_a_rule_that_names_a_currency_takes_no_other(amount, winner):
    """E14: five million yen, or of no known currency, are not more than a million dollars."""
    book = rulebook(configuration(DOLLARS, ALL, field_types=AMOUNTS | {"CurrencyIsoCode": "picklist"}))
    assert first_match(book, lead(1, **amount), NOW) == winner
