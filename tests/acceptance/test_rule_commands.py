"""`plan`, `explain` and `rules` from outside: what they print, what they write, and how they end."""

from __future__ import annotations

import csv
import io
import json
import time
from itertools import islice

import pytest

from support import company
from support.router import command, environment
from support.simulator import simulator
from support.third_program import Form

MANY = 10_000
PLAN_S = 30.0  # 10 s on a machine of its own; this one is shared by the org and whatever else runs


@pytest.fixture(scope="module")
def org():
    with simulator(scenario=company.scenario()) as org:
        yield org


@pytest.fixture
def run(org, tmp_path):
    """One command in the test's own folder, to the exit code that is expected."""
    return _runner(org, tmp_path)


def _runner(org, folder):
    settings = environment(org, "sqlite:///jobs.db")

    def run(*words, code=0):
        ended = command(folder, settings, *words, within_s=60)
        assert ended.code == code, ended.out + ended.err
        return ended

    return run


def test_plan_prints_a_table_csv_or_json(run, tmp_path):
    """The same decisions in three forms; the last line says that nothing was written."""
    (tmp_path / "leads.csv").write_text("Email,Country\na@x.example,Norway\nb@x.example,Spain\n")
    shown = run("plan", "--csv", "leads.csv").out
    rows = list(csv.DictReader(io.StringIO(run("plan", "--csv", "leads.csv", "--format", "csv").out)))
    plain = run("plan", "--csv", "leads.csv", "--json").json()

    assert [row["owner"] for row in rows] == [lead["owner"] for lead in plain["leads"]] == ["Ann", "Dia"]
    assert [line.split()[:6] for line in islice(shown.splitlines(), 1, 3)] == [
        ["line", "2", "assign", "Ann", "North", "(north)"],
        ["line", "3", "assign", "Dia", "South", "(south)"],
    ]
    assert "2 leads as of " in shown
    assert "2 assign; nothing was written" in shown
    assert "a@x.example" not in shown + json.dumps(plain)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("plan", "--csv", "none.csv"), "cannot read none.csv"),
        (("plan", "--soql", "Contry = 'NO'"), "did you mean Country?"),
        (("plan", "--csv", "x", "--soql", "y"), "not allowed with"),
        (("plan",), "one of the arguments --csv --soql is required"),
        (("plan", "--soql", "", "--at", "2026-12-01T09:00"), "a date, a time and a zone"),
        (("explain", "me"), "'me' is no id of a lead"),
        (("rules", "check", "--files", "none"), "none is not a folder"),
        (("rules", "push", "--from", "none"), "none is not a folder"),
    ],
)
def test_wrong_usage_ends_with_2_and_the_remedy(run, words, told):
    """What a person must change is told on standard error, and the exit code is 2."""
    ended = run(*words, code=2)

    assert told in ended.err
    assert ended.out == ""


def test_explain_tells_rules_members_and_decision(run, org):
    """Each rule with its verdict, each member with its standing; in JSON without the lead's own fields."""
    lead_id = Form(org).post(company.lead(0))
    shown = run("explain", lead_id).out
    plain = run("explain", lead_id, "--json")

    assert shown.startswith(f"lead {lead_id}: status Open - Not Contacted, owned by an intake owner")
    assert "  10  To north  decides           Country = 'Norway'  group north" in shown
    assert "  20  To south  met, not reached  every lead          group south" in shown
    assert "Ann     picked" in shown
    assert "decision: assign to Ann (005" in shown
    assert "jobs: not looked at: no job database at " in shown
    assert [one["decided"] for one in plain.json()["rules"]] == [True, False]
    assert "buyer0@" not in shown + plain.out


def test_rules_go_from_org_to_files_and_back(tmp_path):
    """Pull, check, test, a push that only shows, one that the router's user may not do, and one that an admin's may."""
    with simulator(scenario=company.scenario()) as org:
        _there_and_back(org, _runner(org, tmp_path), tmp_path)


