"""A group that only observes: nothing of the org changes, and what would have been done stands beside what was."""

from __future__ import annotations

from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from lead_router.app.explaining import explained_in
from lead_router.app.observing import report_in
from lead_router.app.wiring import Wired
from lead_router.cli.explaining import _account
from lead_router.cli.preview import _observed
from org_simulator.switches import Switches
from support.hearing import Life
from support.worker_rig import Rig


@pytest.fixture(params=[Switches(), Switches.pessimistic()], ids=["documented", "pessimistic"])
def rig(request, tmp_path):
    """Two reps in a group that observes."""
    made = Rig(tmp_path, switches=replace(request.param))
    made.rest_org.update(made.rest_org.refs["emea"], Mode__c="Observe")
    yield made
    made.close()


def wired(rig: Rig) -> Wired:
    return Wired(rig.rest_org.holder, rig.rest_org.rest, rig.client)


def thought(rig: Rig) -> dict[str, str | None]:
    """Whom each lead would have gone to, by last name."""
    people = {rig.rest_org.refs[name]: name for name in ("ann", "bob")}
    return {one.what.lead_id: people.get(one.what.owner_id or "") for one in rig.store.observations(limit=100)}


def test_observing_writes_nothing_to_lead_or_rotation(rig: Rig):
    """Owner, stamp, status, ledger and the group's rows are as they were."""
    watched = [rig.rest_org.refs[name] for name in ("emea", "ann_emea", "bob_emea")]
    lead = rig.rest_org.lead()
    before = [dict(rig.rest_org.row(one)) for one in (*watched, lead)]
    rig.told(lead)
    rig.drain()

    assert [dict(rig.rest_org.row(one)) for one in (*watched, lead)] == before
    assert (rig.ledger(), thought(rig)) == ([], {lead: "ann"})
    assert (rig.jobs()[0].next_run_at - rig.clock.now()).total_seconds() == 900


def test_the_rotation_that_would_have_been_goes_on(rig: Rig):
    """Leads that come one by one would go in turn, although the org's rotation stands still."""
    leads = []
    for _ in range(4):
        leads += rig.leads(1)
        rig.drain()

    assert thought(rig) == dict(zip(leads, ("ann", "bob", "ann", "bob"), strict=True))


def test_a_lead_looked_at_again_takes_no_second_turn(rig: Rig):
    """Every quarter of an hour it is asked whether somebody owns it: what was thought of it stands."""
    first = rig.leads(3)
    rig.drain()
    rig.clock.advance(901)
    second = rig.leads(1)
    rig.drain()

    assert thought(rig) == dict(zip(first + second, ("ann", "bob", "ann", "bob"), strict=True))


def test_once_somebody_owns_the_lead_the_job_is_done_as_observed(rig: Rig):
    """The other leads are looked at further on; the log does not call skipped what the report counts as observed."""
    leads = rig.leads(2)
    rig.drain()
    rig.rest_org.update(leads[0], OwnerId=rig.rest_org.refs["bob"])
    rig.clock.advance(901)
    with capture_logs() as lines:
        rig.drain()

    assert rig.outcomes() == ["observed", "queued"]
    assert [(line["event"], line["lead"]) for line in lines if "lead" in line] == [("lead_observed", leads[0])]


def test_a_group_that_goes_live_routes_what_it_observed(rig: Rig):
    """The rotation of the org starts where it stands, with the oldest lead."""
    leads = rig.leads(3)
    upkeep = rig.upkeep()
    upkeep.step()
    rig.drain()
    rig.rest_org.update(rig.rest_org.refs["emea"], Mode__c="Live")
    rig.clock.advance(31)
    upkeep.step()
    rig.drain(rig.worker())

    assert [rig.owner(lead) for lead in leads] == ["Ann", "Bob", "Ann"]
    assert (rig.turns(), rig.outcomes()) == ([1, 2, 3], ["assigned"] * 3)


def test_once_live_what_was_observed_goes_before_what_is_newer(rig: Rig):
    """The newer lead is asked first, before any reload, and the one place left of the day is the older lead's."""
    refs = rig.rest_org.refs
    rig.rest_org.update(refs["ann_emea"], Daily_Cap__c=1)
    rig.rest_org.update(refs["bob_emea"], Active__c=False)
    (older,) = rig.leads(1)
    router = rig.worker()
    rig.drain(router)
    rig.rest_org.update(refs["emea"], Mode__c="Live")
    rig.clock.advance(5)
    (newer,) = rig.leads(1)
    for _ in range(3):
        rig.drain(router)
        rig.clock.advance(6)

    assert (rig.owner(older), rig.owner(newer)) == ("Ann", "Lead_Intake")
    assert rig.lead(newer)["Routing_Status__c"] == "Held"


def test_what_is_observed_holds_nobody_up(rig: Rig):
    """Neither in its own group, whose newer leads are observed too, nor in the live group behind it."""
    org = rig.rest_org
    user = org.insert("User", Username="cat@sim.example", LastName="Cat")
    asia = org.insert("Round_Robin_Group__c", Name="Asia", Key__c="asia", Mode__c="Live", Epoch__c=1)
    org.insert("Round_Robin_Member__c", Group__c=asia, User__c=user, Sort_Order__c=1)
    org.insert(
        "Routing_Rule__c",
        Name="Japan",
        Precedence__c=1,
        Active__c=True,
        Criteria__c="Country = 'Japan'",
        Target_Group__c=asia,
    )
    org.update(org.refs["emea"], Fallback_Group__c=asia)
    router = rig.worker()
    (older,) = rig.leads(1)
    rig.drain(router)
    rig.clock.advance(5)
    (newer,) = rig.leads(1)
    (other,) = rig.leads(1, Country="Japan")
    rig.drain(router)

    assert thought(rig) == {older: "ann", newer: "bob"}
    assert rig.owner(other) == "Cat"


