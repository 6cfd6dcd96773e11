"""Upkeep finds leads that no event brought, and keeps the configuration fresh without ever breaking it."""

from __future__ import annotations

import sqlite3

import pytest
from structlog.testing import capture_logs

from lead_router.core.keys import change_key
from lead_router.errors import StoreUnavailable, Unreachable
from lead_router.jobs import sqlite
from lead_router.loops import upkeep as upkeep_loops
from lead_router.ports import NewJob, Unreadable
from support.worker_rig import Rig


@pytest.fixture
def rig(tmp_path):
    """One org, one job database, no stream at all."""
    made = Rig(tmp_path)
    yield made
    made.close()


def test_a_sweep_routes_what_no_event_brought(rig: Rig):
    """P44: all events lost, every lead routed, once, however often it is swept."""
    leads = [rig.rest_org.lead() for _ in range(7)]
    upkeep = rig.upkeep()
    for _ in range(3):
        upkeep.step()
        rig.drain()
        rig.clock.advance(301)

    assert [rig.owner(lead) for lead in leads] == ["Ann", "Bob"] * 3 + ["Ann"]
    assert (rig.turns(), len(rig.jobs())) == (list(range(1, 8)), 7)


def test_a_sweep_is_due_at_once_when_asked_for_and_then_by_the_clock(rig: Rig):
    """A25, P38, P43: a gap asks for a sweep; otherwise it comes at its time."""
    upkeep = rig.upkeep()
    first = upkeep.step()
    too_soon = upkeep.step()
    rig.store.request_sweep("overflow")
    asked = upkeep.step()
    rig.clock.advance(301)
    due = upkeep.step()

    assert (first, too_soon, asked, due) == (True, False, True, True)


def test_a_clock_set_back_by_an_hour_holds_up_no_lead(rig: Rig):
    """C17, P44: what waits is routed, what no event brought is swept, and one line of the log says why."""
    rig.ahead_s = 3600.0
    rig.leads(2)
    upkeep = rig.upkeep()
    upkeep.step()
    rig.ahead_s = 0.0
    rig.rest_org.lead()
    with capture_logs() as lines:
        steps = [upkeep.step(), upkeep.step()]
    rig.drain()

    told = [line for line in lines if line["log_level"] == "warning"]
    assert (steps, rig.outcomes()) == ([True, False], ["assigned"] * 3)
    assert [(line["event"], line["text"]) for line in told] == [("clock_set_back", "clock set back by at least 3600 s")]


def test_a_failed_lead_is_routed_once_corrected_though_it_failed_by_a_clock_that_was_ahead(rig: Rig):
    """C17, P32: the correction came after the death, also where the clock, set right since, shows an earlier time."""
    rig.ahead_s = 3600.0
    upkeep = rig.upkeep()
    upkeep.step()
    rig.forbid("AND(NOT(ISNEW()), ISCHANGED(OwnerId))", "Not yet")
    (lead,) = rig.leads(1)
    rig.drain()
    rig.ahead_s = 0.0
    upkeep.step()
    rig.allow()
    rig.clock.advance(301)
    rig.rest_org.update(lead, Title="Corrected")
    upkeep.step()
    rig.drain()

    assert (rig.owner(lead), rig.outcomes()) == ("Ann", ["dead", "assigned"])


def test_a_lead_that_became_visible_behind_a_sweep_is_found_by_the_next(rig: Rig, monkeypatch):
    """B20, P44: its transaction took two minutes, so it is older than leads that a sweep went past, page by page.

    No sweep begins where the last one ended: each looks at all that is unassigned, from the oldest on.
    """
    monkeypatch.setattr(upkeep_loops, "PAGE", 2)
    upkeep = rig.upkeep()
    admin, queue = rig.org.admin_user_id, rig.rest_org.queue("Lead_Intake")
    with rig.org.transaction(admin, auto_assign=False) as slow:
        late = slow.insert("Lead", {"LastName": "Late", "Company": "Acme", "OwnerId": queue})
        rig.clock.advance(120)
        others = [rig.rest_org.lead() for _ in range(5)]
        upkeep.step()
        first = [job.lead_id for job in rig.jobs()]
    rig.clock.advance(301)
    upkeep.step()

    assert rig.lead(late)["CreatedDate"] < rig.lead(others[0])["CreatedDate"]
    assert (first, [job.lead_id for job in rig.jobs()]) == (others, [*others, late])


def test_a_sweep_leaves_leads_with_an_open_job_alone(rig: Rig):
    """A queued, held or dead job is the lead's own: no second one is made behind it."""
    rig.leads(3)
    rig.upkeep().step()

    assert len(rig.jobs()) == 3


def test_a_sweep_that_the_org_did_not_answer_is_asked_for_again(rig: Rig):
    """Nobody waits for the next regular sweep because one failed."""
    rig.rest_org.lead()
    upkeep = rig.upkeep()
    rig.rest_org.fault("unreachable", path="/query", count=1)
    with pytest.raises(Unreachable):
        upkeep.step()
    upkeep.step()

    assert len(rig.jobs()) == 1


