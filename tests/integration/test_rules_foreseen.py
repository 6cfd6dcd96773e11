"""A push asks the load itself whether a router would take the rules, before anything is written."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from lead_router.app.ruling import check_org_in, pull_in, push_in
from lead_router.app.wiring import Wired
from lead_router.errors import BadRules
from lead_router.salesforce.configuration import Intake
from support.rest_org import RestOrg, best

if TYPE_CHECKING:
    from pathlib import Path

ROUND = "leads would go round for ever"


@pytest.fixture
def org() -> RestOrg:
    """Its client is an administrator's; besides the usual queue an intake user holds new leads."""
    made = RestOrg(best())
    made.insert("User", Username="intake@sim.example", LastName="In")
    made.intake = Intake(usernames=("intake@sim.example",))
    made.world.app = replace(made.world.app, run_as=made.org.admin_user_id)
    return made


@pytest.fixture
def wired(org: RestOrg) -> Wired:
    """As the command line has it."""
    return Wired(*org.connect())


def edit(folder: Path, old: str, new: str) -> None:
    text = (folder / "rules.yaml").read_text()
    assert old in text
    (folder / "rules.yaml").write_text(text.replace(old, new))


def place(folder: Path, name: str) -> str:
    """Where a rule begins."""
    lines = (folder / "rules.yaml").read_text().splitlines()
    return f"rules.yaml:{next(at for at, line in enumerate(lines, 1) if f'name: {name}' in line)}"


def refusal(wired: Wired, folder: Path) -> str:
    """What the push answers, and its dry run too."""
    told = []
    for yes in (False, True):
        with pytest.raises(BadRules) as refused:
            push_in(wired, folder, yes=yes)
        told.append(str(refused.value))
    assert told[0] == told[1]
    return told[0]


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ("queue: Lead_Intake", f"its target queue is 'Lead_Intake', an intake queue: {ROUND}; name another queue"),
        ("user: intake@sim.example", f"its target user is an intake user: {ROUND}; name another"),
    ],
    ids=["queue", "user"],
)
@pytest.mark.parametrize(
    ("old", "new", "name"),
    [("group: emea", "{}", "All"), ("- name: All", "- {{name: New, precedence: 5, {}}}\n- name: All", "New")],
    ids=["altered", "added"],
)
def test_a_rule_that_no_load_would_take_is_not_pushed(org, wired, tmp_path, target, told, old, new, name):
    """E13: file, line, rule and remedy are told; the org keeps the rules that a router can load."""
    pull_in(wired, tmp_path, force=False)
    before = org.rows("Routing_Rule__c")
    edit(tmp_path, old, new.format(target))

    assert refusal(wired, tmp_path) == (
        f"a router would not load this: rule '{name}' ({place(tmp_path, name)}): {told}; nothing was written"
    )
    assert org.rows("Routing_Rule__c") == before
    assert [rule.name for rule in wired.org.configuration().rules] == ["All"]


def test_a_rule_that_is_not_active_may_name_what_it_likes(wired, tmp_path):
    """A load does not read it."""
    pull_in(wired, tmp_path, force=False)
    edit(tmp_path, "- name: All", "- {name: New, precedence: 5, queue: Lead_Intake, active: false}\n- name: All")

    assert push_in(wired, tmp_path, yes=True).written
    assert [rule.name for rule in wired.org.configuration().rules] == ["All"]


def test_what_is_at_fault_in_the_org_is_told_and_can_be_mended_by_a_push(org, wired, tmp_path):
    """A bad rule that the files leave as it is has its line there; its mending is pushed. A bad group has its id."""
    org.insert("Routing_Rule__c", Name="Bad", Precedence__c=7, Target_Queue__c="Lead_Intake", Active__c=True)
    pull_in(wired, tmp_path, force=False)
    edit(tmp_path, "name: All", "name: Everyone")
    assert f"rule 'Bad' ({place(tmp_path, 'Bad')}): its target queue" in refusal(wired, tmp_path)
    edit(tmp_path, "queue: Lead_Intake", "queue: Default_Assigned")
    assert push_in(wired, tmp_path, yes=True).written
    assert [rule.name for rule in wired.org.configuration().rules] == ["Bad", "Everyone"]
    edit(tmp_path, "name: Everyone", "name: All")
    group = org.insert("Round_Robin_Group__c", Name="Typo", Key__c="a b", Mode__c="Live")
    assert f"group 'Typo' ({group}): its key must be" in refusal(wired, tmp_path)


def test_a_member_who_is_an_intake_user_is_named_by_the_check(org, wired):
    """A router passes that member over, and gives leads to all others."""
    holder = next(row["Id"] for row in org.rows("User") if row["Username"] == "intake@sim.example")
    org.insert("Round_Robin_Member__c", Group__c=org.refs["emea"], User__c=holder)

    assert [(one.warning, one.detail) for one in check_org_in(wired) if not one.ok] == [
        (True, "is an intake user, and gets no lead")
    ]


def test_criteria_that_the_org_no_longer_knows_are_told_with_their_line(org, wired, tmp_path):
    """The files know the fields of their last pull; a load asks the org."""
    pull_in(wired, tmp_path, force=False)
    text = (tmp_path / "org.yaml").read_text()
    (tmp_path / "org.yaml").write_text(text.replace("fields:\n", "fields:\n  Gone__c: string\n"))
    edit(tmp_path, "name: All\n", "name: All\n  criteria: Gone__c = 'x'\n")

    assert refusal(wired, tmp_path).startswith(
        f"a router would not load this: {place(tmp_path, 'All')}: criteria of rule 'All', character 1: "
    )
