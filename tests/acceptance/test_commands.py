"""The command line as an operator meets it: what it prints, how it ends, and the way of a job that cannot succeed."""

from __future__ import annotations

import json
import re
import sqlite3
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from lead_router.app import looking
from lead_router.jobs import open_store
from lead_router.settings import Settings
from support import company, metadata_copy
from support.router import Router, command, environment, until
from support.simulator import lead as any_lead
from support.simulator import simulator
from support.third_program import Form
from support.verdict import books, routed_once, turns_in_order

ROOT = Path(__file__).parents[2]
SETTLE_S = 30.0
RULE = "AND(ISCHANGED(Routing_Idem_Key__c), Title = &quot;Embargo&quot;)"


def test_a_lead_whose_save_always_fails_ends_dead_and_is_told_and_can_be_retried_or_discarded(tmp_path):
    """P32, E13: two of 22 leads that come together break a rule of the org; the other 20 are routed in turn.

    The two are dead after one attempt, flagged Failed on the lead, and listed with the rule's text. One is retried once
    the cause is gone, and then routed; the other is discarded with a reason, and stays where it is.
    """
    metadata = metadata_copy.copied(tmp_path / "metadata")
    metadata_copy.add_rule(metadata, "Lead", "Embargo", RULE, "Embargo: no new owner")
    with simulator("--metadata", str(metadata), scenario=company.scenario()) as org:
        router = Router(tmp_path / "router", environment(org, "sqlite:///jobs.db")).start().subscribed()
        try:
            leads = [company.lead(number) for number in range(20)]
            good = (form := Form(org)).post_together(
                [*leads[:10], company.lead(20, Title="Embargo"), *leads[10:], company.lead(21, Title="Embargo")]
            )
            cured, kept = good.pop(10), good.pop()
            until(lambda: _flagged(org, 20, 2), SETTLE_S, "20 leads assigned and two failed")
            dead = until(lambda: _listed(router, "dead", 2), SETTLE_S, "two dead jobs")
            assert {job["lead_id"] for job in dead} == {cured, kept}
            assert {job["attempts"] for job in dead} == {1}
            assert all("Embargo: no new owner" in job["last_error"] for job in dead)
            seen = books(org)
            routed_once(seen, good)
            turns_in_order(seen)
            for lead_id in (cured, kept):
                assert seen.leads[lead_id]["Routing_Status__c"] == "Failed"
                assert "Embargo: no new owner" in seen.leads[lead_id]["Routing_Error__c"]
            numbers = {job["lead_id"]: str(job["id"]) for job in dead}
            _retried(org, router, form, cured, numbers[cured])
            ended = router.run("jobs", "discard", numbers[kept], "--reason", "not ours to sell to", "--json")
            assert (ended.code, ended.json()["changed"]) == (0, True)
            shown = router.run("jobs", "show", numbers[kept], "--json").json()
            assert (shown["status"], "not ours to sell to" in str(shown)) == ("done", True)
            assert books(org).rows_of(kept) == []
            assert router.run("jobs", "retry", numbers[kept]).code == 2
            assert router.stop() == 0
        finally:
            router.kill()


def _flagged(org, assigned, failed):
    seen = Counter(lead["Routing_Status__c"] for lead in org.rows("Lead"))
    return (seen["Assigned"], seen["Failed"]) == (assigned, failed)


def _listed(router, status, count):
    jobs = router.run("jobs", "list", "--status", status, "--limit", "100", "--json").json()
    return jobs if len(jobs) >= count else None


def _retried(org, router, form, lead_id, number):
    form.salesforce.Lead.update(lead_id, {"Title": None}, headers={"Sforce-Auto-Assign": "FALSE"})
    ended = router.run("jobs", "retry", number, "--json")
    assert (ended.code, ended.json()) == (0, {"job": int(number), "changed": True})
    until(lambda: books(org).leads[lead_id]["OwnerId"].startswith("005"), SETTLE_S, "the cured lead with an owner")
    seen = books(org)
    routed_once(seen, [lead_id])
    turns_in_order(seen)
    assert (seen.leads[lead_id]["Routing_Status__c"], seen.leads[lead_id]["Routing_Error__c"]) == ("Assigned", None)


