"""PostgreSQL crashes and comes back under a running router."""

from __future__ import annotations

import pytest

from support import company
from support.router import routers, until
from support.simulator import simulator
from support.third_program import Form
from support.verdict import all_owned, promises_kept

LEADS = 60
SETTLE_S = 60.0


@pytest.mark.postgres
def test_a_database_that_restarts_is_waited_for(router_at, postgres_server, postgres_url):
    """C28, A28: its server drops every connection while leads come; each lead is routed, once, when it is back.

    The router neither ends nor gives a lead up, and no lead that came meanwhile has used up an attempt.
    """
    with simulator(scenario=company.scenario()) as org, routers(router_at(org, database=postgres_url)) as (router,):
        form = Form(org)
        form.post_all([company.lead(number) for number in range(LEADS // 2)], together=10)
        until(lambda: all_owned(org, 1), SETTLE_S, "the first leads with an owner")
        postgres_server.halt()
        try:
            before = set(form.created)
            form.post_all([company.lead(number) for number in range(LEADS // 2, LEADS)], together=10)
            router.await_event("step_failed", count=3)
        finally:
            postgres_server.start()
        until(lambda: all_owned(org, LEADS), SETTLE_S, f"{LEADS} leads with an owner")
        promises_kept(org, form.created)
        assert {line["kind"] for line in router.events("step_failed")} == {"StoreUnavailable"}
        assert not [line for line in router.events() if "psycopg" in line["event"]]  # said once, in our own words
        jobs = router.run("jobs", "list", "--json", "--limit", "200").json()
        assert {(job["status"], job["attempts"]) for job in jobs if job["lead_id"] not in before} == {("done", 1)}
        assert router.stop() == 0
