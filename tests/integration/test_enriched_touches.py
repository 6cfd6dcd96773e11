"""The first-touch clock beside enrichment, whose late writes become the last change of leads that reps work on."""

from __future__ import annotations

import pytest

from lead_router.app.explaining import explained_in
from lead_router.app.hops import Hops
from lead_router.app.wiring import Wired
from lead_router.core.model import ALL_LIVE
from lead_router.loops.firsttouch import FirstTouch
from lead_router.salesforce.configuration import Intake
from lead_router.salesforce.names import Permissions
from support.hop_rig import HopRig
from support.provider import provider

MINUTE_S = 60


@pytest.fixture
def outside():
    with provider() as made:
        made.answer = {"company": {"industry": "Steel"}}
        yield made


@pytest.fixture
def hops(tmp_path, outside):
    """A quarter of an hour for each lead, and a provider."""
    made = HopRig(tmp_path, outside)
    org = made.rig.rest_org
    org.assign(Permissions.ACTIVITIES_SET)
    org.update(org.refs["emea"], Accept_Within__c=15)
    made._connected(Intake(enrichment=made.asking, rollout=ALL_LIVE))
    made.restarted()
    made.clocked = FirstTouch(
        made.rig.connect(),
        made.rig.open(),
        made.current,
        org_id=made.rig.org.org_id,
        now=made.clock.now,
        monotonic=made.clock.monotonic,
        every_s=30.0,
        wake=lambda: None,
    )
    made.clocked.step()
    made.clock.advance(1)
    yield made
    made.clocked.close()
    made.close()


def passes(hops, minutes):
    for _ in range(minutes):
        hops.play(MINUTE_S, step_s=15)
        hops.clocked.step()
        hops.turn()


def edits(hops, lead, **fields):
    """Its owner changes the lead, as a rep who works on it does."""
    with hops.rig.org.transaction(hops.lead(lead)["OwnerId"], auto_assign=False) as opened:
        opened.update("Lead", lead, fields)


@pytest.mark.parametrize("touches", [True, False])
def test_what_is_enriched_after_its_owner_changed_it_stays_with_its_owner(hops, outside, touches):
    """The provider comes back minutes later, and the router's write is then the last; a lead that lies moves on."""
    outside.mode = "500"
    (lead,) = hops.leads(1)
    passes(hops, 2)
    owner = hops.rig.owner(lead)
    if touches:
        edits(hops, lead, Phone="+32 2 555 01 02")
    outside.mode = "ok"
    passes(hops, 8)
    enriched = hops.lead(lead)["Industry"]
    org = hops.rig.rest_org
    wired = Wired(org.holder, org.rest, org.client, Hops())
    told = explained_in(wired, lead, at=hops.clock.now(), store=hops.rig.store).first_touch or ""
    passes(hops, 20)

    assert (enriched, hops.lead(lead)["LastModifiedById"]) == ("Steel", hops.rig.org.integration_user_id)
    assert (hops.rig.owner(lead) == owner) is touches
    assert ("its owner changed it" in told) is touches