def test_a_sweep_amid_which_its_process_died_is_made_by_the_next_after_a_minute(rig: Rig):
    """C2, P44: what it was asked for is not forgotten until the next regular one."""

    def die() -> None:
        raise KeyboardInterrupt

    upkeep = rig.upkeep()
    upkeep.step()
    lead = rig.rest_org.lead()
    rig.store.request_sweep("overflow")
    rig.client.before_sweep.append(die)
    with pytest.raises(KeyboardInterrupt):
        upkeep.step()
    rig.client.before_sweep.clear()
    successor = rig.upkeep()
    successor.step()
    early = rig.jobs()
    rig.clock.advance(61)
    successor.step()

    assert (early, [job.lead_id for job in rig.jobs()]) == ([], [lead])


def test_a_sweep_of_many_pages_stays_its_taker_s(rig: Rig, monkeypatch):
    """P44: pages that take longer than a minute together bring no second sweep beside it."""
    monkeypatch.setattr(upkeep_loops, "PAGE", 2)
    leads = [rig.rest_org.lead() for _ in range(9)]
    others: list[str | None] = []

    def slow() -> None:
        rig.clock.advance(25)
        others.append(rig.store.take_sweep(every_s=300))

    rig.client.each_page = slow
    rig.upkeep(configuration_every_s=1e9).step()

    assert (others, len(rig.jobs())) == ([None] * len(others), len(leads))
    assert len(others) > 3


def test_a_sweep_amid_which_the_database_went_away_is_made_once_it_is_back(rig: Rig, monkeypatch):
    """A25: then nobody could write down that one is asked for; the next regular one is not waited for."""
    monkeypatch.setattr(sqlite, "BUSY_WAIT_S", 0.02)
    other = sqlite3.connect(rig.path / "jobs.db", isolation_level=None)
    upkeep = rig.upkeep()
    upkeep.step()
    lead = rig.rest_org.lead()
    rig.store.request_sweep("overflow")
    rig.client.before_sweep.append(lambda: other.execute("BEGIN IMMEDIATE"))
    for _ in range(2):
        with pytest.raises(StoreUnavailable):
            upkeep.step()
    other.execute("ROLLBACK")
    other.close()
    upkeep.step()

    assert [job.lead_id for job in rig.jobs()] == [lead]


def test_a_lead_taken_and_given_back_without_being_routed_is_found_again(rig: Rig):
    """B23, P44: its first sweep job ended because a person had it; giving it back makes it a new find."""
    lead = rig.rest_org.lead()
    upkeep = rig.upkeep()
    upkeep.step()
    rig.rest_org.update(lead, OwnerId=rig.rest_org.refs["bob"])
    rig.drain()
    rig.clock.advance(400)
    rig.rest_org.update(lead, OwnerId=rig.rest_org.queue("Lead_Intake"))
    upkeep.step()
    rig.drain()

    assert rig.outcomes() == ["skipped: already owned", "assigned"]
    assert rig.owner(lead) == "Ann"


def test_a_lead_given_back_before_its_job_ended_does_not_wait_for_the_next_regular_sweep(rig: Rig):
    """P44: routed by another router under the same key and given back, and no event tells of that.

    The sweep passes it over, as its job is open; the job finds that it has routed the lead, and asks for one more.
    """
    (lead,) = rig.leads(1)
    upkeep, other = rig.upkeep(), rig.open("other.db")
    rig.told(lead, store=other)
    rig.drain(rig.worker(store=other, name="other"))
    rig.clock.advance(60)
    rig.rest_org.update(lead, OwnerId=rig.rest_org.queue("Lead_Intake"))
    upkeep.step()
    for _ in range(3):
        rig.drain()
        upkeep.step()

    assert rig.outcomes() == ["skipped: already routed", "assigned"]
    assert (rig.owner(lead), rig.store.queue().sweep_requested) == ("Bob", None)


def test_a_slip_in_a_rule_keeps_the_former_configuration_in_force(rig: Rig):
    """E13: a malformed rule does not stop all routing; mended, it counts at the next reload."""
    upkeep = rig.upkeep()
    before = upkeep._current.get()
    rig.rest_org.update(rig.rest_org.refs["all"], Criteria__c="Country = ")
    rig.clock.advance(31)
    upkeep.step()
    kept = upkeep._current.get()
    rig.rest_org.update(rig.rest_org.refs["all"], Criteria__c="Country = 'France'")
    rig.clock.advance(31)
    upkeep.step()

    assert kept == before
    assert [rule.criteria for rule in upkeep._current.get().rules] == ["Country = 'France'"]


def test_old_done_jobs_are_forgotten_and_others_kept(rig: Rig):
    """F10: the job database does not grow without end."""
    rig.leads(2)
    rig.drain()
    upkeep = rig.upkeep(keep_done_s=5 * 86_400.0)
    rig.clock.advance(6 * 86_400.0)
    rig.leads(1)
    upkeep.step()

    assert [job.status for job in rig.jobs()] == ["queued"]


