"""A completed activity may move its lead's SystemModstamp: nobody changed the lead by it, and no event tells of it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from lead_router.salesforce.activities import readable
from org_simulator.switches import Switches
from org_simulator.values import stamp
from support.office import Office
from support.worker_rig import Rig

READINGS = [
    replace(Switches(), activities_touch_leads=touches, unmodified_since_compares_system_modstamp=compares)
    for touches in (True, False)
    for compares in (True, False)
]


@pytest.fixture(params=READINGS, ids=["touches compared", "touches", "compared", "neither"])
def rig(request, tmp_path):
    made = Rig(tmp_path, switches=request.param)
    yield made
    made.close()


@pytest.fixture(params=READINGS, ids=["touches compared", "touches", "compared", "neither"])
def office(request, tmp_path):
    made = Office(tmp_path, switches=request.param)
    yield made
    made.close()


def completed(rig: Rig, lead: str) -> None:
    """Marketing logs a mail on the lead, as another user than the router."""
    rig.rest_org.insert("Task", WhoId=lead, Subject="Mail", Status="Completed", TaskSubtype="Email")


@pytest.mark.parametrize("discarded", [True, False])
def test_it_revives_no_dead_or_discarded_lead(rig: Rig, discarded: bool):
    """Not even where the note Failed was refused as well, so that a person is the last who changed the lead."""
    (lead,) = rig.leads(1)
    rig.forbid("ISBLANK(Title)", "Say who that is")
    rig.drain()
    if discarded:
        rig.store.discard(rig.jobs()[0].id, "a test lead")
    upkeep = rig.upkeep()
    for _ in range(3):
        rig.clock.advance(301)
        completed(rig, lead)
        upkeep.step()
        rig.drain()
    left = len(rig.jobs())
    rig.clock.advance(301)
    rig.rest_org.update(lead, Title="Buyer")
    upkeep.step()
    rig.drain()

    assert rig.shown(lead)[0] == "Assigned"
    assert (left, rig.owner(lead)) == (1, "Ann")


def test_it_is_no_proof_that_the_stream_is_silent(rig: Rig):
    """A lead that no event brought is judged by when somebody changed it, not by when the platform touched it."""
    lead = rig.rest_org.lead()
    rig.clock.advance(5)
    hold = rig.store.hold("/data/LeadChangeEvent", "one", lease_s=900.0)
    rig.store.keep(hold, subscribed=True)
    rig.clock.advance(120)
    completed(rig, lead)
    rig.clock.advance(120)
    with capture_logs() as logs:
        rig.upkeep(silent_after_s=60.0).step()

    assert [line["jobs"] for line in logs if line["event"] == "leads_swept"] == [1]
    assert "stream_silent" not in {line["event"] for line in logs}


def test_a_call_in_the_very_moment_of_the_move_keeps_the_lead_where_salesforce_shows_it(office: Office):
    """Between read and write; where it touches nothing that the write is conditioned on, it comes too late."""
    lead = office.given()
    office.passes(14)
    office.clock.advance(60)
    office.loop.step()
    office.client.before_write.append(lambda: office.logs_call(lead))
    office.drain()
    shown = office.switches.activities_touch_leads and office.switches.unmodified_since_compares_system_modstamp

    assert (office.owner(lead), len(office.ledger())) == (("Ann", 1) if shown else ("Bob", 2))


@pytest.mark.parametrize("shown", [True, False])
def test_the_doctor_tells_where_no_activity_of_others_can_be_seen(tmp_path, shown: bool):
    """Documents say that who may read a lead sees its activities; in an org where it is otherwise a warning comes."""
    office = Office(tmp_path, switches=replace(Switches(), others_activities_shown=shown))
    rest = office.rest_org.rest
    none = readable(rest)
    office.logs_call(office.given(), ActivityDate="2026-11-29")
    found = readable(rest)
    office.close()

    assert (none.ok, "none by others yet" in none.detail) == (True, True)
    assert (found.ok, found.warning) == ((True, False) if shown else (False, True))
    assert shown or "View All Data" in (found.remedy or "")


def test_it_moves_the_system_modstamp_and_nothing_else(rig: Rig):
    """As an event does; a planned task does not, before it is done."""
    lead = rig.rest_org.lead()
    before = rig.lead(lead)
    seen = []
    rig.org.listeners.append(seen.extend)
    rig.clock.advance(10)
    task = rig.rest_org.insert("Task", WhoId=lead, Subject="Call", Status="Not Started")
    planned = rig.lead(lead)
    rig.clock.advance(10)
    rig.rest_org.update(task, Status="Completed")
    done = rig.lead(lead)
    now = stamp(rig.clock.now(), whole_seconds=True)

    assert planned == before
    assert done == (before | {"SystemModstamp": now} if rig.switches.activities_touch_leads else before)
    assert {change.sobject for change in seen} == {"Task"}
