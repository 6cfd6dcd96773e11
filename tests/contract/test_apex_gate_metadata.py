"""The part of `make apex-check` that needs no tool: what metadata says and names, and what is told where tools lack."""

from __future__ import annotations

from pathlib import Path

import pytest

from apex import __main__ as gate
from apex import files, metadata
from apex.findings import Checked, Skipped
from apex.project import Project
from apex.steps import STEPS, run
from apex.toolbox import Toolbox
from support.planted import SOUND, Fault, plant

SHIPPED = Path(__file__).parents[2] / "salesforce_metadata"
BARE = Toolbox({})
POOL, ADMIN = "objects/Pool__c", "permissionsets/Pool_Admin.permissionset-meta.xml"
MODE, KEY = f"{POOL}/fields/Mode__c.field-meta.xml", f"{POOL}/fields/Key__c.field-meta.xml"
RULE = f"{POOL}/validationRules/Turn_Rises.validationRule-meta.xml"
LIST = f"{POOL}/listViews/All.listView-meta.xml"
LAYOUT = "layouts/Pool__c-Pool Layout.layout-meta.xml"
REPORT, DASHBOARD = "reports/Pools/Turns.report-meta.xml", "dashboards/Pools/Pools.dashboard-meta.xml"
PATH = "pathAssistants/Pool_Path.pathAssistant-meta.xml"
KIND = "reportTypes/Pools_With_Members.reportType-meta.xml"
RECORD = "customMetadata/Pool_Setting.Default.md-meta.xml"
LONG = "A label of rather more than forty characters"
FAULTS = (
    Fault("", "a type that is none", KEY, ">Text<", ">Txt<"),
    Fault("", "a sharing model that is none", f"{POOL}/Pool__c.object-meta.xml", ">ReadWrite<", ">Everyone<"),
    Fault("", "an operation that is none", LIST, ">equals<", ">is<"),
    Fault("", "a label too long", KEY, "<label>Key<", f"<label>{LONG}<"),
    Fault("", "a custom label's description too long", "labels/CustomLabels.labels-meta.xml", "Owner moved", "o" * 81),
    Fault("", "no label", KEY, "<label>Key</label>", ""),
    Fault("", "no help text", KEY, "<inlineHelpText>Short name.</inlineHelpText>", ""),
    Fault("", "an empty description", KEY, "<description>Short name.<", "<description><"),
    Fault(
        "",
        "a relationship's name that is none",
        "objects/Lead/fields/Pool__c.field-meta.xml",
        ">Leads</relationshipName",
        ">All Leads</relationshipName",
    ),
    Fault("", "a text too long", KEY, "<length>40<", "<length>400<"),
    Fault("", "a value that stands twice", MODE, "<fullName>Live<", "<fullName>Off<"),
    Fault("", "a value without a description", MODE, "<description>Not used.</description>", ""),
    Fault("", "two defaults", MODE, "<default>false<", "<default>true<"),
    Fault(
        "",
        "a reference to no object",
        "objects/Pool_Member__c/fields/Pool__c.field-meta.xml",
        ">Pool__c</referenceTo",
        ">Pond__c</referenceTo",
    ),
    Fault("", "a right on no field", ADMIN, ">Pool__c.Turn__c<", ">Pool__c.Turns__c<"),
    Fault("", "a right on a required field", ADMIN, ">Pool__c.Turn__c<", ">Pool__c.Key__c<"),
    Fault("", "a right to edit a computed field", ADMIN, ">Pool__c.Turn__c<", ">Pool__c.Half__c<"),
    Fault("", "a field of an object that may not be read", ADMIN, "<object>Lead<", "<object>Pool_Member__c<"),
    Fault("", "a right on no object", ADMIN, "<object>Pool__c<", "<object>Pond__c<"),
    Fault("", "a right on no tab", ADMIN, "<tab>Pool__c<", "<tab>Pond__c<"),
    Fault("", "a right on no class", ADMIN, "<apexClass>PoolAction<", "<apexClass>PoolActor<"),
    Fault("", "a right that is none", ADMIN, "<name>Pool_Bypass<", "<name>Pool_Pass<"),
    Fault("", "a layout of no field", LAYOUT, "<field>Key__c<", "<field>Keys__c<"),
    Fault("", "a related list of nothing", LAYOUT, ">Pool_Member__c.Pool__c<", ">Pool_Member__c.User__c<"),
    Fault("", "a related list's column of no field", LAYOUT, "<fields>User__c<", "<fields>Users__c<"),
    Fault("", "a list of no column", LIST, "<columns>Turn__c<", "<columns>Turns__c<"),
    Fault("", "a list that asks for no value", LIST, "<value>Live<", "<value>Alive<"),
    Fault(
        "",
        "a compact layout of no field",
        f"{POOL}/compactLayouts/Pool_At_A_Glance.compactLayout-meta.xml",
        ">Turn__c<",
        ">Turns__c<",
    ),
    Fault(
        "",
        "an object shown by no compact layout",
        f"{POOL}/Pool__c.object-meta.xml",
        "<deploymentStatus>",
        "<compactLayoutAssignment>Pool_From_Afar</compactLayoutAssignment><deploymentStatus>",
    ),
    Fault("", "a rule that shows at no field", RULE, "<errorDisplayField>Turn__c<", "<errorDisplayField>Turns__c<"),
    Fault("", "an app with no tab", "applications/Pools.app-meta.xml", "<tabs>Pool__c<", "<tabs>Pond__c<"),
    Fault(
        "",
        "a tab without its object",
        "tabs/Pond__c.tab-meta.xml",
        new=(SOUND / "force-app/main/default/tabs/Pool__c.tab-meta.xml").read_text(),
    ),
    Fault("", "a queue of no object", "queues/Pool_Intake.queue-meta.xml", ">Lead<", ">Pond__c<"),
    Fault("", "a path along no value", PATH, "<picklistValueName>Off<", "<picklistValueName>Dead<"),
    Fault("", "a path along no field", PATH, "<fieldName>Mode__c<", "<fieldName>Moody__c<"),
    Fault("", "a record with no such field", RECORD, "<field>Off__c<", "<field>On__c<"),
    Fault("", "a report type of no field", KIND, "<field>Turn__c<", "<field>Turns__c<"),
    Fault("", "a report type of no relationship", KIND, "<table>Pool__c.Members__r<", "<table>Pool__c.People__r<"),
    Fault("", "a report of no column", REPORT, "<field>Pool__c$Turn__c<", "<field>Pool__c$Turns__c<"),
    Fault("", "a report that asks for no value", REPORT, "<value>Live<", "<value>Alive<"),
    Fault("", "a report of what its type does not offer", KIND, "<field>Key__c<", "<field>Id<", at=REPORT),
    Fault("", "a report grouped by what is a column too", REPORT, "<field>Pool__c$Name<", "<field>Pool__c$Key__c<"),
    Fault("", "a report's column behind no lookup", REPORT, "$User__c<", "$User__c.Nobody__c<"),
    Fault("", "a formula over no column", REPORT, ">Pool__c.Turn__c:SUM", ">Pool__c.Key__c:SUM"),
    Fault("", "a formula by no grouping", REPORT, "GRAND_SUMMARY", "Pool__c.Turn__c"),
    Fault("", "a chart by no grouping", REPORT, "<groupingColumn>Pool__c$Key__c<", "<groupingColumn>Pool__c$Turn__c<"),
    Fault("", "a chart of no formula", REPORT, "<column>FORMULA1<", "<column>FORMULA2__c<"),
    Fault("", "a dashboard of no chart", DASHBOARD, "<report>Pools/Turns<", "<report>Pools/Plain<"),
    Fault("", "a report of no type", REPORT, ">Pools_With_Members__c<", ">Pools_With_Rules__c<"),
    Fault("", "a dashboard of no report", DASHBOARD, "<report>Pools/Turns<", "<report>Pools/Twists<"),
    Fault("", "not well-formed", KEY, "</CustomField>", ""),
)


