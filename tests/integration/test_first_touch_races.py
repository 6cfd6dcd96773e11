"""The first-touch clock under what may happen between two looks: touches in the last moment, restarts, two routers."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from lead_router.core.model import ALL_LIVE, Switch
from lead_router.loops.firsttouch import LAPSES_S, STOPPED_FOR
from lead_router.ports import NewJob, Touched
from lead_router.ports.notices import NewNotice
from lead_router.salesforce.configuration import Intake
from org_simulator.switches import Switches
from support.office import EVERY_S, Office
from support.worker_rig import Interrupted

WORKING = "Working - Contacted"


@pytest.fixture(params=[Switches(), Switches.pessimistic()], ids=["documented", "pessimistic"])
def office(request, tmp_path):
    made = Office(tmp_path, switches=replace(request.param))
    yield made
    made.close()


def watching(office: Office, position: Switch) -> None:
    """The operator turns the switch, and starts the router again."""
    office.intake = Intake(rollout=replace(ALL_LIVE, first_touch=position))
    office.client = office.connect()
    office.anew()


def test_who_touches_a_lead_in_the_last_moment_keeps_it(office: Office):
    """Between the read and the write its owner sets the status: the write is refused, and the lead stays."""
    lead = office.given()
    office.passes(14)
    office.clock.advance(60)
    office.loop.step()
    office.client.before_write.append(lambda: office.rest_org.update(lead, Status=WORKING))
    office.drain()

    assert (office.owner(lead), len(office.ledger())) == ("Ann", 1)
    assert office.outcomes() == ["assigned", f"skipped: touched: its status is '{WORKING}'"]


def test_who_takes_a_lead_in_the_last_moment_keeps_it(office: Office):
    """Whoever gave it to somebody meanwhile is right."""
    lead = office.given()
    office.passes(14)
    office.clock.advance(60)
    office.loop.step()
    office.client.before_write.append(lambda: office.rest_org.update(lead, OwnerId=office.rest_org.refs["dan"]))
    office.drain()

    assert (office.owner(lead), len(office.ledger())) == ("Dan", 1)


def test_who_took_a_lead_back_by_hand_has_no_clock(office: Office):
    """P62: it is with whom its last routing gave it to, and that person took it from a colleague since."""
    lead = office.given()
    told = {
        "change_type": "UPDATE",
        "event_at": office.clock.now().isoformat(),
        "given_by": office.rest_org.refs["ann"],
    }
    office.passes(14)
    office.clock.advance(60)
    office.loop.step()
    office.store.record([NewJob("an event", lead, lead, told)])
    office.drain()

    assert (office.owner(lead), len(office.ledger())) == ("Ann", 1)
    assert office.outcomes()[1] == "skipped: its owner was changed"


def test_a_lead_that_was_changed_a_moment_ago_is_looked_at_again(office: Office):
    """Two changes within a second are the same to Salesforce's condition: it is decided once the second is over."""
    lead = office.given()
    office.passes(14)
    office.clock.advance(60)
    office.loop.step()
    office.rest_org.update(lead, Phone="+32 2 555 01 02")
    office.drain()
    soon = (office.owner(lead), office.jobs()[-1].last_error)
    office.clock.advance(6)
    office.drain()

    assert soon == ("Ann", "held: it was changed a moment ago")
    assert office.owner(lead) == "Bob"


@pytest.mark.parametrize("minutes", [10, -10])
def test_a_call_counts_by_salesforce_s_clock_whatever_the_router_s_says(office: Office, minutes: int):
    """A host ten minutes ahead, or behind: a call two minutes after the assignment is one, one of before it is none."""
    off = timedelta(minutes=minutes)
    _, rest, _ = office.rest_org.connect()
    client = Interrupted(rest, office.intake, now=lambda: office.clock.now() + off)
    office.router = office.worker(client)
    office.loop = office.looks(client, now=client._now)
    office.loop.step()
    office.clock.advance(3_600)
    called, silent = office.leads(2)
    office.logs_call(silent, by="dan")
    office.clock.advance(2)
    office.drain()
    owner = office.owner(called)
    office.clock.advance(120)
    office.logs_call(called)
    office.passes(40)

    assert office.owner(called) == owner
    assert len([row for row in office.ledger() if row["Lead__c"] == silent]) > 1


