"""`salesforce/names.py` and `salesforce_metadata/` hold the same names, and nobody else writes one."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

import lead_router
from lead_router.core import model
from lead_router.salesforce import names
from support import shipped_metadata as shipped

NAMESPACES = {
    names.LeadFields: names.Objects.LEAD,
    names.GroupFields: names.Objects.GROUP,
    names.MemberFields: names.Objects.MEMBER,
    names.AbsenceFields: names.Objects.ABSENCE,
    names.RuleFields: names.Objects.RULE,
    names.LedgerFields: names.Objects.LEDGER,
    names.RequestFields: names.Objects.REQUEST,
}
NAMED = (*NAMESPACES, names.Objects, names.Relations, names.ValidationRules, names.Permissions, names.Queues)
PLAIN = {value for name, value in vars(names.ValidationRules).items() if name.isupper()}
APEX_ALONE = {"Lead_Routing_Setting__mdt", "Lead_Router_Bypass"}
"""What is read inside the org and never over the wire."""

PROGRAM = Path(lead_router.__file__).parent
CUSTOM = re.compile(r"__[cre]\b")


def values(namespace: type) -> list[str]:
    return [value for name, value in vars(namespace).items() if name.isupper()]


@pytest.mark.parametrize("namespace", NAMESPACES, ids=lambda namespace: namespace.__name__)
def test_fields_are_the_same_on_both_sides(namespace: type):
    """Every field constant is a field of the metadata, and every field of the metadata is a constant."""
    assert sorted(values(namespace)) == sorted(shipped.fields(NAMESPACES[namespace]))


def test_custom_objects_are_the_same_on_both_sides():
    """Every custom object and platform event has its constant, and its namespace of fields; but for Apex's settings."""
    custom = {item.owner for item in shipped.of("object")} - APEX_ALONE
    assert {name for name in values(names.Objects) if CUSTOM.search(name)} == custom
    assert set(NAMESPACES.values()) == custom | {"Lead"}


def test_no_field_belongs_to_an_unnamed_object():
    """Fields stand only on objects that names.py knows."""
    assert {item.owner for item in shipped.of("field")} - APEX_ALONE == set(NAMESPACES.values())


def test_validation_rules_are_the_same_on_both_sides():
    """Every validation rule has its constant."""
    assert sorted(values(names.ValidationRules)) == sorted(item.name for item in shipped.of("validationRule"))


def test_a_rule_is_recognised_by_how_its_text_begins():
    """Each rule's message begins with the marker that the router looks for, and markers begin no other message."""
    markers = {name: getattr(names.Markers, name) for name in vars(names.Markers) if name.isupper()}
    told = {item.name: item.text("errorMessage") or "" for item in shipped.of("validationRule")}
    for name, marker in markers.items():
        rule = getattr(names.ValidationRules, name)
        assert [other for other, message in told.items() if message.startswith(marker)] == [rule]
    assert len(markers) == len(told)


def test_permissions_queue_and_selection_are_the_same_on_both_sides():
    """Permission sets, the custom permission, the queue and the change-event selection carry the constants' names."""
    sets = {value for name, value in vars(names.Permissions).items() if name.endswith("_SET")}
    assert sets == {item.name for item in shipped.of("permissionset")}
    assert {item.name for item in shipped.of("customPermission")} - APEX_ALONE == {names.Permissions.ROUTER}
    assert values(names.Queues) == [item.name for item in shipped.of("queue")]
    selected = {item.name: item.text("selectedEntity") for item in shipped.of("platformEventChannelMember")}
    assert set(selected.values()) == {names.Objects.LEAD_CHANGE, *names.Channels.CONFIGURATION}
    assert selected[names.Channels.SELECTION] == names.Objects.LEAD_CHANGE
    assert tuple(f"/data/{entity}" for entity in names.Channels.CONFIGURATION) == names.Channels.CONFIGURATION_CHANGES


def test_relations_exist():
    """A relation is a reference field's parent side, or the name a reference field gives to its child side."""
    references = [item for item in shipped.of("field") if item.text("referenceTo")]
    parents = {item.name.removesuffix("c") + "r" for item in references}
    children = {f"{item.text('relationshipName')}__r" for item in references}
    assert set(values(names.Relations)) <= parents | children


def test_standard_names_are_no_custom_names():
    """What no metadata of ours can hold stands apart."""
    assert [name for name in values(names.Standard) if CUSTOM.search(name)] == []


