"""Each step of `make apex-check` is green on a sound project, and red on the same with one fault of its kind.

Runs with `make apex-gate-test`: it takes a minute, and the tools of the lock file.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from apex.findings import Broken, Checked
from apex.steps import JAVA, STEPS, run
from apex.toolbox import Toolbox
from support.planted import Fault, copied, plant

pytestmark = pytest.mark.gate
ROUTER, SWEEP, TESTS = "classes/PoolRouter.cls", "classes/PoolSweep.cls", "classes/PoolRouterTest.cls"
POOL, ADMIN = "objects/Pool__c", "permissionsets/Pool_Admin.permissionset-meta.xml"
RULE = f"{POOL}/validationRules/Turn_Rises.validationRule-meta.xml"
GIVEN = "lead.Pooled_At__c = Datetime.now();"
SWALLOWED = """Database.rollback(start);
            tell(error.getTypeName() + ': ' + error.getMessage());"""
BUILT = "String query = FIELDS + 'WHERE Id IN :ids AND (' + String.escapeSingleQuotes(clause) + ')';"
LOCKED = "WHERE Id IN :poolIds WITH SYSTEM_MODE FOR UPDATE"
POND = "<Pond xmlns='http://soap.sforce.com/2006/04/metadata'/>\n"
FAULTS = (
    Fault("files", "a flow's page", "flexipages/Pools.flexipage-meta.xml", new="<FlexiPage xmlns='x'/>\n"),
    Fault("syntax", "no semicolon", ROUTER, GIVEN, "lead.Pooled_At__c = Datetime.now()"),
    Fault("syntax", "a reserved word", ROUTER, "Set<Id> poolIds = new", "Set<Id> limit = new"),
    Fault("format", "two blanks", ROUTER, "guard(leads, before);", "guard(leads,  before);"),
    Fault(
        "format", "a long line in a trigger", "triggers/LeadPool.trigger", "before update, after", "before update,after"
    ),
    Fault("types", "a decimal for an integer", ROUTER, GIVEN, "Integer turn = pool.Turn__c;"),
    Fault("types", "a field of a standard object that is not there", ROUTER, GIVEN, "lead.Nope__c = Datetime.now();"),
    Fault("types", "a computed field is written", ROUTER, "pool.Turn__c = (pool", "pool.Half__c = (pool"),
    Fault(
        "types",
        "a private method of another class",
        SWEEP,
        "PoolRouter.run(",
        "PoolRouter.guard(leads, null); PoolRouter.run(",
    ),
    Fault("types", "a label that is not there", ROUTER, "Label.Pool_Owner_Moved", "Label.Pool_Owner_Gone"),
    Fault("link", "a class without its metadata", f"{SWEEP}-meta.xml", at=SWEEP),
    Fault("link", "a method that is not there", ROUTER, "assign(leads);", "assigned(leads);"),
    Fault(
        "soql",
        "a field that is not there",
        ROUTER,
        "SELECT Id, Turn__c FROM Pool__c",
        "SELECT Id, Turns__c FROM Pool__c",
    ),
    Fault("soql", "a relationship that is not there", ROUTER, "WHERE Pool__r.Key__c IN", "WHERE Pools__r.Key__c IN"),
    Fault("soql", "children that are not there", ROUTER, "FROM Members__r", "FROM Member__r"),
    Fault("soql", "a lock with an order", ROUTER, LOCKED, LOCKED.replace("FOR", "ORDER BY Id FOR")),
    Fault("soql", "a text compared with a truth", ROUTER, "IsConverted = FALSE", "IsConverted = 'no'"),
    Fault("soql", "in a text that is put together", ROUTER, "Owner.Name, Pool__r.Name", "Owner.Name, Pool__r.Nope__c"),
    Fault(
        "soql",
        "in what a condition adds",
        ROUTER,
        BUILT,
        f"{BUILT}\n        if (ids.isEmpty()) {{ query += ' OR Nope__c = 1'; }}",
    ),
    Fault("soql", "a text of which nothing is known", ROUTER, BUILT, "String query = clause;"),
    Fault(
        "lint",
        "a query in a loop",
        ROUTER,
        GIVEN,
        "lead.Title = [SELECT Name FROM User WITH SYSTEM_MODE LIMIT 1].Name;",
    ),
    Fault("lint", "an error swallowed", SWEEP, SWALLOWED, ""),
    Fault("lint", "sharing not stated", ROUTER, "public with sharing class", "public class"),
    Fault(
        "shapes",
        "an unknown element",
        ADMIN,
        "<label>Pool Admin</label>",
        "<label>Pool Admin</label><labels>x</labels>",
    ),
    Fault("shapes", "a truth that is none", ADMIN, "<editable>true</editable>", "<editable>yes</editable>"),
    Fault("shapes", "a type that the schema lacks", "ponds/Deep.pond-meta.xml", new=POND),
    Fault("shapes", "a tag not closed", ADMIN, "<label>Pool Admin</label>", "<label>Pool Admin"),
    Fault("metadata", "a type that is none", f"{POOL}/fields/Turn__c.field-meta.xml", ">Number<", ">Numbre<"),
    Fault("formulas", "a field that is not there", RULE, "ISCHANGED(Turn__c)", "ISCHANGED(Turns__c)"),
    Fault("formulas", "a number compared with a text", RULE, "Turn__c &lt; PRIOR", "Key__c &lt; PRIOR"),
    Fault(
        "formulas", "a picklist compared as a text", RULE, 'ISPICKVAL(PRIORVALUE(Mode__c), "Off")', 'Mode__c = "Off"'
    ),
    Fault(
        "formulas", "a rule that is no truth", RULE, "AND(NOT(ISNEW())", "IF(TRUE, Turn__c, 0) + IF(AND(NOT(ISNEW())"
    ),
    Fault("formulas", "a text in a number", f"{POOL}/fields/Half__c.field-meta.xml", "/ 2, 0)", "/ 2, Key__c)"),
    Fault(
        "formulas",
        "a formula where none is looked for",
        f"{POOL}/Pool__c.object-meta.xml",
        "<label>",
        "<fields><fullName>Odd__c</fullName><formula>1 + 'a'</formula></fields><label>",
    ),
    Fault("convert", "a file that nothing claims", "classes/Notes.txt", new="left behind\n"),
    Fault("convert", "a class that is left out", f"{SWEEP}-meta.xml", at=SWEEP),
)


@pytest.fixture(scope="module")
def toolbox() -> Toolbox:
    found = Toolbox.found()
    lacking = found.lacks(JAVA)
    if lacking is not None:
        pytest.skip(f"{lacking}: the gate's steps were not seen")
    return found


def test_a_sound_project_is_green(tmp_path: Path, toolbox: Toolbox):
    """Every step looks at something and finds nothing, tools included."""
    answers = list(run(copied(tmp_path / "sound"), toolbox))

    assert [answer.name for answer in answers] == ["tools", *(step.name for step in STEPS)]
    assert {answer.name: answer.outcome for answer in answers if not _is_green(answer.outcome)} == {}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.step}: {fault.name}")
def test_a_fault_is_red_and_named(fault: Fault, tmp_path: Path, toolbox: Toolbox):
    """The step that looks for this kind of fault names its file."""
    *_, answer = run(plant(fault, tmp_path / "broken"), toolbox, [fault.step])

    assert isinstance(answer.outcome, Checked), answer.outcome
    assert fault.named in {finding.path for finding in answer.outcome.findings}


def test_every_step_is_seen_red():
    """No step is trusted that never found a fault."""
    assert {fault.step for fault in FAULTS} == {step.name for step in STEPS}


def _is_green(outcome: object) -> bool:
    return (
        isinstance(outcome, Checked) and not isinstance(outcome, Broken) and outcome.count > 0 and not outcome.findings
    )