def test_an_event_that_cannot_be_parsed_is_kept_and_counted(tmp_path):
    """A11: requests that name no lead go to the quarantine with their bytes; the one between them is routed.

    The router listens to its own platform event here, whose text any program may fill.
    """
    with simulator(scenario=company.scenario()) as org:
        settings = environment(
            org, "sqlite:///jobs.db", stream_channel="/event/Lead_Routing_Requested__e", sweep_every_s="600"
        )
        router = Router(tmp_path, settings).start().subscribed()
        try:
            # The sweep for having subscribed without a position; that of the start is the same one, or came before.
            until(
                lambda: any("new events only" in line["reason"] for line in router.events("leads_swept")),
                SETTLE_S,
                "a sweep for what came before",
            )
            form = Form(org)
            lead_id = form.post(company.lead(1))
            for text in ("no lead at all", lead_id, "00Q"):
                form.salesforce.Lead_Routing_Requested__e.create({"Lead_Id__c": text})
            queue = until(lambda: _queue(router, quarantined=2, done=1), SETTLE_S, "two kept, one done")
            assert (queue["dead"], queue["queued"], queue["working"]) == (0, 0, 0)
            routed_once(books(org), [lead_id])
            with sqlite3.connect(tmp_path / "jobs.db") as file:
                kept = [bytes(row[0]) for row in file.execute("SELECT body FROM quarantine ORDER BY id")]
            file.close()
            texts = [json.loads(payload)["data"]["payload"]["Lead_Id__c"] for payload in kept]
            assert texts == ["no lead at all", "00Q"]
            assert router.stop() == 0
        finally:
            router.kill()


def _queue(router, **least):
    seen = router.run("status", "--json")
    queue = seen.json()["queue"]
    assert seen.code == 0
    return queue if all(queue[name] >= count for name, count in least.items()) else None


@pytest.fixture(scope="module")
def org():
    with simulator(scenario=company.scenario()) as running:
        yield running


def test_every_command_prints_one_json_value(org, tmp_path):
    """F13: `init` writes a file that only its owner reads; with it alone, the other commands work, without a router."""
    bare = {name: value for name, value in environment(org, "x").items() if not name.startswith("LEAD_ROUTER_")}
    written = command(tmp_path, bare, "init")
    assert (written.code, (tmp_path / ".env").stat().st_mode & 0o777) == (0, 0o600)
    assert command(tmp_path, bare, "init").code == 2  # never over a file that is there
    mine = {"LOGIN_URL": org.url, "CLIENT_ID": "lead-router", "CLIENT_SECRET": "simulator"}
    text = (tmp_path / ".env").read_text()
    for name, value in mine.items():
        text = re.sub(rf"(?m)^# LEAD_ROUTER_{name}=.*$", f"LEAD_ROUTER_{name}={value}", text)
    (tmp_path / ".env").write_text(text)
    open_store(f"sqlite:///{tmp_path}/lead-router.db", org_id=org.ready["org_id"]).close()
    status = command(tmp_path, bare, "status", "--json")
    assert (status.code, status.json()["queue"]["queued"], status.json()["org_fault"]) == (1, 0, None)
    groups = {group["key"]: group["next_members"] for group in status.json()["groups"]}
    assert (sorted(groups), groups["north"]) == (["north", "south"], ["Ann", "Ben", "Cem"])
    findings = command(tmp_path, bare, "doctor", "--json")
    assert (findings.code, [one for one in findings.json() if not one["ok"] or one["warning"] or one["remedy"]]) == (
        0,
        [],
    )
    listed = command(tmp_path, bare, "jobs", "list", "--json")
    assert (listed.code, listed.json()) == (0, [])


