"""An org whose own automation takes each owner back in the very transaction that gives it."""

from __future__ import annotations

import pytest

from lead_router.loops.capping import REROUTES_MAX
from org_simulator.apex.automation import Automation
from org_simulator.apex.program import load_texts
from support.apex import need_parser
from support.hearing import Life
from support.worker_rig import Rig

pytestmark = pytest.mark.apex

BEFORE = """trigger Keeper on Lead (before update) {
    for (Lead one : Trigger.new) {
        one.OwnerId = Trigger.oldMap.get(one.Id).OwnerId;
    }
}"""
AFTER = """trigger Keeper on Lead (after update) {
    List<Lead> back = new List<Lead>();
    for (Lead one : Trigger.new) {
        Id before = Trigger.oldMap.get(one.Id).OwnerId;
        if (one.OwnerId != before && String.valueOf(before).startsWith('00G')) {
            back.add(new Lead(Id = one.Id, OwnerId = before));
        }
    }
    update back;
}"""


@pytest.mark.parametrize("trigger", [BEFORE, AFTER], ids=["before update", "after update"])
def test_a_lead_that_is_taken_back_within_the_commit_is_held_and_not_fought(tmp_path, trigger):
    """P61: after a few rounds an hour the router stops, and the lead says that somebody returns it."""
    parser = need_parser()
    rig = Rig(tmp_path)
    rig.org.automation = Automation(rig.org, load_texts({"Keeper.trigger": trigger}, rig.org.schema, parser))
    life, upkeep = Life(rig), rig.upkeep()
    lead = rig.rest_org.lead()
    for _ in range(REROUTES_MAX + 5):
        life.goes_on()
        upkeep.step()
        rig.drain(life.router)
        rig.clock.advance(301)

    rounds = [row["Round__c"] for row in rig.ledger()]
    seen = rig.lead(lead)
    assert rounds == list(range(1, REROUTES_MAX + 2))
    assert (rig.owner(lead), seen["Routing_Status__c"]) == ("Lead_Intake", "Held")
    assert seen["Routing_Error__c"].startswith(f"was routed anew {REROUTES_MAX} times within an hour")
    rig.close()
