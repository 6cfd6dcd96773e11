"""The org in trouble in mid-stream, under both readings of what Salesforce does: later every lead is routed, once."""

from __future__ import annotations

import pytest

from support import company
from support.router import routers, until
from support.simulator import simulator
from support.third_program import Form, meanwhile
from support.verdict import all_owned, promises_kept

LEADS = 300
SETTLE_S = 60.0
COMMIT = "PATCH"  # in the body of a commit alone: a snapshot only reads
READ = "query?q="
FAULTS = (
    {"name": "drop_before", "body": COMMIT, "count": 2},
    {"name": "drop_after", "body": COMMIT, "count": 2},
    {"name": "html_200", "path": "/composite", "body": READ},
    {"name": "status", "path": "/composite", "body": READ, "value": 503, "count": 2},
    {"name": "status", "body": COMMIT, "value": 500},
    {"name": "lock_timeout", "body": COMMIT, "count": 2},
    {"name": "expire_session", "body": COMMIT},
    {"name": "401", "path": "/composite", "body": READ},
    {"name": "request_limit", "path": "/composite", "body": READ, "value": "concurrent"},
)
STREAM = ("cut", "drop_session", "lose_answer", "disconnect", "duplicate", "gap_event", "lose_event")


@pytest.mark.parametrize("switches", ["default", "pessimistic"])
def test_all_leads_are_routed_once_after_trouble(router_at, switches):
    """B2, B7, B8, B13, A1, A7, A19, P44: answers lost, pages of HTML, limits, expired sessions, a torn stream.

    Two routers with a database each, so that each meets the other's writes too. Nothing is lost or twice afterwards.
    """
    with simulator("--switches", switches, "--seed", "9", scenario=company.scenario()) as org:
        made = [router_at(org, name=name, sweep_every_s="5", batch_max="40") for name in ("one", "two")]
        with routers(*made):
            form = Form(org)
            with meanwhile(form, [company.lead(number) for number in range(LEADS)], threads=3, together=5):
                until(lambda: all_owned(org, 20), SETTLE_S, "the first leads with an owner")
                org.control("faults", [{"path": "/services/data", "skip": 2, **fault} for fault in FAULTS])
                for name in STREAM:
                    org.control("stream", {"arm": name, "count": 1 if name != "lose_event" else 3})
            until(lambda: all_owned(org, LEADS), SETTLE_S, f"{LEADS} leads with an owner")
            until(lambda: org.control("state")["faults"] == [], SETTLE_S, "all faults to have struck")
            until(
                lambda: org.control("state")["stream"]["faults"] == {}, SETTLE_S, "the stream's faults to have struck"
            )
            promises_kept(org, form.created)
            assert [router.stop() for router in made] == [0, 0]


def test_an_org_out_of_reach_is_waited_for(router_at):
    """C28: for some seconds nothing of the org answers, then all comes back; no job used up an attempt by that."""
    with simulator(scenario=company.scenario()) as org, routers(router_at(org)) as (router,):
        form = Form(org)
        org.control("faults", {"name": "unreachable", "path": "/composite", "count": None})
        org.control("stream", {"arm": "cut", "count": 3})
        form.post_all([company.lead(number) for number in range(30)])
        router.await_event("service_faulted", count=2)
        assert org.control("state")["counts"].get("Lead_Assignment__c", 0) == 0
        org.control("faults", method="DELETE")
        until(lambda: all_owned(org, 30), SETTLE_S, "30 leads with an owner")
        promises_kept(org, form.created)
        jobs = router.run("jobs", "list", "--json").json()
        assert {(job["status"], job["attempts"]) for job in jobs} == {("done", 1)}
        assert router.stop() == 0
