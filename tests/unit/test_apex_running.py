"""`python -m org_simulator.apex test`: what passes, fails and was covered, and what is said where nothing runs."""

from __future__ import annotations

import json

import pytest

from org_simulator.apex import __main__ as command
from org_simulator.apex import parser
from org_simulator.apex.automation import install
from org_simulator.apex.faults import ParserMissing
from org_simulator.clock import SystemClock
from org_simulator.org import Org
from org_simulator.schema import default_metadata, load
from org_simulator.switches import Switches
from support.apex import need_parser

CLASS = """public class Half {
    public static Integer of(Integer n) {
        if (n == 0) {
            return 0;
        }
        return n / 2;
    }
}
"""
TESTS = """@IsTest
private class HalfTest {
    @TestSetup
    static void setUp() { insert new Account(Name = 'setup'); }
    @IsTest
    static void halves() {
        Assert.areEqual(2, Half.of(4));
        System.assertEquals(1, [SELECT COUNT() FROM Account]);
        insert new Account(Name = 'mine');
    }
    @IsTest
    static void seesNothingOfOthers() { System.assertEquals(1, [SELECT COUNT() FROM Account]); }
    @IsTest
    static void measuresBetweenStartAndStop() {
        for (Integer i = 0; i < 60; i++) { Integer n = [SELECT COUNT() FROM Lead]; }
        Test.startTest();
        for (Integer i = 0; i < 60; i++) { Integer n = [SELECT COUNT() FROM Lead]; }
        System.enqueueJob(new Later());
        System.assertEquals(1, [SELECT COUNT() FROM Account]);
        Test.stopTest();
        System.assertEquals(2, [SELECT COUNT() FROM Account]);
    }
    @IsTest
    static void runsAsOthers() {
        User u = new User(LastName = 'U', Username = 'u@x.example', Email = 'u@x.example', Alias = 'u',
            ProfileId = UserInfo.getProfileId(), TimeZoneSidKey = 'GMT', LocaleSidKey = 'en_US',
            EmailEncodingKey = 'UTF-8', LanguageLocaleKey = 'en_US');
        System.runAs(new User(Id = UserInfo.getUserId())) { insert u; }
        System.runAs(u) { System.assertEquals(u.Id, UserInfo.getUserId()); }
        System.assertNotEquals(u.Id, UserInfo.getUserId());
        %s
    }
}
"""
LATER = """public class Later implements Queueable { public void execute(QueueableContext c) {
    insert new Account(Name = 'l'); } }"""


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "force-app/main/default"
    root.mkdir(parents=True)
    (root / "objects").symlink_to(default_metadata() / "force-app/main/default/objects")
    (root / "customPermissions").symlink_to(default_metadata() / "force-app/main/default/customPermissions")
    classes = root / "classes"
    classes.mkdir()
    (classes / "Half.cls").write_text(CLASS)
    (classes / "HalfTest.cls").write_text(TESTS % "")
    (classes / "Later.cls").write_text(LATER)
    return tmp_path


@pytest.fixture
def run(folder, monkeypatch, capsys):
    found = need_parser()
    monkeypatch.setattr(parser, "binary", lambda _start=None: found)

    def main(*options):
        code = command.main(["test", str(folder), *options])
        return code, capsys.readouterr()

    return main


@pytest.mark.apex
def test_each_test_has_an_org_of_its_own_and_lines_are_counted(run):
    """Set-up is there for each, others' records are not; line 4 of the class is never reached."""
    code, said = run("--json")
    told = json.loads(said.out)
    assert (code, told["passed"], told["failed"]) == (0, 4, 0)
    half = told["files"]["force-app/main/default/classes/Half.cls"]
    assert (half["lines"], half["covered"], half["missed"]) == (3, 2, [4])
    limits = {each["name"]: each["limits"]["queries"] for each in told["tests"]}
    assert limits["HalfTest.measuresBetweenStartAndStop"] == 61


@pytest.mark.apex
def test_too_little_coverage_and_failed_tests_are_exit_codes(run, folder):
    """1 for either; the failure names exception, class and line."""
    assert run("--minimum", "99")[0] == 1
    assert run("--minimum", "70")[0] == 0
    (folder / "force-app/main/default/classes/HalfTest.cls").write_text(TESTS % "System.assertEquals(1, 2, 'why');")
    code, said = run()
    assert code == 1
    assert "FAIL  HalfTest.runsAsOthers" in said.out
    assert "System.AssertException: Assertion Failed: why: Expected: 1, Actual: 2" in said.out
    line = TESTS[: TESTS.index("%s")].count("\n") + 1
    assert f"HalfTest: line {line}" in said.out
    assert run("--only", "halves")[0] == 0


@pytest.mark.apex
def test_what_cannot_be_run_ends_with_file_and_line(run, folder):
    """2, and the place; nothing is run in part."""
    (folder / "force-app/main/default/classes/Half.cls").write_text("public class Half {\n  Nothing n;\n}")
    code, said = run()
    assert code == 2
    assert "Half.cls" in said.err
    assert "unsupported: type Nothing" in said.err


def test_without_the_parser_tests_are_skipped_aloud_and_the_org_runs_declaratively(folder, monkeypatch, capsys):
    """3 for the tests, one line for the org, no failure."""

    def absent(_start=None):
        raise ParserMissing("Apex does not run here: its parser is not installed")

    monkeypatch.setattr(parser, "binary", absent)
    assert command.main(["test", str(folder)]) == command.SKIPPED
    assert capsys.readouterr().err.startswith("SKIPPED: Apex does not run here")
    org = Org(load(default_metadata()), clock=SystemClock(), switches=Switches())
    assert install(org, folder) == "Apex does not run here: its parser is not installed"
    assert org.automation is None
