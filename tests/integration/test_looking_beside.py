"""Explanations and plans see what waits in the job store, as the router does, and what is left of leads once gone."""

from __future__ import annotations

import pytest

from lead_router.app.explaining import explained_in
from lead_router.app.planning import plan_in
from lead_router.app.wiring import Wired
from lead_router.cli.explaining import _account, _left, _left_plain
from lead_router.core.ids import to18
from lead_router.core.model import Assign
from lead_router.errors import Misconfigured
from lead_router.ports import NewJob
from support.hearing import Life
from support.worker_rig import Rig


@pytest.fixture
def rig(tmp_path):
    made = Rig(tmp_path)
    yield made
    made.close()


def wired(rig: Rig) -> Wired:
    return Wired(rig.rest_org.holder, rig.rest_org.rest, rig.client)


def told(rig: Rig, lead: str, **named):
    return explained_in(wired(rig), lead, at=rig.clock.now(), store=rig.store, **named)


def planned(rig: Rig, soql: str, **named):
    return plan_in(wired(rig), csv=None, soql=soql, at=rig.clock.now(), **named)


def two_of_a_form(rig: Rig) -> tuple[str, str]:
    """A first lead held for a group that is off, and a second one, to be given to Ann or Bob, that waits for it."""
    org = rig.rest_org
    asia = org.insert("Round_Robin_Group__c", Name="Asia", Key__c="asia", Mode__c="Off", Epoch__c=1)
    org.insert("Routing_Rule__c", Name="Japan", Precedence__c=1, Criteria__c="Country = 'Japan'", Target_Group__c=asia)
    router = rig.worker()
    (first,) = rig.leads(1, Email="ann@x.example", Country="Japan")
    rig.drain(router)
    rig.clock.advance(5)
    (second,) = rig.leads(1, Email="ann@x.example")
    rig.drain(router)
    return first, second


def test_a_second_lead_is_explained_as_the_router_decides(rig: Rig):
    """It waits for the first, which no batch but the job store knows; and no longer than the router has it wait."""
    first, second = two_of_a_form(rig)
    reason = f"waits for lead {first} of the same submission, which has no owner yet"
    waits = told(rig, second)
    (job,) = [job for job in rig.jobs() if job.lead_id == second]
    rig.clock.advance(600)

    assert (waits.account.decision.reason, job.last_error) == (reason, f"held: {reason}")
    assert isinstance(told(rig, second).account.decision, Assign)
    assert f"Lead {first} of the same submission got no owner in 600 s." in _account(told(rig, second))


def test_a_second_lead_alone_is_planned_as_the_router_decides(rig: Rig):
    """The first is in no batch; where there is no job store, the plan says that such leads are not known."""
    first, second = two_of_a_form(rig)
    seen = planned(rig, f"Id = '{second}'", jobs=rig.store)
    blind = planned(rig, f"Id = '{second}'", jobs="no job database at ./jobs.db")

    assert [(one.decision, one.reason) for one in seen.leads] == [
        ("hold", f"waits for lead {first} of the same submission, which has no owner yet")
    ]
    assert ([one.decision for one in blind.leads], seen.warnings) == (["assign"], ())
    assert blind.warnings == (
        "older leads of a submission that wait and are not in this batch are not known: no job database at ./jobs.db",
    )


def test_who_is_first_is_as_the_jobs_have_it(rig: Rig):
    """The events came late, and a lead's date of creation is older than the other's event: the jobs' order stands."""
    org = rig.rest_org
    org.update(org.refs["emea"], Mode__c="Off")
    first, second = (org.lead("ann@x.example") for _ in range(2))
    for lead in (first, second):
        rig.clock.advance(5)
        rig.told(lead)
        rig.drain()
    reason = f"waits for lead {first} of the same submission, which has no owner yet"

    assert told(rig, second).account.decision.reason == reason
    assert [one.reason for one in planned(rig, f"Id = '{second}'", jobs=rig.store).leads] == [reason]
    assert told(rig, first).account.decision.reason == "group 'emea' is off"


def test_a_newer_lead_is_explained_as_behind_an_older_one_that_waits_for_members(rig: Rig):
    """The member that is back goes to who waited longest, and the newer lead's account says so."""
    org = rig.rest_org
    for name in ("ann_emea", "bob_emea"):
        org.update(org.refs[name], Accepts__c="Company = 'Nobody'")
    rig.leads(1, Company="Old")
    rig.drain()
    rig.clock.advance(5)
    org.update(org.refs["ann_emea"], Accepts__c=None)
    newer = org.lead("new@x.example")

    assert told(rig, newer).account.decision.reason == "waits behind an older lead that Ann of group 'emea' could take"
    assert [one.decision for one in planned(rig, f"Id = '{newer}'", jobs=rig.store).leads] == ["assign"]


def test_a_deleted_lead_is_told_with_its_rounds_and_jobs(rig: Rig):
    """Its ledger row has lost the lead, and names it by its key still."""
    life = Life(rig)
    lead = rig.rest_org.lead("ann@x.example")
    life.goes_on()
    rig.rest_org.delete(lead)
    life.goes_on()
    gone = told(rig, lead[:15])
    shown = _left(gone)

    assert shown.startswith(f"lead {lead} was deleted\n")
    assert (
        f"assigned to Ann ({rig.rest_org.refs['ann']})\n  Rule 'All' chose group 'emea'; turn 1 went to Ann." in shown
    )
    assert shown.endswith(": assigned")
    assert (_left_plain(gone)["fate"], _left_plain(gone)["history"][0]["owner"]) == ("was deleted", "Ann")


def test_a_merged_lead_names_the_one_that_it_was_merged_into(rig: Rig):
    """Neither routed nor asked for: its fate is what there is to say."""
    winner, loser = (rig.rest_org.lead(f"{name}@x.example") for name in ("winner", "loser"))
    rig.org.merge_leads(winner, loser)

    assert _left(told(rig, loser)) == f"lead {loser} was merged into {winner}\n\njobs: none is known of this lead"


def test_a_lead_of_which_only_its_job_is_left_is_told_so(rig: Rig):
    """Out of the recycle bin, too, or out of this user's sight; one that nothing knows of is an error."""
    lead = to18("00Q000000000999")
    rig.store.record([NewJob("once", lead, lead, {})])

    assert _left(told(rig, lead)).startswith(f"lead {lead} is not there any more, or this user cannot see it\n\njob 1 ")
    with pytest.raises(Misconfigured, match="there is no lead 00Q000000000998"):
        told(rig, "00Q000000000998")