def test_the_simulated_orgs_example_is_a_whole_org_to_route_in(tmp_path):
    """With it, `doctor` finds nothing, and the leads that wait are routed by the weights 2 and 1; switches are told."""
    example = json.loads((ROOT / "src/org_simulator/example.json").read_text(encoding="utf-8"))
    with simulator(scenario=example) as org:
        router = Router(tmp_path, environment(org, "sqlite:///jobs.db", reroutes="observe"))
        found = router.run("doctor", "--json")
        assert (found.code, [one for one in found.json() if not one["ok"]]) == (0, [])
        (switches,) = (one["detail"] for one in found.json() if one["name"] == "switches")
        assert switches == "duplicates live, matched owner live, reroutes observe, first touch off"
        try:
            router.start().await_event("lead_assigned", count=3)
            (started,) = router.events("router_started")
            positions = [started[name] for name in ("duplicates", "matched_owner", "reroutes")]
            assert positions == ["live", "live", "observe"]
            names = {user["Id"]: user["LastName"] for user in org.rows("User")}
            assert Counter(names.get(lead["OwnerId"]) for lead in org.rows("Lead")) == {"Ada": 2, "Bo": 1}
            assert router.stop() == 0
        finally:
            router.kill()


def test_status_warns_where_jobs_and_groups_are_of_two_orgs(org, tmp_path):
    """As after a sandbox was refreshed: the queue is the former org's, the groups are those of the one logged in to."""
    settings = Settings(
        login_url=org.url, client_id="lead-router", client_secret="simulator", database=f"sqlite:///{tmp_path}/jobs.db"
    )
    mine, former = org.ready["org_id"], "00D000000000001AAA"
    told = []
    for org_id in (former, mine):
        with closing(open_store(settings.database, org_id=org_id)) as store:
            store.request_sweep("first start")
        told.append([warning for warning in looking.status(settings).warnings if mine in warning])

    (one,) = told[0]
    assert ("restart the router" in one, "LEAD_ROUTER_LOGIN_URL" in one, told[1]) == (True, True, [])


def test_exit_codes_are_those_of_the_help_text(org, tmp_path):
    """0 done, 1 found or failed, 2 a person must change something, 3 no answer; the help text says so."""
    told = command(tmp_path, environment(org, "sqlite:///jobs.db"), "--help")
    assert [code for code in range(4) if re.search(rf"(?m)^  {code}  \w+", told.out)] == [0, 1, 2, 3]
    open_store(f"sqlite:///{tmp_path}/jobs.db", org_id=org.ready["org_id"]).close()
    away = environment(org, "sqlite:///jobs.db", login_url="http://localhost:9")
    wrong = environment(org, "sqlite:///jobs.db", client_secret="another")
    asked = [
        (away, ("status",), 3),
        (away, ("doctor", "--json"), 3),
        (wrong, ("doctor",), 1),
        (wrong, ("status",), 2),
        (wrong, ("jobs", "show", "7"), 2),
    ]
    with ThreadPoolExecutor(2) as pool:
        ended = list(pool.map(lambda one: command(tmp_path, one[0], *one[1]).code, asked))
    assert ended == [code for _, _, code in asked]


def test_secrets_and_personal_values_never_reach_the_log(org, tmp_path):
    """F1: with a wrong lead, a wrong token and the most talkative level, no secret, e-mail or name is printed."""
    settings = environment(org, "sqlite:///jobs.db", log_level="debug")
    router = Router(tmp_path, settings).start().subscribed()
    try:
        form = Form(org)
        org.control("faults", {"name": "expire_session", "path": "/composite"})
        org.control("faults", {"name": "html_200", "path": "/composite"})
        lead_id = form.post(
            any_lead(LastName="Secretperson", Email="secret.person@buyer.example", Phone="030 12345678")
        )
        until(lambda: books(org).leads[lead_id]["OwnerId"].startswith("005"), SETTLE_S, "the lead with an owner")
        assert router.stop() == 0
    finally:
        router.kill()
    text = router.log.read_text()
    secrets = (
        "Secretperson",
        "secret.person",
        "12345678",
        "LEAD_ROUTER_CLIENT_SECRET=",
        "simulator",
        org.ready["org_id"][:15] + "!",
    )
    assert [secret for secret in secrets if secret in text] == []