def test_what_is_old_is_forgotten_at_the_start_in_portions(rig: Rig, monkeypatch):
    """F10: a process that is started anew within each hour forgets too, and holds up no other writer for long."""
    monkeypatch.setattr(upkeep_loops, "FORGET_MAX", 2)
    monkeypatch.setattr(upkeep_loops, "UNREADABLE_MAX", 3)
    rig.leads(3)
    rig.drain()
    rig.store.record([], unreadable=[Unreadable("/data/LeadChangeEvent", bytes([one]), "?") for one in range(6)])
    rig.clock.advance(6 * 86_400.0)
    rig.leads(1)
    left = []
    for older_than_s in (7 * 86_400.0, 5 * 86_400.0):
        upkeep = rig.upkeep(keep_done_s=older_than_s)
        for _ in range(3):
            upkeep.step()
            left.append((len(rig.jobs()), rig.store.queue().quarantined))

    assert left == [(4, 4), (4, 3), (4, 3), (2, 1), (1, 0), (1, 0)]


def test_a_dead_job_s_lead_that_somebody_edited_is_found_again(rig: Rig):
    """The note on the lead is our own change and finds nothing; a person's edit may have mended the cause."""
    (lead,) = rig.leads(1)
    rig.forbid("ISCHANGED(OwnerId)", "Nobody moves")
    rig.drain()
    upkeep = rig.upkeep()
    upkeep.step()
    untouched = len(rig.jobs())
    rig.clock.advance(301)
    rig.allow()
    rig.rest_org.update(lead, Phone="+32 2 555 01 02")
    upkeep.step()
    rig.drain()

    assert (untouched, rig.owner(lead)) == (1, "Ann")


@pytest.mark.parametrize("ahead_s", [0.5, 240.0])
def test_an_edit_right_after_the_death_counts_though_the_clocks_differ(rig: Rig, ahead_s: float):
    """P44: it came after the note Failed, by whatever clock; found once, and not again while nobody else edits it."""
    rig.ahead_s = ahead_s
    (lead,) = rig.leads(1)
    rig.forbid("ISCHANGED(OwnerId)", "Nobody moves")
    rig.drain()
    rig.rest_org.update(lead, Phone="+32 2 555 01 02")
    upkeep = rig.upkeep()
    tries = []
    for _ in range(3):
        upkeep.step()
        rig.drain()
        tries.append(len(rig.jobs()))
        rig.clock.advance(301)
    rig.allow()
    rig.rest_org.update(lead, Phone="+32 2 555 01 03")
    upkeep.step()
    rig.drain()

    assert (tries, rig.owner(lead)) == ([2, 2, 2], "Ann")


def test_a_discarded_lead_is_left_to_people(rig: Rig):
    """Ended for good means that no sweep brings it again, also after the job's like are forgotten; an edit does."""
    (lead,) = rig.leads(1)
    rig.forbid("ISCHANGED(OwnerId)", "Nobody moves")
    rig.drain()
    rig.clock.advance(60)
    rig.store.discard(rig.jobs()[0].id, "a test lead")
    upkeep = rig.upkeep(keep_done_s=86_400.0)
    for _ in range(3):
        upkeep.step()
        rig.drain()
        rig.clock.advance(30 * 86_400.0)
    left = rig.outcomes()
    rig.allow()
    rig.rest_org.update(lead, Phone="+32 2 555 01 02")
    upkeep.step()
    rig.drain()

    assert left == ["discarded: a test lead"]
    assert (rig.outcomes(), rig.owner(lead)) == (["discarded: a test lead", "assigned"], "Ann")


def test_an_event_routes_a_discarded_lead(rig: Rig):
    """Whoever asks for its routing anew has it, whatever was discarded before."""
    (lead,) = rig.leads(1)
    rig.forbid("ISCHANGED(OwnerId)", "Nobody moves")
    rig.drain()
    rig.store.discard(rig.jobs()[0].id, "a test lead")
    rig.allow()
    key = change_key(rig.org.org_id, lead, "asked-again")
    rig.store.record([NewJob(key, lead, lead, {"event_at": rig.clock.now().isoformat()})])
    rig.drain()

    assert rig.owner(lead) == "Ann"


def test_held_jobs_are_asked_at_once_when_the_configuration_changed(rig: Rig):
    """Whoever adds the missing rule sees its leads routed, not a minute's silence."""
    rig.rest_org.update(rig.rest_org.refs["all"], Criteria__c="Country = 'Nowhere'")
    (lead,) = rig.leads(1)
    upkeep = rig.upkeep()
    upkeep.step()
    router = rig.worker()
    rig.drain(router)
    held = rig.store.queue().held
    rig.rest_org.update(rig.rest_org.refs["all"], Criteria__c=None)
    rig.clock.advance(31)
    upkeep.step()

    assert (held, rig.store.queue().due) == (1, 1)
    rig.drain(rig.worker())
    assert rig.owner(lead) == "Ann"
