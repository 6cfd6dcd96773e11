"""A claim holds for as long as its worker is at work, however many calls that takes."""

from __future__ import annotations

import contextlib
import sqlite3

import pytest

from lead_router.errors import Misconfigured
from lead_router.loops.routing import FRESH_S
from lead_router.settings.fields import LEASE_SLACK_S
from support.worker_rig import LEASE_S, Rig

COUNTRIES = ("Japan", "Chile", "Kenya", "Nepal")


@pytest.fixture
def rig(tmp_path):
    """A group for each of four countries, with Ann in all of them."""
    made = Rig(tmp_path)
    org = made.rest_org
    for place, country in enumerate(COUNTRIES, start=1):
        group = org.insert("Round_Robin_Group__c", Name=country, Key__c=country, Mode__c="Live", Epoch__c=1)
        org.insert("Round_Robin_Member__c", Group__c=group, User__c=org.refs["ann"])
        rule = {"Name": country, "Precedence__c": place, "Active__c": True, "Criteria__c": f"Country = '{country}'"}
        org.insert("Routing_Rule__c", Target_Group__c=group, **rule)
    made.router = made.worker(name="after the change")
    yield made
    made.close()


def write_apart(rig: Rig) -> None:
    """Rows are locked once, so that the commit of all groups is refused and each group has one of its own."""
    rig.rest_org.fault("lock_timeout", path="/composite", body="Turn_Key__c")
    rig.client.before_write.append(lambda: None)


def test_a_step_of_many_writes_keeps_all_its_claims(rig):
    """C1: each of four writes takes almost a lease; another worker asks after each, and is given nothing."""
    for country in COUNTRIES:
        rig.leads(2, Country=country)
    rival = rig.worker(rig.connect(), name="rival")
    given = []

    def takes_long() -> None:
        rig.clock.advance(LEASE_S - 10)
        given.append(rival.step())

    write_apart(rig)
    rig.client.before_write += [takes_long] * len(COUNTRIES)
    rig.drain()

    assert given == [False] * len(COUNTRIES)
    assert rig.outcomes() == ["assigned"] * 8
    assert [job.attempts for job in rig.jobs()] == [1] * 8


def test_claims_lost_to_another_worker_are_told_from_those_that_hold(rig):
    """C7: of two leads of the second group one was taken over; nothing is written of it, and the rest goes on."""
    _, lost, *_ = leads = [lead for country in COUNTRIES for lead in rig.leads(2, Country=country)][2:] + rig.leads(2)
    taken = next(job.id for job in rig.jobs() if job.lead_id == lost)

    def takes_over() -> None:
        with contextlib.closing(sqlite3.connect(rig.path / "jobs.db")) as database, database:
            database.execute("UPDATE routing_job SET claim_token = 'of another one' WHERE id = ?", (taken,))
        rig.clock.advance(FRESH_S)

    write_apart(rig)
    rig.client.before_write.append(takes_over)
    rig.router.step()

    apart = rig.client.batches[len(COUNTRIES) :]
    assert {write.ask.lead_id for batch in apart for write in batch.writes}.isdisjoint({lost})
    assert [rig.lead(lead)["Routing_Round__c"] for lead in leads] == [1.0, None, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    assert [job.status for job in rig.jobs()].count("done") == 9


def test_a_step_that_is_decided_again_and_again_keeps_its_claims(rig):
    """C1: the same where locks make it begin anew, by halves."""
    rig.leads(4)
    rival = rig.worker(rig.connect(), name="rival")
    given = []

    def takes_long() -> None:
        rig.clock.advance(LEASE_S / 2)
        given.append(rival.step())

    rig.rest_org.fault("lock_timeout", path="/composite", body="Turn_Key__c", count=4)
    rig.client.before_write += [takes_long] * 8
    rig.drain()

    assert len(given) > 4
    assert not any(given)
    assert rig.outcomes() == ["assigned"] * 4


@pytest.mark.parametrize(("read_s", "renewed"), [(FRESH_S - 0.1, 0), (FRESH_S, 1)])
def test_a_lease_that_has_only_begun_is_not_renewed(rig, read_s, renewed):
    """C1: it outlasts the next call as it is, and a lone lead need not wait for one more write to disk."""
    rig.leads(1)
    store, counted = rig.open(), []
    renew = store.renew
    store.renew = lambda jobs, **named: counted.append(len(jobs)) or renew(jobs, **named)
    rig.client.after_read.append(lambda: rig.clock.advance(read_s))
    rig.worker(store=store).step()

    assert (len(counted), rig.outcomes()) == (renewed, ["assigned"])


def test_the_lease_outlasts_a_call_that_begins_just_before_it_is_renewed():
    """C1: by the settings' own bound, with as much to spare."""
    assert 2 * FRESH_S <= LEASE_SLACK_S


def test_a_claim_that_the_database_refuses_is_no_empty_queue(rig):
    """C5: it is raised, so that it is logged and told, and nobody rests as if there were nothing to do."""
    rig.leads(1)
    store = rig.open()
    worker = rig.worker(store=store)
    store.close()
    (rig.path / "jobs.db").rename(rig.path / "away.db")
    with pytest.raises(Misconfigured):
        worker.step()
    (rig.path / "away.db").rename(rig.path / "jobs.db")
    rig.drain(worker)

    assert rig.outcomes() == ["assigned"]


def test_who_lost_a_claim_shows_nothing_on_its_lead(rig):
    """C7: nobody was there when it was read; the answer came after the lease, and another has given it out since."""
    group = next(row["Id"] for row in rig.rest_org.rows("Round_Robin_Group__c") if row["Key__c"] == "Japan")
    member = next(row["Id"] for row in rig.rest_org.rows("Round_Robin_Member__c") if row["Group__c"] == group)
    rig.rest_org.update(member, Weight__c=0)
    leads = rig.leads(2, Country="Japan")
    rival = rig.worker(rig.connect(), name="rival")

    def comes_late() -> None:
        rig.rest_org.update(member, Weight__c=1)
        rig.clock.advance(LEASE_S + 10)
        assert rival.step()

    rig.client.after_read.append(comes_late)
    rig.router.step()

    assert [rig.lead(lead)["Routing_Status__c"] for lead in leads] == ["Assigned", "Assigned"]
    assert rig.outcomes() == ["assigned", "assigned"]
