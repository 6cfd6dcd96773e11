"""The service's own fault costs no lead an attempt, and a lead's own fault costs no other lead anything."""

from __future__ import annotations

import sqlite3

import pytest
from structlog.testing import capture_logs

from lead_router.errors import StoreUnavailable
from lead_router.jobs import sqlite
from support.worker_rig import Rig


@pytest.fixture
def rig(tmp_path, monkeypatch):
    monkeypatch.setattr(sqlite, "BUSY_WAIT_S", 0.02)
    made = Rig(tmp_path)
    yield made
    made.close()


def _broken(rig, *leads):
    """A fault of the code for these leads, for all of them if none is named; the answer undoes it."""
    plain = type(rig.client).snapshot

    def snapshot(configuration, lead_ids, keys):
        if not leads or set(leads) & set(lead_ids):
            raise KeyError("a shape that nobody thought of")
        return plain(rig.client, configuration, lead_ids, keys)

    rig.client.snapshot = snapshot
    return lambda: setattr(rig.client, "snapshot", plain.__get__(rig.client))


def test_a_program_that_fails_on_every_lead_blames_none(rig):
    """C28: 79 healthy leads under a broken client for 15 minutes: each step fails loudly, no attempt is used up."""
    leads = rig.leads(79)
    undo = _broken(rig)
    for _ in range(15):
        rig.clock.advance(60)
        with pytest.raises(KeyError):
            rig.router.step()
    told, waiting = rig.breaker.why(), {(job.status, job.attempts) for job in rig.jobs()}
    undo()
    rig.drain()

    assert told == "KeyError on every lead, told in the log"
    assert waiting == {("queued", 0)}
    assert {(job.outcome, job.attempts) for job in rig.jobs()} == {("assigned", 1)}
    assert (len(leads), rig.turns(), rig.breaker.why()) == (79, list(range(1, 80)), None)


def test_one_poison_lead_is_dead_after_its_attempts_and_blocks_nobody(rig):
    """C20: 1 poison and 100 good leads: all good ones are done before its second try; it alone ends dead, once."""
    (poison,) = rig.leads(1)
    rig.leads(100)
    _broken(rig, poison)
    rig.router.step()
    first = rig.outcomes()
    for _ in range(2):
        rig.clock.advance(301)
        rig.router.step()

    assert first == ["queued", *["assigned"] * 100]
    assert rig.outcomes() == ["dead", *["assigned"] * 100]
    assert (rig.jobs()[0].attempts, rig.breaker.why()) == (3, "KeyError on every lead, told in the log")
    assert rig.lead(poison)["Routing_Status__c"] == "Failed"


def test_two_poison_leads_in_a_quiet_night_end_dead(rig):
    """C20: so few leads are no proof against the program; their attempts count."""
    rig.leads(2)
    _broken(rig)
    for _ in range(5):
        rig.router.step()
        rig.clock.advance(301)

    assert rig.outcomes() == ["dead", "dead"]


def test_what_was_claimed_when_the_database_went_away_is_given_back(rig):
    """C28, F7: the commit is carried out and cannot be written down; no lease is waited for, no attempt counts."""
    other = sqlite3.connect(rig.path / "jobs.db", isolation_level=None)
    leads = rig.leads(2)
    rig.client.before_write.append(lambda: other.execute("BEGIN IMMEDIATE"))
    for _ in range(3):
        with pytest.raises(StoreUnavailable):
            rig.router.step()
        rig.clock.advance(1)
    other.close()
    rig.drain()

    assert [rig.owner(lead) for lead in leads] == ["Ann", "Bob"]
    assert {(job.outcome, job.attempts) for job in rig.jobs()} == {("skipped: already routed", 1)}


def test_what_was_claimed_is_given_back_at_the_end_too(rig):
    """C22: told to stop while the database is away and back, the worker leaves no claim behind."""
    other = sqlite3.connect(rig.path / "jobs.db", isolation_level=None)
    rig.leads(1)
    rig.client.before_write.append(lambda: other.execute("BEGIN IMMEDIATE"))
    with pytest.raises(StoreUnavailable):
        rig.router.step()
    held = rig.store.queue().working
    other.close()
    rig.router.close()

    assert (held, rig.store.queue().working, rig.jobs()[0].attempts) == (1, 0, 0)


def test_after_an_api_limit_one_worker_tries_and_the_other_waits_for_it(rig):
    """C28, P37: refused again, nobody else asks; once it went well all are routed, in the order in which they came."""
    leads = rig.leads(5)
    other = rig.worker(name="two")
    rig.rest_org.fault("request_limit", path="/composite", value="concurrent", count=2)
    rig.router.step()
    told = rig.breaker.why()
    rig.clock.advance(901)
    meanwhile = []
    rig.client.after_read.append(lambda: meanwhile.append(other.step()))
    rig.router.step()
    rig.clock.advance(901)
    rig.router.step()

    assert told is not None
    assert told.startswith("RateLimited: ")
    assert meanwhile == [False]
    assert [rig.owner(lead) for lead in leads] == ["Ann", "Bob", "Ann", "Bob", "Ann"]
    assert rig.breaker.why() is None


def test_jobs_that_had_ended_before_the_fault_came_are_not_blamed_for_it(rig: Rig):
    """C20: three leads are held, then the program fails on the commit of the others: the claim goes on without them."""
    off = rig.rest_org.insert("Round_Robin_Group__c", Name="Off", Key__c="off", Mode__c="Off")
    rule = {"Criteria__c": "Country = 'Spain'", "Active__c": True, "Target_Group__c": off}
    rig.rest_org.insert("Routing_Rule__c", Name="Spain", Precedence__c=1, **rule)
    rig.leads(3, Country="Spain")
    rig.leads(2)

    def fails() -> None:
        raise KeyError("what nobody foresaw")

    rig.client.before_write.append(fails)
    with capture_logs() as logs:
        assert rig.worker(name="two").step()

    assert rig.outcomes() == ["queued"] * 3 + ["assigned"] * 2
    assert [line["event"] for line in logs if line["log_level"] in {"warning", "error"}] == ["portion_failed"]
