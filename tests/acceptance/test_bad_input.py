"""What a person must change: one clear error that names the remedy, exit code 2, nothing routed and nothing lost."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from lead_router.jobs import open_store
from lead_router.jobs.migrations import known
from org_simulator.wire import tls
from support import company, metadata_copy
from support.router import Router, command, environment, until
from support.simulator import simulator
from support.third_program import Form
from support.verdict import all_owned, promises_kept

SETTLE_S = 30.0


@pytest.fixture(scope="module")
def org(tmp_path_factory):
    """One org for all refusals, with a lead that waits throughout; in the end a router with good settings routes it."""
    with simulator(scenario=company.scenario()) as running:
        form = Form(running)
        form.post(company.lead(1))
        yield running
        router = Router(tmp_path_factory.mktemp("good"), environment(running, "sqlite:///jobs.db"))
        try:
            router.start()
            until(lambda: all_owned(running, 1), SETTLE_S, "the lead that waited with an owner")
            promises_kept(running, form.created)
        finally:
            router.kill()


def refused(folder, settings, *texts, words=("run",)):
    """The command ends with code 2, prints nothing, and says one line that holds each of the texts."""
    ended = command(folder, settings, *words)
    said = [line for line in ended.err.splitlines() if line.startswith("lead-router: ")]
    assert (ended.code, ended.out, len(said), ended.err.count("Traceback")) == (2, "", 1, 0), ended
    assert [text for text in texts if text not in said[0]] == [], said[0]


@pytest.mark.parametrize(
    ("settings", "texts"),
    [
        ({"client_secret": "wrong"}, ("Salesforce refused the login", "LEAD_ROUTER_CLIENT_SECRET")),
        ({"leese_s": "20"}, ("LEAD_ROUTER_LEESE_S is not a setting", "did you mean LEAD_ROUTER_LEASE_S?")),
        ({"unassigned": "Country = = 'France'"}, ("LEAD_ROUTER_UNASSIGNED",)),
        ({"intake_queues": "Nowhere"}, ("LEAD_ROUTER_INTAKE_QUEUES", "Nowhere")),
    ],
    ids=["wrong credentials", "unknown setting", "malformed criteria", "absent queue"],
)
def test_a_bad_setting_is_refused_by_name(org, tmp_path, settings, texts):
    """A22, F13: the name that was meant is told, and no value."""
    refused(tmp_path, environment(org, "sqlite:///jobs.db", **settings), *texts)
    assert not all_owned(org, 1)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("sobject", "where", "wrong", "right", "texts"),
    [
        (
            "Routing_Rule__c",
            "Name = 'To north'",
            {"Criteria__c": "Kountry = 'Norway'"},
            {"Criteria__c": "Country = 'Norway'"},
            ("To north", "Kountry", "character 1"),
        ),
        (
            "Routing_Rule__c",
            "Name = 'To south'",
            {"Target_Queue__c": "Lead_Intake"},
            {"Target_Queue__c": None},
            ("To south", "exactly one target: a group, a user, a queue or a match"),
        ),
        (
            "Round_Robin_Group__c",
            "Key__c = 'north'",
            {"Fallback_Queue__c": "Nowhere"},
            {"Fallback_Queue__c": None},
            ("'north'", "Nowhere", "no queue has this developer name"),
        ),
    ],
    ids=["unknown field", "two targets", "absent queue"],
)
def test_a_bad_record_is_refused_by_name(org, tmp_path, sobject, where, wrong, right, texts):
    """P65: the rule or group at fault is named; put right, the same router starts."""
    admin = org.client()
    (record,) = admin.query(f"SELECT Id FROM {sobject} WHERE {where}")
    path = f"sobjects/{sobject}/{record['Id']}"
    assert admin.call("PATCH", path, wrong).status_code == 204
    try:
        refused(tmp_path, environment(org, "sqlite:///jobs.db"), *texts)
    finally:
        assert admin.call("PATCH", path, right).status_code == 204
    assert not all_owned(org, 1)


def test_a_rule_never_outlives_its_group_and_never_shares_its_precedence(org, tmp_path):
    """The org itself refuses both; a rule whose group was taken away is refused by the router, by name."""
    admin = org.client()
    (group,) = admin.query("SELECT Id FROM Round_Robin_Group__c WHERE Key__c = 'north'")
    assert admin.call("DELETE", f"sobjects/Round_Robin_Group__c/{group['Id']}").status_code == 400
    second = {"Name": "Second", "Precedence__c": 10, "Active__c": True, "Target_Group__c": group["Id"]}
    answer = admin.call("POST", "sobjects/Routing_Rule__c", second)
    assert (answer.status_code, answer.json()[0]["errorCode"]) == (400, "DUPLICATE_VALUE")
    (rule,) = admin.query("SELECT Id FROM Routing_Rule__c WHERE Name = 'To north'")
    path = f"sobjects/Routing_Rule__c/{rule['Id']}"
    assert admin.call("PATCH", path, {"Target_Group__c": None}).status_code == 204
    try:
        refused(tmp_path, environment(org, "sqlite:///jobs.db"), "To north", "exactly one target")
    finally:
        assert admin.call("PATCH", path, {"Target_Group__c": group["Id"]}).status_code == 204
    assert not all_owned(org, 1)


def _newer_schema(path: Path) -> None:
    """As a newer program leaves it: in WAL mode, all of it in the one file."""
    with sqlite3.connect(path) as newer:
        newer.execute("PRAGMA journal_mode = WAL")
        newer.execute("CREATE TABLE schema_version (version INTEGER, migration TEXT, applied_at INTEGER)")
        newer.execute("INSERT INTO schema_version VALUES (999, '0999_later.breaking', 0)")
    newer.close()


@pytest.mark.parametrize(
    ("make", "texts"),
    [
        (lambda path: path.write_bytes(b"no database at all" * 300), ("not a readable SQLite database", "restore")),
        (_newer_schema, ("schema 999", f"knows {known()[-1].version}", "start the newer program")),
    ],
    ids=["no database", "a newer schema"],
)
def test_a_database_that_is_not_ours_is_refused_and_left_as_it_is(org, tmp_path, make, texts):
    """F11, F14: not a byte of it is changed."""
    path = tmp_path / "jobs.db"
    make(path)
    before = path.read_bytes() if path.is_file() else b""
    refused(tmp_path, environment(org, "sqlite:///jobs.db"), *texts)
    assert before == (path.read_bytes() if path.is_file() else b"")
    assert not all_owned(org, 1)


@pytest.mark.parametrize(
    ("drop", "missing"),
    [
        ("field", ("Lead", "Routing_Error__c")),
        ("object", ("Lead_Assignment__c",)),
    ],
)
def test_an_org_without_a_field_or_object_is_refused_by_name(tmp_path, drop, missing):
    """The lead waits. A start that is refused, by whatever user, leaves no file that the router's could not write."""
    lacking = metadata_copy.copied(tmp_path / "metadata")
    {"field": metadata_copy.drop_field, "object": metadata_copy.drop_object}[drop](lacking, *missing)
    with simulator("--metadata", str(lacking), scenario=company.scenario()) as org:
        lead_id = Form(org).post(company.lead(1))
        refused(tmp_path, environment(org, "sqlite:///jobs.db"), *missing, "deploy salesforce_metadata")
        (lead,) = [row for row in org.rows("Lead") if row["Id"] == lead_id]
        assert lead["OwnerId"].startswith("00G")
        assert [path.name for path in tmp_path.iterdir()] == ["metadata"]


