"""Which rules no lead reaches: each row a rule, the rules above it, and those that take all its leads."""

from __future__ import annotations

import pytest

from lead_router.rulefiles.broader import PARTS_MAX, reach, takers

TYPES = {
    "Country": "string",
    "AnnualRevenue": "currency",
    "Email": "email",
    "IsConverted": "boolean",
    "Born__c": "date",
    "CreatedDate": "datetime",
    "Tags__c": "multipicklist",
    "Owner.Type": "string",
}

TAKEN = [
    ("Country = 'NO'", ["Country = 'no'"], (0,)),
    ("Country = 'NO' AND AnnualRevenue > 5", ["Country IN ('NO', 'SE')"], (0,)),
    ("Country IN ('NO', 'SE')", ["Country = 'NO'", "Country = 'SE'"], (0, 1)),
    ("Country = 'NO' OR Country = 'SE'", ["Country = 'DK'", "Country IN ('SE', 'NO')"], (1,)),
    ("Country = 'NO'", ["Country != null"], (0,)),
    ("Country = 'NO'", ["Country != 'SE'"], (0,)),
    ("Country = 'NO'", ["NOT Country LIKE 'S%'"], (0,)),
    ("Country = 'Norway'", ["Country LIKE 'Nor%'"], (0,)),
    ("Country NOT IN ('NO', 'SE')", ["Country != 'NO'"], (0,)),
    ("NOT (Country = 'NO' OR Country = 'SE')", ["NOT Country = 'SE'"], (0,)),
    ("AnnualRevenue > 10", ["AnnualRevenue > 5"], (0,)),
    ("AnnualRevenue > 5", ["AnnualRevenue >= 5"], (0,)),
    ("AnnualRevenue = 7", ["AnnualRevenue > 5"], (0,)),
    ("AnnualRevenue > 7", ["AnnualRevenue != 7"], (0,)),
    ("AnnualRevenue < 3", ["AnnualRevenue <= 3"], (0,)),
    ("AnnualRevenue > 3", ["AnnualRevenue != null"], (0,)),
    ("Email LIKE '%@acme.com'", ["Email LIKE '%acme%'"], (0,)),
    ("Email LIKE 'sales@%'", ["Email LIKE 'sales%'"], (0,)),
    ("Email LIKE '%@de.acme.com'", ["Email LIKE '%acme.com'"], (0,)),
    ("Born__c > 2000-01-01", ["Born__c >= 2000-01-01"], (0,)),
    ("CreatedDate = TODAY", ["CreatedDate = today"], (0,)),
    ("Tags__c INCLUDES ('A;B')", ["Tags__c INCLUDES ('A')"], (0,)),
    ("Tags__c INCLUDES ('A')", ["Tags__c INCLUDES ('B', 'A')"], (0,)),
    ("IsConverted = FALSE", ["IsConverted = null"], (0,)),
    ("Owner.Type = 'Queue'", ["Owner.Type IN ('Queue', 'User')"], (0,)),
    ("Country = 'NO'", ["", "Country = 'NO'"], (0,)),
    ("", [""], (0,)),
    ("Country = 'NO'", ["Country = 'NO' AND AnnualRevenue > 5", "(Country = 'NO' OR Country = 'SE')"], (1,)),
]
REACHED = [
    ("Country = 'NO'", ["Country = 'NO' AND AnnualRevenue > 5"]),
    ("Country IN ('NO', 'SE')", ["Country = 'NO'"]),
    ("", ["Country = 'NO'", "Country != 'NO' AND AnnualRevenue > 5"]),
    ("Country != 'NO'", ["Country = 'SE'"]),
    ("Country != null", ["Country != 'NO'"]),
    ("AnnualRevenue >= 5", ["AnnualRevenue > 5"]),
    ("AnnualRevenue != 5", ["AnnualRevenue > 5"]),
    ("NOT AnnualRevenue > 5", ["AnnualRevenue <= 5"]),  # a blank one is neither
    ("Email LIKE '%acme%'", ["Email LIKE '%acme'"]),
    ("Email LIKE 'a_me%'", ["Email LIKE 'a%'"]),  # not certain, so not told
    ("CreatedDate = TODAY", ["CreatedDate = YESTERDAY"]),
    ("Born__c = 2000-01-01", ["Born__c = TODAY"]),
    ("Tags__c INCLUDES ('A')", ["Tags__c INCLUDES ('A;B')"]),
    ("Country = null", ["Country = 'NO'"]),
]


@pytest.mark.parametrize("types", [TYPES, None], ids=["typed", "untyped"])
@pytest.mark.parametrize(("rule", "above", "by"), TAKEN)
def test_a_rule_behind_broader_ones_is_never_reached(rule, above, by, types):
    """P65: not only the same criteria and the catch-all, but every rule that takes the same leads or more."""
    found = takers(reach("it", rule, types), [reach(str(at), one, types) for at, one in enumerate(above)])

    assert found == tuple(map(str, by))


@pytest.mark.parametrize("types", [TYPES, None], ids=["typed", "untyped"])
@pytest.mark.parametrize(("rule", "above"), REACHED)
def test_a_rule_that_some_lead_reaches_is_not_blamed(rule, above, types):
    """P65: what is told is certain."""
    assert takers(reach("it", rule, types), [reach(str(at), one, types) for at, one in enumerate(above)]) is None


@pytest.mark.parametrize(
    "clause",
    [
        "Country = 'NO' AND Country = 'SE'",
        "AnnualRevenue > 5 AND AnnualRevenue = null",
        "Country = 'a' AND (NOT Country = 'A')",
        "(Country = 'NO' OR Country = 'SE') AND Country = 'DK'",
    ],
)
def test_criteria_that_contradict_themselves_have_no_leads(clause):
    """A clause that nothing can meet has no parts."""
    assert reach("it", clause, TYPES).parts == ()


def test_a_clause_of_too_many_parts_is_only_behind_a_catch_all():
    """A limit, not a wrong answer: the question is not asked of a clause that would become too large."""
    clause = " AND ".join(f"(Country = 'a{n}' OR Country LIKE 'b{n}%')" for n in range(PARTS_MAX.bit_length()))
    wide = reach("wide", clause, TYPES)

    assert wide.parts is None
    assert takers(wide, [reach("it", clause, TYPES)]) is None
    assert takers(wide, [reach("all", "", TYPES)]) == ("all",)
    assert takers(reach("it", "Country = 'x'", TYPES), [wide]) is None