STRANGE = (
    Fault("", "a kind of metadata", "flexipages/Pools.flexipage-meta.xml", new="<FlexiPage xmlns='x'/>\n"),
    Fault("", "a component's code", "lwc/pool/pool.js", new="export default 1;\n"),
    Fault("", "metadata in another format", "flows/Pool.flow", new="<Flow/>\n"),
    Fault("", "a resource that nothing declares", "staticresources/Other.json", new="{}\n"),
)


@pytest.mark.parametrize("fault", STRANGE, ids=lambda fault: fault.name)
@pytest.mark.parametrize("only", [[], ["metadata"]], ids=["all", "one step"])
def test_a_file_that_no_step_reads_is_red_whatever_is_asked(fault: Fault, only: list[str], tmp_path: Path):
    """What is passed over would look checked."""
    answers = {answer.name: answer.outcome for answer in run(plant(fault, tmp_path / "p"), Toolbox({}, tmp_path), only)}
    found = answers["files"]
    assert isinstance(found, Checked)
    assert [finding.path for finding in found.findings] == [fault.named]


@pytest.mark.parametrize("folder", [SHIPPED, SOUND], ids=["shipped", "sound"])
def test_what_metadata_says_and_names_is_right(folder: Path):
    """Nothing is found in what ships, nor in the sound project."""
    project = Project(folder)
    assert [str(found) for step in (files, metadata) for found in step.check(project, BARE).findings] == []


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_of_metadata_is_named(fault: Fault, tmp_path: Path):
    """One wrong word, length, name or reference is found, in the file in which it stands."""
    found = metadata.check(plant(fault, tmp_path / "broken"), BARE).findings

    assert fault.named in {finding.path for finding in found}


def test_a_step_without_its_tools_is_skipped_in_sight(tmp_path: Path):
    """No tool, no pass: each step that needs one says which, and only the one that needs none is green."""
    answers = {answer.name: answer.outcome for answer in run(Project(SOUND), Toolbox({}, tmp_path))}

    assert {name for name, outcome in answers.items() if isinstance(outcome, Checked)} == {
        step.name for step in STEPS if not step.needs
    }
    assert answers["types"] == Skipped("node and npm and java and javac not found on the PATH")


@pytest.mark.parametrize(("demand", "code"), [("", 0), ("require", 2)])
def test_a_skip_fails_where_it_is_told_to(
    demand: str, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """The last line names what was not checked; the exit code does where all steps are asked for."""
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("APEX_CHECK", demand)

    assert gate.main([str(SOUND)]) == code
    out = capsys.readouterr().out
    assert out.splitlines()[-1].startswith("not checked: tools, syntax, format, types")
    assert "types     SKIPPED" in out