def test_a_lead_that_is_returned_meanwhile_is_routed_as_such(office: Office):
    """The clock has nothing to say of a lead without owner; a sweep finds it though its job was open."""
    lead = office.given()
    office.passes(14)
    office.clock.advance(60)
    office.loop.step()
    office.rest_org.update(lead, OwnerId=office.rest_org.queue("Lead_Intake"))
    office.drain()
    office.upkeep().step()
    office.drain()

    assert office.owner(lead) == "Bob"
    assert ".sweep." in max(office.ledger(), key=lambda row: row["Round__c"])["Idempotency_Key__c"]


def test_two_routers_with_a_database_each_move_a_lead_once(office: Office):
    """The round is the ledger's: whoever comes second finds it given."""
    lead = office.given()
    office.passes(14)
    office.clock.advance(60)
    office.loop.step()
    other = office.open("other.db")
    (job,) = [one for one in office.jobs() if one.status == "queued"]
    other.record([NewJob(job.idempotency_key, lead, lead, job.payload)])
    second = office.worker(office.connect(), name="two", store=other)
    office.client.before_write.append(lambda: office.drain(second))
    office.drain()

    assert office.rounds() == [("Ann", "Assigned"), ("Bob", "Assigned")]
    assert office.turns() == [1, 2]


def test_two_routers_of_one_database_fire_once(office: Office):
    """One reminder, one job."""
    office.given()
    other = office.looks()
    with capture_logs() as logs:
        for _ in range(16):
            office.clock.advance(60)
            other.step()
            office.loop.step()

    events = [line["event"] for line in logs]
    assert (events.count("rep_reminded"), events.count("leads_untouched"), len(office.jobs())) == (1, 1, 2)


def test_a_router_that_starts_again_goes_on(office: Office):
    """Nothing of it is kept in the process: the reminder is not made twice, the deadline is not missed."""
    lead = office.given()
    office.passes(8)
    office.anew()
    office.passes(4)
    office.anew()
    office.clock.advance(4 * 60)
    office.loop.step()
    office.anew()
    office.drain()

    assert office.marks() == [(lead, 1, Touched.REMINDED)]
    assert office.owner(lead) == "Bob"


def test_a_router_that_was_away_past_the_deadline_reminds_nobody(office: Office):
    """The lead moves on at once; a reminder would come too late."""
    lead = office.given()
    office.clock.advance(3600)
    office.anew()
    office.passes(1)

    assert (office.owner(lead), office.marks()) == ("Bob", [])


def test_the_first_day_brings_no_flood(office: Office):
    """What was given out before the clock was there, or was switched on, is left to its owners."""
    watching(office, Switch.OFF)
    old = office.given()
    office.clock.advance(LAPSES_S + 1)
    watching(office, Switch.LIVE)
    office.loop.step()
    office.clock.advance(1)
    new = office.given()
    office.passes(20)

    assert (office.owner(old), office.owner(new)) == ("Ann", "Cid")


def test_an_observing_clock_says_once_what_it_would_do(office: Office):
    """Nothing is written, and live it begins anew: what was only observed is not overdue on the first day."""
    watching(office, Switch.OBSERVE)
    office.loop.step()
    lead = office.given()
    with capture_logs() as logs:
        office.passes(40)
    told = [line["would"] for line in logs if line["event"] == "touch_observed"]
    seen = (office.owner(lead), len(office.jobs()), office.marks())
    watching(office, Switch.LIVE)
    office.passes(40)

    assert seen == ("Ann", 1, [(lead, 1, Touched.WOULD_REMIND), (lead, 1, Touched.WOULD_REROUTE)])
    assert told[0] == "Live, its owner is reminded."
    assert told[1].startswith("Live, it is given out: Routed anew: not touched within 15 minutes by Ann. Turn 2 of")
    assert (len(told), office.owner(lead)) == (2, "Ann")


def test_a_clock_that_is_off_asks_for_nothing(office: Office):
    """Neither the org nor the job database hears of it; so it is for groups that have no clock."""
    watching(office, Switch.OFF)
    office.given()
    before = office.rest_org.calls()
    for _ in range(20):
        office.clock.advance(EVERY_S)
        assert not office.loop.step()

    assert office.rest_org.calls() == before
    assert (office.marks(), len(office.jobs())) == ([], 1)