def test_lengths_are_those_of_the_metadata():
    """The router cuts prose exactly where the field ends."""
    length = {
        "ERROR": names.LeadFields.ERROR,
        "EXPLANATION": names.LedgerFields.EXPLANATION,
        "RULE": names.LedgerFields.RULE,
        "PASSED_OVER": names.LedgerFields.PASSED_OVER,
        "GROUP_KEY": names.GroupFields.KEY,
        "IDEMPOTENCY_KEY": names.LedgerFields.IDEMPOTENCY_KEY,
        "TURN_KEY": names.LedgerFields.TURN_KEY,
        "LEAD_KEY": names.LedgerFields.LEAD_KEY,
        "SUBMISSION_KEY": names.LedgerFields.SUBMISSION_ODD,
    }
    for name, field in length.items():
        told = {item.text("length") for item in shipped.of("field") if item.name == field}
        assert told == {str(getattr(names.Lengths, name))}, name
    assert sorted(length) == sorted(name for name in vars(names.Lengths) if name.isupper())


def test_keys_fit_their_fields():
    """The longest key that can be built fits, on the ledger and on the lead."""
    transaction_key, number = 36, 18
    stamp = shipped.fields("Lead")[names.LeadFields.STAMP]
    assert 18 + 1 + 18 + 1 + transaction_key + 1 + number <= names.Lengths.IDEMPOTENCY_KEY
    assert stamp.text("length") == str(names.Lengths.IDEMPOTENCY_KEY)
    assert names.Lengths.GROUP_KEY + 1 + number + 1 + number <= names.Lengths.TURN_KEY
    assert 18 + 1 + number <= names.Lengths.LEAD_KEY
    group = shipped.fields("Lead")[names.LeadFields.GROUP]
    assert group.text("length") == str(names.Lengths.GROUP_KEY)
    expected_turn = shipped.fields(names.Objects.GROUP)[names.GroupFields.EXPECTED_TURN]
    assert number + 1 + number <= int(expected_turn.text("length") or 0)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        (f"{names.Objects.GROUP}.{names.GroupFields.MODE}", model.Mode),
        (f"{names.Objects.LEDGER}.{names.LedgerFields.OUTCOME}", model.Outcome),
        (f"Lead.{names.LeadFields.STATUS}", model.Status),
        (f"{names.Objects.GROUP}.{names.GroupFields.REROUTE}", model.Reroute),
        (f"{names.Objects.RULE}.{names.RuleFields.MATCH_ON}", model.MatchBy),
    ],
)
def test_picklists_hold_the_words_of_the_core(path: str, words: type[model.Mode]):
    """A restricted picklist refuses any other word, so both sides must hold the same ones, in the same order."""
    item = shipped.field(path)
    assert item is not None
    told = shipped.texts(item.root, "valueSet", "valueSetDefinition", "value", "fullName")
    assert told == [word.value for word in words]


@pytest.mark.parametrize(
    ("field", "words"),
    [
        (names.RuleFields.TARGET_MATCH, [*model.MatchOn, names.RuleWords.ANY]),
        (names.RuleFields.MATCH_OFF_DUTY, [names.RuleWords.NEXT_RULE, names.RuleWords.WAIT]),
    ],
)
def test_picklists_of_rules_hold_the_words_that_are_read(field: str, words: list[str]):
    """A word that nobody reads would be a target that does nothing."""
    item = shipped.field(f"{names.Objects.RULE}.{field}")
    assert item is not None
    assert shipped.texts(item.root, "valueSet", "valueSetDefinition", "value", "fullName") == words


def test_the_api_version_is_written_once():
    """The metadata is deployed with the version that the router speaks."""
    project = json.loads((shipped.PROJECT / "sfdx-project.json").read_text(encoding="utf-8"))
    assert project["sourceApiVersion"] == names.API_VERSION


def test_only_names_py_writes_a_metadata_name():
    """No other string of the program names a custom field, an object, a relation or a validation rule.

    Docstrings may. Settings and the demo may not import the wire; what they name must exist.
    """
    known = {value for namespace in NAMED for value in values(namespace)}
    written = [
        (path, line, word)
        for path in sorted(PROGRAM.rglob("*.py"))
        if path.name != "names.py"
        for line, text in _strings(path)
        for word in re.findall(r"\w+", text)
        if CUSTOM.search(word) or word in PLAIN
    ]
    assert [entry for entry in written if entry[2] not in known] == []
    assert [entry for entry in written if not _is_apart(entry[0])] == []


def _is_apart(path: Path) -> bool:
    return path.relative_to(PROGRAM).parts[0] in {"settings.py", "settings", "demo"}


def _strings(path: Path) -> list[tuple[int, str]]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return [
        (node.lineno, node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose
    ]
