"""The console over a real PostgreSQL: every page and both actions, and a server that goes away and comes back."""

from __future__ import annotations

import psycopg
import pytest

from support.console_rig import console_rig, words

pytestmark = pytest.mark.postgres

OURS = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"


@pytest.fixture
def rig(tmp_path, postgres_url):
    with console_rig(tmp_path, postgres_url) as made:
        yield made


def test_every_page_and_both_actions_are_the_same_over_postgresql(rig, postgres_url):
    """What waits, what is dead, a story, a plan; a retry and a discard reach the router's rows, each once."""
    (lead,) = rig.leads(1, FirstName="Jo")
    rig.drain()
    first, second = (rig.bury(rig.rest_org.lead(), "FIELD_CUSTOM_VALIDATION: no") for _ in range(2))
    with rig.console() as browser:
        now = words(browser.get("/"))
        assert "Dead 2 wait for a person" in now
        assert "Jo Doe Ann" in now
        assert f"Job database {postgres_url.replace('router@', '')}" in now
        assert "Next is Bob" in words(browser.get("/groups"))
        assert f"/lead/{lead}" in browser.post("/lead", {"sought": "jo d"}).text
        assert "job 1 was done" in words(browser.get(f"/lead/{lead}"))
        assert "2 jobs are dead" in words(browser.get("/dead"))
        assert "FIELD_CUSTOM_VALIDATION: no" in words(browser.get(f"/dead/{second}"))
        assert "Queued again" in words(browser.post(f"/dead/{first}/retry"))
        assert browser.post(f"/dead/{first}/retry").status_code == 409
        assert "Ended for good" in words(browser.post(f"/dead/{second}/discard", {"reason": "a  test\nlead"}))
        assert browser.post(f"/dead/{second}/discard", {"reason": "again"}).status_code == 409
        assert browser.get(f"/dead/{'9' * 18}").status_code == 404
        plan = browser.post("/plan", files={"leads": ("a.csv", b"Email\na@x.example\n", "text/csv")})
        assert "1 assign." in words(plan)
        assert browser.get(plan.url.removeprefix(browser.url) + "/plan.csv").text.count("\r\n") == 2
    told = {job.id: job.outcome or job.status for job in rig.jobs()}
    assert (told[first], told[second]) == ("queued", "discarded: a test lead")
    with psycopg.connect(postgres_url) as admin:
        assert admin.execute(OURS).fetchone()[0] == len(rig._stores)


def test_while_the_server_is_away_the_pages_say_so_and_go_on_afterwards(rig, postgres_server):
    """The org's part is shown, an action says that nothing is known of it, and nobody need restart the console."""
    (lead,) = rig.leads(1)
    rig.drain()
    job = rig.bury(rig.rest_org.lead(), "refused")
    with rig.console() as browser:
        postgres_server.halt()
        try:
            now, dead = browser.get("/"), browser.get("/dead")
            story, done = words(browser.get(f"/lead/{lead}")), browser.post(f"/dead/{job}/retry")
        finally:
            postgres_server.start()
        assert "The job database cannot be looked at: " in words(now)
        assert "Unassigned 1" in words(now)
        assert (dead.status_code, done.status_code) == (503, 503)
        assert "Its jobs cannot be looked at: " in story
        assert "Round 1 : assigned to Ann" in story
        assert "1 job is dead" in words(browser.get("/dead"))
        assert "Queued again" in words(browser.post(f"/dead/{job}/retry"))
