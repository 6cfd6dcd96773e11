"""The cases that both routers are held to, as the core decides them; a test class of the org runs the same file."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from lead_router.core import hours, keys
from lead_router.core.duty import Moment, off_duty
from lead_router.core.ids import to18
from lead_router.core.model import Absence, Group, Hours, Member, Mode
from lead_router.core.rotation import take_turn
from lead_router.core.soql import compile_where
from lead_router.errors import BadCriteria
from lead_router.salesforce.names import LeadFields
from org_simulator.formula import Scope, compile_formula
from support import shipped_metadata as shipped

CASES = json.loads((shipped.SOURCES / "staticresources" / "LeadRoutingCases.json").read_text(encoding="utf-8"))
KINDS = {"Text": "string", "Number": "double", "Checkbox": "boolean", "DateTime": "datetime", "Picklist": "picklist"}


def named(cases: list[dict[str, Any]]) -> list[Any]:
    return [pytest.param(case, id=case.get("name") or case.get("clause")) for case in cases]


def member(case: dict[str, Any], **changes: Any) -> Member:
    fields: dict[str, Any] = {
        "id": case.get("id", "member"),
        "user_id": "user",
        "name": "Rep",
        "weight": case["weight"],
        "sort_order": case.get("sortOrder", 0),
        "active": True,
        "user_active": True,
        "next_turn": case.get("nextTurn"),
        "last_turn": case.get("lastTurn"),
    }
    return Member(**(fields | changes))


def pool(case: dict[str, Any]) -> Group:
    members = tuple(map(member, case.get("members", ())))
    return Group("pool", "emea", "EMEA", Mode.LIVE, 0, case.get("turn", 0), case.get("clock", 0), None, members)


def business_hours(place: str, told: dict[str, Any]) -> Hours:
    week = tuple(hours.windows(*(day or (None, None))) for day in told["week"])
    return Hours(place, told["name"], told["zone"], week)


def moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


@pytest.mark.parametrize("case", named(CASES["rotation"]))
def test_rotation_is_that_of_the_cases(case: dict[str, Any]):
    """Who gets each turn, and where group and members stand afterwards, to the last digit."""
    group, turns = pool(case), ""
    for step in case["steps"]:
        group = replace(group, members=group.members + tuple(map(member, step.get("joins", ()))))
        for _ in range(step["times"]):
            turn = take_turn(group, set(step["duty"]), set(step["eligible"]))
            turns += "-" if turn is None else turn.member.id
            group = group if turn is None else turn.group
    assert turns == case["turns"]
    assert case["after"] == {
        "turn": group.turn,
        "clock": group.clock,
        "nextTurns": {one.id: one.next_turn for one in group.members},
    }


@pytest.mark.parametrize("case", CASES["keys"]["ids"])
def test_keys_of_leads_are_those_of_the_cases(case: dict[str, Any]):
    """Idempotency keys and lead keys, from ids of 15 characters."""
    fields = {keys.CHANGED: case["changedAt"]}
    assert keys.create_key(case["orgId"], case["leadId"]) == case["create"]
    assert keys.sweep_key(case["orgId"], case["leadId"], case["round"], fields) == case["sweep"]
    assert keys.lead_key(case["leadId"], case["round"]) == case["leadKey"]


@pytest.mark.parametrize("case", CASES["keys"]["turns"])
def test_keys_of_turns_are_those_of_the_cases(case: dict[str, Any]):
    """Group, epoch and turn."""
    assert keys.turn_key(case["group"], case["epoch"], case["turn"]) == case["key"]


@pytest.mark.parametrize("case", CASES["keys"]["submissions"])
def test_submission_keys_are_those_of_the_cases(case: dict[str, Any]):
    """The even and the odd key, or neither."""
    found = keys.submission(
        email=case["email"],
        phone=case["phone"],
        form=case["form"],
        created_at=moment(case["createdAt"]),
        window_s=case["windowSeconds"],
    )
    assert (found and found.even, found and found.odd) == (case["even"], case["odd"])


@pytest.mark.parametrize("case", named(CASES["criteria"]["cases"]))
def test_criteria_match_as_in_the_cases(case: dict[str, Any]):
    """Whether a clause takes a lead, or cannot be used; a lead is asked about half a minute after it was created."""
    types = CASES["criteria"]["types"]
    at = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)
    record = dict.fromkeys(types) | {"DoNotCall": False} | CASES["criteria"]["leads"][case["lead"]]
    record |= {"Owner": {"Type": "Queue"}, "Id": to18("00Q000000000001"), "CreatedDate": at.isoformat()}
    try:
        met = compile_where(case["clause"], types).matches(record, at + timedelta(seconds=30))
    except BadCriteria:
        assert case["expected"] == "refused"
    else:
        assert case["expected"] == ("match" if met else "miss")


@pytest.mark.parametrize("case", named(CASES["duty"]))
def test_duty_is_that_of_the_cases(case: dict[str, Any]):
    """On duty or why not, in the same words; and what the cases tell of hours follows from their week."""
    at, told = datetime.fromisoformat(case["at"]), case["member"]
    known = {place: business_hours(place, week) for place, week in case["hours"].items()}
    for place, week in case["hours"].items():
        assert hours.is_open(known[place], at) is week["isOpen"]
        assert hours.next_open(known[place], at) == moment(week["opensAt"])
    one = member(
        told,
        active=told["active"],
        user_active=told["userActive"],
        frozen=told["frozen"],
        hours_id="own" if case["hasOwnHours"] else None,
        daily_cap=told["dailyCap"],
        open_cap=told["openCap"],
        zone=told["zone"],
        day=told["day"],
        day_count=told["dayCount"],
    )
    group = replace(pool({}), hours_id="group" if case["hasGroupHours"] else None)
    absences = tuple(Absence("user", *map(datetime.fromisoformat, span)) for span in case["absences"])
    unfit = frozenset({"user"} if case["unfit"] else ())
    off = off_duty(one, group, Moment(at, known, {"user": absences}, {"user": case["openLeads"]}, unfit))
    assert (off and off.text, bool(off and off.lasting)) == (case["expected"], case["lasting"])


@pytest.mark.parametrize("case", named(CASES["guard"]))
def test_the_validation_rule_refuses_as_the_guard_does(case: dict[str, Any]):
    """What a router may write; what other people write into routing fields is refused by the guard alone."""
    rule = next(item for item in shipped.of("validationRule") if item.name == "Routing_Owner_Moved")
    types = {name: KINDS.get(field.text("type") or "", "reference") for name, field in shipped.fields("Lead").items()}
    formula = compile_formula(rule.text("errorConditionFormula") or "", types | {"OwnerId": "reference"}, frozenset())
    columns = {
        "owner": "OwnerId",
        "round": LeadFields.ROUND,
        "expected": LeadFields.EXPECTED_OWNER,
        "stamp": LeadFields.STAMP,
    }
    old, new = (
        dict.fromkeys(types) | {columns[name]: value for name, value in case[state].items()}
        for state in ("prior", "new")
    )
    now = datetime(2026, 11, 30, tzinfo=UTC)
    refused = formula(Scope(new=new, old=old, user={}, permissions=frozenset(), now=now))
    assert case["byRouter"] or not refused or case["expected"] == "foreign"
    if case["byRouter"]:
        assert refused is (case["expected"] == "moved")