def test_leads_that_nobody_could_have_had_are_noted_so(rig: Rig):
    """When somebody is back, what would have been done then counts."""
    for rep in ("ann", "bob"):
        rig.rest_org.update(rig.rest_org.refs[f"{rep}_emea"], Active__c=False)
    (lead,) = rig.leads(1)
    rig.drain()
    nobody = thought(rig)
    rig.rest_org.update(rig.rest_org.refs["bob_emea"], Active__c=True)
    rig.clock.advance(901)
    rig.drain()

    assert (nobody, thought(rig)) == ({lead: None}, {lead: "bob"})


def test_the_report_compares_with_what_really_happened(rig: Rig):
    """Agreement, shares and time, of leads that people gave out by hand meanwhile."""
    refs = rig.rest_org.refs
    leads = rig.leads(4)
    rig.clock.advance(10)
    rig.drain()
    for lead, owner in zip(leads, ("ann", "ann", "ann"), strict=False):
        rig.rest_org.update(lead, OwnerId=refs[owner])
    rig.clock.advance(901)
    rig.drain()
    (report,) = report_in(rig.store, wired(rig))

    assert (report.group, report.leads, report.agreed, report.differed) == ("emea", 4, 2, 1)
    assert (report.held, report.unowned, report.gone) == (0, 1, 0)
    assert report.agreement == pytest.approx(2 / 3)
    assert [(rep.owner, rep.would, rep.got) for rep in report.reps] == [("Ann", 2, 3), ("Bob", 1, 0)]
    assert report.decided_s == pytest.approx(10, abs=1)
    assert report.owned_s == pytest.approx(911, abs=2)


def test_what_this_router_gave_out_itself_is_no_agreement(rig: Rig):
    """Once the group is live its own turns would agree with it for ever: they are counted apart."""
    refs = rig.rest_org.refs
    rig.rest_org.update(refs["emea"], Count_Manual__c=True)
    taken, *others = rig.leads(3)
    rig.drain()
    rig.rest_org.update(taken, OwnerId=refs["bob"])
    rig.rest_org.update(refs["emea"], Mode__c="Live")
    rig.clock.advance(901)
    rig.drain(rig.worker())
    (report,) = report_in(rig.store, wired(rig))
    outcomes = sorted(row["Outcome__c"] for row in rig.ledger())

    assert outcomes == ["Assigned", "Assigned", "Manual"]
    assert (report.leads, report.routed, report.agreed, report.differed) == (3, 2, 0, 1)
    assert [(rep.owner, rep.would, rep.got) for rep in report.reps] == [("Ann", 1, 0), ("Bob", 0, 1)]
    assert "left out: 2 that this router gave out itself after it had observed them" in _observed(report)
    assert [rig.owner(lead) for lead in others] == ["Ann", "Bob"]


def test_a_round_before_the_observation_is_not_what_came_of_it(rig: Rig):
    """A lead that was routed, returned and then observed: whoever has it now is compared."""
    refs = rig.rest_org.refs
    rig.rest_org.update(refs["emea"], Mode__c="Live")
    life = Life(rig)
    lead = rig.rest_org.lead()
    life.goes_on()
    rig.rest_org.update(refs["emea"], Mode__c="Observe")
    rig.clock.advance(60)
    rig.rest_org.update(lead, OwnerId=rig.rest_org.queue("Lead_Intake"))
    life.goes_on()
    rig.rest_org.update(lead, OwnerId=refs["bob"])
    (report,) = report_in(rig.store, wired(rig))

    assert (thought(rig), report.routed, report.agreed) == ({lead: "bob"}, 0, 1)


def test_an_explanation_tells_what_was_observed(rig: Rig):
    """Whom the lead would have gone to, when, and why; or that nobody could have had it."""
    (lead,) = rig.leads(1)
    rig.drain()
    at = f"{rig.clock.now():%Y-%m-%d %H:%M:%SZ}"
    for rep in ("ann", "bob"):
        rig.rest_org.update(rig.rest_org.refs[f"{rep}_emea"], Active__c=False)
    (other,) = rig.leads(1, Email="other@x.example")
    rig.drain()
    shown, none = (
        _account(explained_in(wired(rig), one, at=None, store=rig.store)).splitlines() for one in (lead, other)
    )

    assert shown[2:4] == [
        f"observed at {at} by group 'emea': would have gone to Ann ({rig.rest_org.refs['ann']})",
        "  Rule 'All' chose group 'emea'; turn 1 went to Ann.",
    ]
    assert none[2] == f"observed at {at} by group 'emea': nobody could have had it"


def test_a_report_of_nothing_is_empty(rig: Rig):
    """Before the first lead came."""
    assert report_in(rig.store, wired(rig)) == ()


def test_a_report_names_people_and_groups_as_they_are_called_now(rig: Rig):
    """Who got a lead by hand need be no member; a group whose key was changed is one group."""
    org = rig.rest_org
    cem = org.insert("User", Username="cem@sim.example", LastName="Cem")
    (lead,) = rig.leads(1)
    rig.drain()
    org.update(lead, OwnerId=cem)
    org.update(org.refs["emea"], Key__c="europe")
    (report,) = report_in(rig.store, wired(rig))

    assert (report.group, [(rep.owner_id, rep.owner) for rep in report.reps]) == (
        "europe",
        [(org.refs["ann"], "Ann"), (cem, "Cem")],
    )
