"""Leads whose jobs died unseen: a later sweep shows it on them, once, and only where nobody changed them."""

from __future__ import annotations

import pytest
from structlog.testing import capture_logs

from lead_router.loops.remarking import MARKED_MAX
from lead_router.loops.upkeep import Upkeep
from org_simulator.switches import Switches
from support.worker_rig import Rig

REFUSAL = "Nobody gives it out"


@pytest.fixture(params=[Switches(), Switches.pessimistic()], ids=["documented", "pessimistic"])
def rig(request, tmp_path):
    """A router and its org, under the documented and under the worst reading of Salesforce."""
    made = Rig(tmp_path, switches=request.param)
    yield made
    made.close()


def died_unseen(rig: Rig, count: int = 1, formula: str = "AND(NOT(ISNEW()), ISCHANGED(OwnerId))") -> list[str]:
    """Jobs that died as their router was killed, or cut off, before it showed it."""
    rig.forbid(formula, REFUSAL)
    leads = rig.leads(count)
    rig.clock.advance(60)
    plain, rig.client.mark = rig.client.mark, lambda _marks: {}
    while rig.store.queue().dead < count:
        rig.router.step()
        rig.clock.advance(1)
    rig.client.mark = plain
    return leads


def sweeps(rig: Rig, count: int, upkeep: Upkeep | None = None) -> Upkeep:
    upkeep = upkeep or rig.upkeep()
    for _ in range(count):
        rig.clock.advance(301)
        assert upkeep.step()
    return upkeep


def statuses(rig: Rig, leads: list[str]) -> set[str | None]:
    return {rig.lead(lead)["Routing_Status__c"] for lead in leads}


def test_a_lead_whose_router_was_killed_before_it_showed_failed_shows_it(rig: Rig):
    """P32: the first sweep leaves it to its router, the second one shows it, with the job's text, and no third."""
    (lead,) = died_unseen(rig)
    upkeep = sweeps(rig, 1)
    first = statuses(rig, [lead])
    sweeps(rig, 1, upkeep)
    row = rig.lead(lead)
    sweeps(rig, 2, upkeep)

    assert (first, row["Routing_Status__c"], rig.lead(lead)) == ({None}, "Failed", row)
    assert REFUSAL in row["Routing_Error__c"]
    assert rig.outcomes() == ["dead"]


def test_a_lead_whose_mark_got_lost_on_the_way_shows_it_later(rig: Rig):
    """P32: Salesforce was away just then; nobody would look at the lead again."""
    rig.forbid("AND(NOT(ISNEW()), ISCHANGED(OwnerId))", REFUSAL)
    (lead,) = rig.leads(1)
    rig.clock.advance(60)
    rig.rest_org.fault("unreachable", path="/composite", body="If-Unmodified-Since")
    rig.drain()
    first = statuses(rig, [lead])
    sweeps(rig, 2)

    assert (first, statuses(rig, [lead])) == ({None}, {"Failed"})


def test_a_lead_that_somebody_corrected_is_routed_instead(rig: Rig):
    """P32: between two sweeps; it never shows what is past."""
    (lead,) = died_unseen(rig)
    upkeep = sweeps(rig, 1)
    rig.allow()
    rig.rest_org.update(lead, Title="Corrected")
    sweeps(rig, 1, upkeep)
    rig.drain()

    assert (rig.owner(lead), statuses(rig, [lead])) == ("Ann", {"Assigned"})


def test_a_lead_that_refuses_the_note_as_well_is_asked_once(rig: Rig):
    """Whatever rule of the org's own it is, it costs no call with each sweep; the next process asks once more."""
    (lead,) = died_unseen(rig, formula="AND(NOT(ISNEW()), OR(ISCHANGED(OwnerId), ISCHANGED(Routing_Status__c)))")
    with capture_logs() as logs:
        sweeps(rig, 4)

    told = [line["error"] for line in logs if line["event"] == "lead_not_marked"]
    assert (statuses(rig, [lead]), len(told)) == ({None}, 1)
    assert REFUSAL in told[0]


@pytest.mark.parametrize("rig", [Switches()], ids=["documented"], indirect=True)
def test_very_many_are_shown_little_by_little(rig: Rig):
    """A burst that died at once takes eight calls of a sweep, and the next sweep those that are left."""
    leads = died_unseen(rig, MARKED_MAX + 5)
    upkeep = sweeps(rig, 2)
    shown = [lead for lead in leads if rig.lead(lead)["Routing_Status__c"] == "Failed"]
    sweeps(rig, 1, upkeep)

    assert (len(shown), statuses(rig, leads)) == (MARKED_MAX, {"Failed"})
