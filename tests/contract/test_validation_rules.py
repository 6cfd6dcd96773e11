"""The four validation rules, as shipped: what they refuse, what they let pass, and that an org can read them."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest

from lead_router.salesforce import names
from org_simulator.formula import Scope, compile_formula
from support import shipped_metadata as shipped

FUNCTIONS = {"AND", "BEGINS", "BLANKVALUE", "ISBLANK", "ISCHANGED", "ISNEW", "LEFT", "NOT", "OR", "PRIORVALUE", "TEXT"}
"""All that a shipped formula may use: what the simulated org evaluates and an older org knows too."""

KINDS = {"Text": "string", "Number": "double", "Checkbox": "boolean", "DateTime": "datetime", "Picklist": "picklist"}
RULES = {item.name: item for item in shipped.of("validationRule")}
TOKEN = re.compile(r"""\s*(?:"[^"]*"|[$\w.]+|<>|<=|>=|[<>=&(),+-])""")
QUEUE, MINE, OTHER = "00G5f000004aBcDEAU", "0055f000003xYzAAAU", "0055f000003xYzaAAE"


def refuses(rule: str, old: dict[str, Any] | None, **new: Any) -> bool:
    """Whether the rule refuses a save that sets the fields in `new`; `old` is the record before, None if it is new."""
    item = RULES[rule]
    types = {
        name: KINDS.get(field.text("type") or "", "reference") for name, field in shipped.fields(item.owner).items()
    }
    formula = compile_formula(item.text("errorConditionFormula") or "", types | {"OwnerId": "reference"}, frozenset())
    row = dict.fromkeys(types)
    return formula(
        Scope(
            new=row | (old or {}) | new,
            old=None if old is None else row | old,
            user={},
            permissions=frozenset(),
            now=datetime(2026, 11, 30, tzinfo=UTC),
        )
    )


@pytest.mark.parametrize("rule", RULES)
def test_a_formula_is_readable_by_every_org(rule: str):
    """Brackets balance, functions are few and known, fields are the object's own or OwnerId, comments are elsewhere."""
    formula = RULES[rule].text("errorConditionFormula") or ""
    tokens = [token.strip() for token in TOKEN.findall(formula)]
    assert "".join(tokens) == re.sub(r"\s+", "", formula)
    depth = 0
    for token in tokens:
        depth += {"(": 1, ")": -1}.get(token, 0)
        assert depth >= 0
    assert depth == 0
    words = [token for token in tokens if re.match(r"[A-Za-z$]", token)]
    assert {word for word in words if word.isupper()} <= FUNCTIONS
    assert {word for word in words if not word.isupper()} <= set(shipped.fields(RULES[rule].owner)) | {"OwnerId"}
    assert RULES[rule].text("active") == "true"
    assert len(formula) <= 3900
    if "PRIORVALUE" in formula:
        assert formula.startswith("AND(\n    NOT(ISNEW()),")


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (names.ValidationRules.OWNER_MOVED, names.LeadFields.EXPECTED_OWNER),
        (names.ValidationRules.TURN_MOVED, names.GroupFields.EXPECTED_TURN),
    ],
)
def test_a_blank_expectation_is_refused_by_name(rule: str, expected: str):
    """No rule rests on how an org compares a blank text: blank is asked for before the comparison."""
    formula = RULES[rule].text("errorConditionFormula") or ""
    assert f"ISBLANK({expected})," in formula