def test_a_clock_that_is_off_is_named_where_a_signed_login_is_refused(tmp_path):
    """B5: the org's clock is an hour ahead of this machine's, so that the assertion has expired on arrival."""
    certificate, key = tls.ensure(tmp_path, "localhost")
    with simulator("--manual-clock", "--jwt-certificate", str(certificate), scenario=company.scenario()) as org:
        signed = {"private_key_file": str(key), "username": "lead.router@simulated.example"}
        settings = environment(org, "sqlite:///jobs.db", **signed)
        del settings["LEAD_ROUTER_CLIENT_SECRET"]
        org.control("clock", {"advance_s": 3600})
        refused(tmp_path, settings, "LEAD_ROUTER_AUDIENCE", "this machine's clock")


def test_a_slip_in_a_rule_does_not_hide_the_queue(org, tmp_path):
    """`status` shows the queue, then the rule at fault."""
    admin = org.client()
    (record,) = admin.query("SELECT Id FROM Routing_Rule__c WHERE Name = 'To north'")
    path = f"sobjects/Routing_Rule__c/{record['Id']}"
    open_store(f"sqlite:///{tmp_path}/jobs.db", org_id=org.ready["org_id"]).close()
    admin.call("PATCH", path, {"Criteria__c": "Country !"})
    try:
        seen = command(tmp_path, environment(org, "sqlite:///jobs.db"), "status")
    finally:
        admin.call("PATCH", path, {"Criteria__c": "Country = 'Norway'"})
    assert (seen.code, "queued" in seen.out, "To north" in seen.out, seen.err) == (2, True, True, "")


def test_a_slip_while_running_stops_nothing(org, tmp_path):
    """A rule spoilt in mid-run is logged once and the former rules stay in force; put right, the new ones hold.

    Change events tell of both: the timed look is an hour away.
    """
    admin = org.client()
    (record,) = admin.query("SELECT Id FROM Routing_Rule__c WHERE Name = 'To north'")
    path = f"sobjects/Routing_Rule__c/{record['Id']}"
    settings = environment(org, "sqlite:///jobs.db", configuration_every_s="3600", unassigned="Country = 'Nowhere'")
    router = Router(tmp_path, settings)
    try:
        router.start().await_event("notices_subscribed", count=2)
        admin.call("PATCH", path, {"Criteria__c": "Country !"})
        router.await_event("configuration_refused")
        admin.call("PATCH", path, {"Criteria__c": "Country = 'Norway'"})
        router.await_event("configuration_accepted")
        (line,) = router.events("configuration_refused")
        assert "To north" in line["error"]
        assert router.stop() == 0
    finally:
        router.kill()
        admin.call("PATCH", path, {"Criteria__c": "Country = 'Norway'"})
