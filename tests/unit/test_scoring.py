"""Points for criteria, usable in rules, explained by name."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from lead_router.core.adding import with_added
from lead_router.core.enrichment import Asking, Mapped
from lead_router.core.rules import first_match, rulebook
from lead_router.core.scoring import Points, Scoring, fields_of, score, told
from lead_router.errors import BadCriteria
from support import decide_scene as scene

AT = datetime(2026, 11, 30, 9, tzinfo=UTC)
TYPES = {"NumberOfEmployees": "int", "LeadSource": "picklist", "Industry": "picklist", "Lead_Score__c": "double"}
NONE = frozenset(TYPES.items())
SCORING = Scoring(
    "Score",
    "Lead_Score__c",
    (
        Points("big", "NumberOfEmployees >= 500", 50, "score.yaml:3"),
        Points("web", "LeadSource = 'Web'", 15, "score.yaml:6"),
        Points("unknown", "Industry = NULL", -5, "score.yaml:9"),
    ),
)


def test_points_of_all_criteria_that_are_met_are_summed_up_and_told_by_name():
    """Minus counts; no value of the lead is told."""
    found = score(SCORING, {"NumberOfEmployees": 600, "LeadSource": "web", "Industry": None}, AT, NONE)
    assert (found.points, told(found)) == (60, "Score 60: big +50, web +15, unknown -5.")
    assert told(score(SCORING, {"Industry": "Steel"}, AT, NONE)) == "Score 0."
    assert fields_of(SCORING, NONE) == {"NumberOfEmployees", "LeadSource", "Industry"}


@pytest.mark.parametrize(
    ("clause", "fault"),
    [("NumberOfEmploees > 1", "score.yaml:3.*did you mean NumberOfEmployees"), ("Lead_Score__c > 1", "score itself")],
)
def test_criteria_that_cannot_be_used_are_named_with_file_and_line(clause, fault):
    """As rules' are; nor may a score ask for itself."""
    wrong = replace(SCORING, criteria=(Points("big", clause, 1, "score.yaml:3"),))
    with pytest.raises(BadCriteria, match=fault):
        score(wrong, {}, AT, NONE)


def test_rules_see_the_score_under_its_name_and_its_field_s():
    """Computed of what is known now, whatever the lead's field says; the ledger tells why."""
    wanted = scene.rule("hot", 1, "Score >= 65 AND Lead_Score__c >= 65")
    made = scene.configuration(wanted, scene.rule("all", 2), scoring=SCORING, field_types={**TYPES, "Score": "double"})
    fields = {"NumberOfEmployees": 600, "LeadSource": "Web", "Industry": "Steel", "Lead_Score__c": 3.0}
    plain = scene.snapshot(leads=[scene.lead(1, **fields)], groups=[])
    (lead,) = with_added(made, plain, {}).leads.values()
    assert (first_match(rulebook(made), lead, AT).name, lead.notes) == ("hot", ("Score 65: big +50, web +15.",))
    assert lead.fields["Lead_Score__c"] == 3.0
    assert first_match(rulebook(made), plain.leads[lead.id], AT).name == "all"


def test_a_score_is_of_what_was_enriched():
    """An answer counts for the score as for rules; what the org has wins; a lead not asked about bears no note."""
    asking = Asking("GET", ("https://x.example",), None, (Mapped("NumberOfEmployees", ("n",)),), 2, 5, 3, 4, 60)
    made = scene.configuration(scoring=SCORING, enrichment=asking, field_types={**TYPES, "Score": "double"})
    told = [scene.lead(n, Industry="Steel", NumberOfEmployees=5 if n == 2 else None) for n in (1, 2, 3, 4)]
    one, two, three, _ = (lead.id for lead in told)
    size = {"NumberOfEmployees": 900}
    answers = {one: size, two: size, three: None}
    leads = with_added(made, scene.snapshot(leads=told, groups=[]), answers).leads
    assert [lead.notes for lead in leads.values()] == [
        ("Enriched: NumberOfEmployees.", "Score 50: big +50."),
        ("Enrichment knew nothing new.", "Score 0."),
        ("Routed before enrichment answered.", "Score 0."),
        ("Score 0.",),
    ]


def test_nothing_is_added_where_no_hop_is_on():
    """It costs nothing."""
    plain = scene.snapshot(leads=[scene.lead(1)], groups=[])
    assert with_added(scene.configuration(), plain, {}) is plain