def _there_and_back(org, run, tmp_path):
    assert "wrote rules: 2 rules, pulled for the first time" in run("rules", "pull", "--to", "rules").out
    assert run("rules", "check").out == "ok    rules: 2 rules, nothing to mend\n"
    assert run("rules", "check", "--files", "rules").out == "ok    rules: 2 rules, nothing to mend\n"
    path = tmp_path / "rules" / "rules.yaml"
    path.write_text(path.read_text().replace("Country = 'Norway'", "Country IN ('Norway', 'NO')"))
    (tmp_path / "rules" / "cases.yaml").write_text(
        "cases:\n- lead: {Country: NO}\n  rule: To north\n  group: north\n- lead: {Country: SE}\n  rule: To north\n"
    )
    tried = run("rules", "test", "--files", "rules", code=1)
    assert tried.out.splitlines() == [
        "FAIL  cases.yaml:5 case in line 5: expected rule 'To north', got rule 'To south'",
        "1 of 2 cases as expected",
    ]
    plain = run("rules", "test", "--files", "rules", "--json", code=1).json()
    assert [one["fault"] is None for one in plain] == [True, False]

    shown = run("rules", "push", "--from", "rules").out
    assert "    + criteria: Country IN ('Norway', 'NO')" in shown
    assert shown.endswith("1 rule would change, nothing was written: add --yes to write\n")
    good = path.read_text()
    path.write_text(good.replace("group: south", "user: nobody@sim.example"))
    lost = "rule 'To south': there is no user 'nobody@sim.example' in this org\n"
    assert run("rules", "push", "--from", "rules", code=2).err.endswith(lost)
    path.write_text(good)
    assert "Lead_Router_Admin" in run("rules", "push", "--from", "rules", "--yes", code=2).err
    _make_admin(org)
    assert run("rules", "push", "--from", "rules", "--yes").out.endswith("1 rule written, in one transaction\n")
    assert {row["Criteria__c"] for row in org.rows("Routing_Rule__c")} == {None, "Country IN ('Norway', 'NO')"}
    assert run("rules", "push", "--from", "rules", "--yes", "--json").json() == {"written": False, "differences": []}


def _make_admin(org):
    person = org.client()
    (admin,) = person.query("SELECT Id FROM PermissionSet WHERE Name = 'Lead_Router_Admin'")
    (router,) = person.query("SELECT Id FROM User WHERE LastName = 'Lead Router'")
    person.create("PermissionSetAssignment", AssigneeId=router["Id"], PermissionSetId=admin["Id"])


def test_check_ends_with_1_for_faults_and_for_warnings_only_if_strict(run, tmp_path):
    """A fault says file, line and character; a warning alone does not fail unless it is asked to."""
    (tmp_path / "rules.yaml").write_text("rules:\n- {name: A, precedence: 1, group: g, criteria: Country = 'x'}\n")
    assert run("rules", "check", "--files", ".").out.startswith("warn  rules: no rule takes every lead")
    run("rules", "check", "--files", ".", "--strict", code=1)
    (tmp_path / "rules.yaml").write_text("rules:\n- name: A\n  precedence: 1\n  group: g\n  criteria: Country == 'x'\n")
    found = run("rules", "check", "--files", ".", "--json", code=1).json()

    assert found[0]["name"] == "rules.yaml:2 rule 'A'"
    assert found[0]["detail"].startswith("criteria, line 5, character 10: ")


def test_plan_of_ten_thousand_leads_is_quick(run, tmp_path):
    """10,000 leads from a file, each of another buyer, with what the ledger knows of them."""
    lines = (f"b{number}@x.example,{company.COUNTRIES['north']}" for number in range(MANY))
    (tmp_path / "many.csv").write_text("\n".join(("Email,Country", *lines)) + "\n")
    start = time.monotonic()
    plan = run("plan", "--csv", "many.csv", "--json").json()
    took = time.monotonic() - start

    assert sorted(share["leads"] for share in plan["shares"]) == [3333, 3333, 3334]
    assert took < PLAN_S
