"""Clauses that are refused, by name and place; and the tree that an accepted clause becomes."""

from __future__ import annotations

import pytest

from lead_router.core.soql import And, Compare, In, Not, Null, Number, Or, Text, compile_where, parse, pinned
from lead_router.errors import BadCriteria

TYPES = {"LeadSource": "picklist", "AnnualRevenue": "currency", "OwnerId": "reference", "IsConverted": "boolean",
         "CreatedDate": "datetime", "Born__c": "date", "Tags__c": "multipicklist", "Where__c": "location",
         "Description": "longtextarea", "Coded__c": "unfilterable"}  # fmt: skip

REFUSED = [
    ("LeadSource", 10, "operator"),
    ("LeadSource =", 12, "the clause ends"),
    ("= 'x'", 0, "field name"),
    ("LeadSource = 'x", 13, "does not end"),
    ('LeadSource = "x"', 13, "single quotes"),
    ("LeadSource = x", 13, "a value"),
    ("LeadSource = :x", 13, "bind"),
    ("LeadSource == 'x'", 12, "a value"),
    ("LeadSource = 'x' AND", 20, "field name"),
    ("LeadSource = 'x' LeadSource = 'y'", 17, "AND, OR or the end"),
    ("(LeadSource = 'x'", 17, "')'"),
    ("LeadSource = 'x')", 16, "AND, OR or the end"),
    ("LeadSource IN 'x'", 14, "'('"),
    ("LeadSource IN ()", 15, "a value"),
    ("LeadSource IN ('x',)", 19, "a value"),
    ("LeadSource IN (SELECT Id FROM Lead)", 15, "subquery"),
    ("LeadSource NOT LIKE 'x'", 15, "NOT before the field"),
    ("LeadSource LIKE null", 16, "quoted text after LIKE"),
    ("LeadSource = 'a' AND LeadSource = 'b' OR LeadSource = 'c'", 38, "parentheses"),
    ("NOT LeadSource = 'a' AND LeadSource = 'b'", 21, "parentheses"),
    ("LeadSource = 'a' AND NOT LeadSource = 'b'", 21, "parentheses"),
    ("LeadSource = 'a\\q'", 15, "escape"),
    ("LeadSource = 'a\\%'", 15, "escape"),
    ("LeadSource > null", 11, "null"),
    ("CALENDAR_YEAR(CreatedDate) = 2026", 0, "functions"),
    ("AnnualRevenue > USD5000", 16, "a value"),
    ("AnnualRevenue > 1,000", 17, "AND, OR or the end"),
    ("CreatedDate > 2026-02-30T00:00:00Z", 14, "calendar"),
    ("Born__c > 1699-12-31", 10, "1700"),
    ("CreatedDate = THIS_FISCAL_YEAR", 14, "fiscal"),
    ("CreatedDate = LAST_N_DAYS:0", 14, "1 to 9999"),
    ("CreatedDate = LAST_N_DAYS", 14, "a value"),
    ("CreatedDate = TODAY:3", 14, "no date literal"),
    ("WHERE LeadSource = 'x'", 6, "operator"),
    ("LeadSource = 'x' ORDER BY Id", 17, "AND, OR or the end"),
    ("LeadSource = 'x'; DROP", 16, "cannot be read"),
    ("LeedSource = 'x'", 0, "did you mean LeadSource?"),
    ("Quite_Other__c = 'x'", 0, "no field Quite_Other__c"),
    ("AnnualRevenue > '5'", 16, "number without quotes"),
    ("LeadSource = 5", 13, "quoted text"),
    ("IsConverted = 'true'", 14, "TRUE or FALSE"),
    ("CreatedDate > 2026-01-01", 14, "date and time"),
    ("Born__c > 2026-01-01T00:00:00Z", 10, "a date"),
    ("Born__c = '2026-01-01'", 10, "without quotes"),
    ("OwnerId = 'Intake'", 10, "record id"),
    ("OwnerId LIKE '005%'", 0, "LIKE is for text"),
    ("Tags__c LIKE 'a'", 0, "LIKE is for text"),
    ("LeadSource = 'x' AND description = 'x'", 21, "Description is a long text and cannot be filtered"),
    ("Description != null", 0, "Description is a long text and cannot be filtered"),
    ("Description LIKE '%x%'", 0, "Description is a long text and cannot be filtered"),
    ("Description IN ('x')", 0, "Description is a long text and cannot be filtered"),
    ("Coded__c = 'x'", 0, "Coded__c cannot be filtered"),
    ("LeadSource INCLUDES ('x')", 0, "multi-select"),
    ("Tags__c INCLUDES (5)", 18, "quoted texts"),
    ("Tags__c > 'a'", 0, "cannot order"),
    ("Where__c = 'x'", 0, "cannot be filtered"),
    ("(" * 60 + "LeadSource = 'x'" + ")" * 60, 51, "nested"),
]


@pytest.mark.parametrize(("clause", "at", "words"), REFUSED)
def test_a_bad_clause_is_refused_with_its_place_and_the_reason(clause, at, words):
    """A bad clause never matches silently: it is refused when loaded, by name."""
    with pytest.raises(BadCriteria) as refused:
        compile_where(clause, TYPES)
    assert words in str(refused.value)
    assert refused.value.at == at


def test_a_clause_longer_than_a_query_is_refused():
    with pytest.raises(BadCriteria, match="longer than"):
        compile_where("A = '" + "x" * 100_000 + "'")


def test_field_names_are_reported_as_the_org_spells_them():
    criteria = compile_where("leadsource = 'x' AND (NOT annualrevenue > 1)", TYPES)
    assert criteria.fields == {"LeadSource", "AnnualRevenue"}


def test_the_tree_says_what_the_clause_says():
    tree = parse("Id IN ('a') AND (NOT B = null) AND (C <> 1 OR D NOT IN (2))")
    assert tree == And(
        (
            In("Id", negated=False, values=(Text("a", "a", 7),), at=0),
            Not(Compare("B", "=", Null(25), 21)),
            Or((Compare("C", "!=", Number(1, 41), 36), In("D", negated=True, values=(Number(2, 56),), at=46))),
        )
    )


def test_pinned_values_are_those_that_every_match_must_have():
    """What a query limits a field to, for whoever keeps an index of it."""
    assert pinned(parse("id = 'x' AND A = 1"), "Id") == (Text("x", "x", 5),)
    assert pinned(parse("A = 1 AND (Id IN ('x'))"), "Id") == (Text("x", "x", 18),)
    for clause in ("Id = 'x' OR A = 1", "Id NOT IN ('x')", "NOT Id = 'x'", "Id != 'x'", ""):
        assert pinned(parse(clause), "Id") is None
