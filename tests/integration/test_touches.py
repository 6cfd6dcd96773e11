"""What the command line tells of first touches: of one lead, of all, and of what the router's user may not see."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from lead_router import app
from lead_router.app.explaining import explained_in
from lead_router.app.touching import Times, percentile, touches_in
from lead_router.app.wiring import Wired
from lead_router.cli.explaining import _account, _plain
from lead_router.cli.show import as_json
from lead_router.cli.touching import _told
from lead_router.loops.firsttouch import LAPSES_S
from lead_router.salesforce.activities import readable
from org_simulator.switches import Switches
from support.office import Office


@pytest.fixture
def office(tmp_path):
    made = Office(tmp_path, switches=Switches.pessimistic())
    yield made
    made.close()


def wired(office: Office) -> Wired:
    return Wired(office.rest_org.holder, office.rest_org.rest, office.client)


def report(office: Office) -> app.TouchReport:
    return touches_in(wired(office), office.store, since=office.clock.now() - timedelta(days=7))


def test_the_report_tells_how_long_leads_wait_and_what_the_clock_did(office: Office):
    """One lead is touched after five minutes, one goes round to the manager, one is still young."""
    (touched, lying) = office.leads(2)
    office.clock.advance(20)
    office.drain()
    office.clock.advance(280)
    office.logs_call(touched)
    office.passes(70)
    young = office.given()
    (every, emea) = report(office).groups

    assert every == app.GroupTouches(
        group=None,
        leads=3,
        owned=Times(3, 20.0, 20.0),
        touched=Times(1, 300.0, 300.0),
        rerouted=2,
        to_manager=1,
        reminded=3,
        would_remind=0,
        would_reroute=0,
    )
    assert (emea.group, emea.leads, office.owner(lying), office.owner(young) != "Mia") == ("emea", 3, "Mia", True)


def test_the_report_is_read_by_people_and_by_machines(office: Office):
    office.given()
    found = report(office)
    text, machine = _told(found), json.loads(as_json(found))

    assert text.splitlines()[1].split() == (
        [
            "group",
            "leads",
            "owner",
            "p50",
            "owner",
            "p95",
            "touched",
            "touch",
            "p50",
            "touch",
            "p95",
            "reminded",
            "re-routed",
            "to",
            "manager",
        ]
    )
    assert [one["group"] for one in machine["groups"]] == [None, "emea"]
    assert (machine["fault"], machine["blind"]) == (None, False)


def test_the_report_says_what_it_cannot_know(office: Office):
    """Without the job database no reminders, without the right no touches."""
    office.given()
    _blinded(office)
    found = touches_in(wired(office), None, since=office.clock.now() - timedelta(days=7), fault="no job database")

    assert (found.groups[0].reminded, found.blind) == (None, True)
    assert "reminders are not known: no job database" in _told(found)
    assert "assign the permission set Lead_Router_Activities" in _told(found)


def test_a_lead_is_told_when_it_is_due(office: Office):
    """Before, after it was touched, and in machine's words."""
    lead = office.given()
    before = explained_in(wired(office), lead, at=None)
    office.clock.advance(8 * 60)
    office.logs_call(lead)
    after = explained_in(wired(office), lead, at=None)

    assert "first touch due at 2026-11-29 20:15:00Z, 15 minutes from 2026-11-29 20:00:00Z, a reminder" in _account(
        before
    )
    assert "no first-touch clock runs: touched: there is an activity" in _account(after)
    assert _plain(before)["first_touch"] == before.first_touch


def test_a_lead_of_before_the_clock_is_told_to_be_left_alone(office: Office):
    """The job database knows since when a group's leads are looked after; without it the times stand as they are."""
    office.clock.advance(60)
    lead = office.given()
    office.clock.advance(LAPSES_S + 60)
    office.loop.step()
    told = explained_in(wired(office), lead, at=None, store=office.store)

    assert told.first_touch == (
        "no first-touch clock runs: it was given out before that of group 'emea' began, 2026-12-02 20:02:00Z"
    )
    assert str(explained_in(wired(office), lead, at=None).first_touch).startswith("first touch was due")


def test_the_doctor_says_whether_activities_can_be_read(office: Office):
    before = readable(office.rest_org.rest)
    _blinded(office)
    after = readable(office.rest_org.rest)

    assert (before.ok, after.ok, after.warning) == (True, False, True)
    assert "Lead_Router_Activities" in after.remedy


def _blinded(office: Office) -> None:
    """The admin takes the right away again."""
    rows = office.rest_org.rows("PermissionSetAssignment")
    sets = {row["Id"] for row in office.rest_org.rows("PermissionSet") if row["Name"] == "Lead_Router_Activities"}
    (given,) = (row["Id"] for row in rows if row["PermissionSetId"] in sets)
    office.rest_org.delete(given)


@pytest.mark.parametrize(("share", "expected"), [(0.5, 2.0), (0.95, 4.0), (0.0, 1.0)])
def test_a_percentile_is_one_of_the_values(share: float, expected: float):
    assert (percentile([1.0, 2.0, 3.0, 4.0], share), percentile([], share)) == (expected, None)