LEAD = names.LeadFields
SEEN = {"OwnerId": QUEUE, LEAD.ROUND: None, LEAD.EXPECTED_OWNER: QUEUE, LEAD.STAMP: None}
GIVEN = {"OwnerId": MINE, LEAD.ROUND: 1, LEAD.EXPECTED_OWNER: QUEUE, LEAD.STAMP: "a.b.create"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(SEEN, {"OwnerId": MINE, LEAD.ROUND: 1, LEAD.STAMP: "k"}, id="first round"),
        pytest.param(
            GIVEN, {"OwnerId": OTHER, LEAD.ROUND: 2, LEAD.STAMP: "l", LEAD.EXPECTED_OWNER: MINE}, id="second round"
        ),
        pytest.param(
            SEEN, {"OwnerId": MINE, LEAD.ROUND: 1, LEAD.STAMP: "k", LEAD.EXPECTED_OWNER: QUEUE[:15]}, id="15 characters"
        ),
        pytest.param(SEEN, {"OwnerId": MINE, LEAD.ROUND: 7, LEAD.STAMP: "k"}, id="round far ahead"),
        pytest.param(SEEN, {LEAD.EXPECTED_OWNER: MINE}, id="the touch that takes the lock"),
        pytest.param(GIVEN, {"OwnerId": OTHER}, id="a person takes it"),
        pytest.param(GIVEN, {"OwnerId": QUEUE}, id="a person gives it back"),
        pytest.param(GIVEN, {LEAD.ROUND: None, LEAD.STAMP: None}, id="a person blanks the stamp"),
        pytest.param(GIVEN, {LEAD.STATUS: "Failed", LEAD.ERROR: "text"}, id="a mark"),
        pytest.param(None, {"OwnerId": MINE, LEAD.ROUND: 3, LEAD.STAMP: "k"}, id="an import of new leads"),
    ],
)
def test_owner_moved_lets_pass(old: dict[str, Any] | None, new: dict[str, Any]):
    """The commit of a router that saw the present owner passes, and so does everything that people do."""
    assert not refuses(names.ValidationRules.OWNER_MOVED, old, **new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(
            SEEN | {"OwnerId": OTHER}, {"OwnerId": MINE, LEAD.ROUND: 1, LEAD.STAMP: "k"}, id="a person took it"
        ),
        pytest.param(GIVEN, {"OwnerId": OTHER, LEAD.ROUND: 1, LEAD.STAMP: "k"}, id="another router gave it"),
        pytest.param(
            GIVEN, {LEAD.ROUND: 1, LEAD.STAMP: "k", LEAD.EXPECTED_OWNER: MINE}, id="equal round, owner as expected"
        ),
        pytest.param(
            GIVEN | {LEAD.ROUND: 5},
            {"OwnerId": OTHER, LEAD.ROUND: 4, LEAD.STAMP: "k", LEAD.EXPECTED_OWNER: MINE},
            id="a round that falls",
        ),
        pytest.param(SEEN, {LEAD.ROUND: 0, LEAD.STAMP: "k"}, id="round 0"),
        pytest.param(SEEN, {LEAD.STAMP: "k"}, id="no round"),
        pytest.param(SEEN, {LEAD.ROUND: 1, LEAD.EXPECTED_OWNER: None}, id="no expected owner"),
        pytest.param(SEEN, {LEAD.ROUND: 1, LEAD.EXPECTED_OWNER: QUEUE.swapcase()}, id="case"),
        pytest.param(
            SEEN | {"OwnerId": MINE}, {LEAD.ROUND: 1, LEAD.EXPECTED_OWNER: OTHER}, id="ids that differ by case only"
        ),
    ],
)
def test_owner_moved_refuses(old: dict[str, Any], new: dict[str, Any]):
    """A commit that saw another owner, or that is not a higher round, saves nothing."""
    assert refuses(names.ValidationRules.OWNER_MOVED, old, **new)


