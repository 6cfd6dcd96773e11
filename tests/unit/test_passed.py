"""Passed over: the kinds of reason that the ledger can be counted by, the same in both languages."""

from __future__ import annotations

import json
import re
from itertools import permutations

import pytest

from lead_router.core.decide import decide
from lead_router.core.model import Absence
from lead_router.core.passed import KINDS, ORDER, OTHER, kind_of
from lead_router.salesforce.names import Lengths
from lead_router.salesforce.writes import BETWEEN
from support import shipped_metadata as shipped
from support.decide_scene import NOW, ask, configuration, lead, pool, rep, row, snapshot, user

CASES = json.loads((shipped.SOURCES / "staticresources" / "LeadRoutingCases.json").read_text(encoding="utf-8"))
INSIDE = (shipped.SOURCES / "classes" / "router" / "RoutingPassedOver.cls").read_text(encoding="utf-8")


def given(groups, settings=None, **changes):
    (decision,) = decide(settings or configuration(), snapshot([lead(1)], groups, **changes), [ask(1)])
    return decision


@pytest.mark.parametrize("case", CASES["passedOver"], ids=lambda case: case["reason"])
def test_the_kind_of_a_reason_is_that_of_the_cases(case):
    """The first words tell it, wherever times and numbers stand."""
    assert kind_of(case["reason"]) == case["kind"]


def test_every_reason_has_a_kind():
    """No reason of the shared cases of duty is only "other", and the cases show each line of the table."""
    assert OTHER not in {kind_of(case["expected"]) for case in CASES["duty"] if case["expected"] is not None}
    shown = [case["reason"] for case in CASES["passedOver"]]
    assert [start for start in KINDS if not any(reason.startswith(start) for reason in shown)] == []
    assert not any(one.startswith(other) for one, other in permutations(KINDS, 2))


def test_both_routers_hold_the_same_table_and_order():
    """The router inside tells the same kinds in the same order."""
    assert dict(re.findall(r"'(.+)' => '(.+)'", INSIDE)) == dict(KINDS)
    told = INSIDE.partition("TOLD_IN_ORDER = ")[2].partition("}")[0]
    assert re.findall(r"'(.+)'|(OTHER)", told) == [("", "OTHER") if kind == OTHER else (kind, "") for kind in ORDER]


def test_all_kinds_fit_their_field_and_its_description_tells_them():
    """No kind is ever cut off, and an admin can look up which there are."""
    told = BETWEEN.join(ORDER)
    assert len(told) <= Lengths.PASSED_OVER
    field = shipped.field("Lead_Assignment__c.Passed_Over__c")
    assert field is not None
    assert told in (field.text("description") or "")


def test_each_kind_is_told_once_in_one_order():
    """Two of a kind count once, whoever would have come first."""
    away = {user("D"): (Absence(user("D"), NOW, NOW.replace(hour=13)),)}
    members = ["A", rep("B", weight=0), rep("C", weight=0), "D", rep("E", accepts="Country = 'FR'")]
    decision = given([pool("emea", members)], configuration(absences=away))
    assert decision.passed_over == ("Absent", "Paused", "Not accepted")
    assert given([pool("emea", "A")]).passed_over == ()


def test_all_groups_that_were_asked_are_told_of():
    """With a fallback group, why nobody of the first could take it counts too; so it does with a queue."""
    off = [rep("A", active=False)]
    turn = given([pool("emea", off, fallback_group="g2"), pool("apac", ["X", rep("Y", weight=0)])])
    assert turn.passed_over == ("Paused", "Inactive")
    queue = given([pool("emea", off, fallback_queue="Lost_Leads")])
    assert (queue.turn, queue.passed_over) == (None, ("Inactive",))


def test_who_had_the_lead_before_is_a_kind_of_its_own():
    """D7: a lead that comes back passes its last owner over."""
    rows = (row(1, "00G000000000001AAA", 1, assigned_to=user("A")),)
    assert given([pool("emea", "AB")], ledger=rows).passed_over == ("Had it before",)