def test_a_clock_that_is_switched_off_before_its_job_is_claimed_takes_nothing(office: Office):
    """Whoever stops it stops it at once."""
    lead = office.given()
    office.passes(14)
    office.clock.advance(60)
    office.loop.step()
    watching(office, Switch.OFF)
    office.drain()

    assert (office.owner(lead), office.outcomes()[-1]) == ("Ann", "skipped: the first-touch clock is not live")


def test_more_leads_than_one_commit_can_guard_all_move(office: Office):
    """Fifty at once, in commits of twenty; each of them is held against its own touch."""
    for name in ("ann", "bob", "cid", "dan"):
        office.rest_org.update(office.rest_org.refs[f"{name}_emea"], Daily_Cap__c=None)
    leads = office.leads(50)
    office.drain()
    before = {lead: office.owner(lead) for lead in leads}
    touched = leads[::10]
    office.passes(14)
    office.clock.advance(60)
    office.loop.step()
    office.client.before_write.append(
        lambda: [office.rest_org.update(lead, Status=WORKING) for lead in touched] and None
    )
    office.drain()

    assert [office.owner(lead) for lead in touched] == [before[lead] for lead in touched]
    assert [lead for lead in leads if lead not in touched and office.owner(lead) == before[lead]] == []
    assert office.turns() == list(range(1, 96))


def test_a_user_who_may_not_read_activities_takes_no_lead_away(office: Office):
    """Whether somebody called cannot be told: the clock stands still, and says so once."""
    (given,) = (row["Id"] for row in office.rest_org.rows("PermissionSetAssignment") if _is_of_activities(office, row))
    office.rest_org.delete(given)
    lead = office.given()
    with capture_logs() as logs:
        office.passes(60)

    assert (office.owner(lead), office.marks()) == ("Ann", [])
    assert [line["event"] for line in logs].count("first_touch_blind") == 1


def _is_of_activities(office: Office, row) -> bool:
    return office.rest_org.row(row["PermissionSetId"])["Name"] == "Lead_Router_Activities"


def test_a_fault_of_the_look_ends_nothing(office: Office):
    """The loop waits and looks again; routing hears nothing of it."""
    lead = office.given()
    office.rest_org.fault("status", path="/query", body="", count=3, value=503)
    with capture_logs() as logs:
        office.passes(17)

    assert office.owner(lead) == "Bob"
    assert "first_touch_failed" in [line["event"] for line in logs]


def test_a_lead_of_which_no_clock_runs_costs_a_look_a_quarter_of_an_hour(office: Office):
    """One that a person gave on within the group still shows what routing wrote: it is not read each half minute."""
    lead = office.given()
    office.rest_org.update(lead, OwnerId=office.rest_org.refs["dan"])
    office.clock.advance(16 * 60)
    office.loop.step()
    before = office.rest_org.calls()
    for _ in range(10):
        office.clock.advance(EVERY_S)
        office.loop.step()

    assert office.rest_org.calls() - before == 10
    assert timedelta(seconds=10 * EVERY_S) < STOPPED_FOR


def test_a_reminder_is_handed_to_those_who_tell_people_once(office: Office):
    """Under a key of its own, to the owner of that very round; a crash before the mark tells nobody twice."""
    told: list[NewNotice] = []

    def channels(notice: NewNotice) -> tuple[str, ...]:
        told.append(notice)
        return ("bell",)

    office.channels = channels
    office.anew()
    lead = office.given()
    told.clear()
    office.passes(8)
    office.store.forget_touches(older_than_s=-60.0, limit=9)
    office.anew()
    office.passes(2)
    kept = [one for one in office.store.notices_of(lead, limit=9) if one.kind == "reminder"]

    assert [(one.user_id, one.reason) for one in kept] == [
        (office.rest_org.refs["ann"], "To be touched by 2026-11-29 20:15 UTC, 15 minutes after it was given out.")
    ]
    assert (told[0].group, told[0].name, told[0].round) == ("emea", "Ann", 1)
    assert told[0].key.endswith(".untouched.1.reminder")
    assert office.marks() == [(lead, 1, Touched.REMINDED)]