GROUP = names.GroupFields
AT_5 = {GROUP.EPOCH: 2, GROUP.TURN: 5, GROUP.CLOCK: 70, GROUP.EXPECTED_TURN: "2.4"}
BLANK = {GROUP.EPOCH: None, GROUP.TURN: None, GROUP.CLOCK: None, GROUP.EXPECTED_TURN: None}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(AT_5, {GROUP.TURN: 6, GROUP.CLOCK: 80, GROUP.EXPECTED_TURN: "2.5"}, id="next turn"),
        pytest.param(AT_5, {GROUP.TURN: 205, GROUP.EXPECTED_TURN: "2.5"}, id="a batch"),
        pytest.param(BLANK, {GROUP.TURN: 1, GROUP.CLOCK: 0, GROUP.EXPECTED_TURN: "0.0"}, id="blanks count as 0"),
        pytest.param(AT_5, {GROUP.EPOCH: 3, GROUP.TURN: 0}, id="an admin starts anew"),
        pytest.param(AT_5, {GROUP.EPOCH: 3, GROUP.TURN: None, GROUP.CLOCK: 0}, id="an admin starts anew with blanks"),
        pytest.param(AT_5, {GROUP.MODE: "Live", GROUP.KEY: "emea"}, id="an admin edits the rest"),
        pytest.param(None, AT_5, id="an import of new groups"),
    ],
)
def test_turn_moved_lets_pass(old: dict[str, Any] | None, new: dict[str, Any]):
    """The commit of a router that saw the present turn passes, and so does an admin's new start."""
    assert not refuses(names.ValidationRules.TURN_MOVED, old, **new)


@pytest.mark.parametrize(
    "new",
    [
        pytest.param({GROUP.TURN: 6, GROUP.EXPECTED_TURN: "2.4"}, id="a turn behind"),
        pytest.param({GROUP.TURN: 7, GROUP.EXPECTED_TURN: "2.6"}, id="a turn ahead"),
        pytest.param({GROUP.TURN: 6, GROUP.EXPECTED_TURN: "1.5"}, id="a reset behind"),
        pytest.param({GROUP.TURN: 4, GROUP.EXPECTED_TURN: "2.5"}, id="a turn that falls"),
        pytest.param({GROUP.TURN: 0}, id="a reset without an epoch"),
        pytest.param({GROUP.CLOCK: 71}, id="the clock alone"),
        pytest.param({GROUP.TURN: 5, GROUP.CLOCK: 70, GROUP.EXPECTED_TURN: "1.4"}, id="the same turn of a past epoch"),
        pytest.param({GROUP.TURN: 6, GROUP.EXPECTED_TURN: None}, id="nothing expected"),
        pytest.param({GROUP.EPOCH: 1}, id="an epoch that falls"),
        pytest.param({GROUP.EPOCH: 1, GROUP.TURN: 0}, id="an epoch that falls, from 0"),
        pytest.param({GROUP.EPOCH: 3}, id="an epoch that keeps its turn"),
        pytest.param({GROUP.EPOCH: 3, GROUP.TURN: 6, GROUP.EXPECTED_TURN: "2.5"}, id="a router that raises the epoch"),
    ],
)
def test_turn_moved_refuses(new: dict[str, Any]):
    """A commit that saw another turn or epoch saves nothing, and used turns can never come back."""
    assert refuses(names.ValidationRules.TURN_MOVED, AT_5, **new)


@pytest.mark.parametrize(
    ("weight", "refused"), [(0, False), (1, False), (100, False), (-1, True), (101, True), (None, True)]
)
def test_weight_range(weight: int | None, *, refused: bool):
    """0 pauses, 1 to 100 are shares; blank or anything else is refused, on new and on changed members."""
    assert refuses(names.ValidationRules.WEIGHT_RANGE, None, Weight__c=weight) is refused
    assert refuses(names.ValidationRules.WEIGHT_RANGE, {"Weight__c": 1}, Weight__c=weight) is refused


@pytest.mark.parametrize(
    ("end", "refused"),
    [("2026-12-01T08:00:00Z", True), ("2026-12-01T09:00:00Z", True), ("2026-12-01T09:00:01Z", False)],
    ids=["swapped", "empty", "a second"],
)
def test_absence_order(end: str, *, refused: bool):
    """An absence ends after it starts, on new ones and on changed ones, or it would silently be none."""
    dates = {names.AbsenceFields.START: "2026-12-01T09:00:00Z", names.AbsenceFields.END: end}
    assert refuses(names.ValidationRules.ABSENCE_ORDER, None, **dates) is refused
    whole = dates | {names.AbsenceFields.END: "2026-12-05T09:00:00Z"}
    assert refuses(names.ValidationRules.ABSENCE_ORDER, whole, End__c=end) is refused
