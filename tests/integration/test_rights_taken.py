"""A right taken from the router's user while leads come, and given back: nobody has to wake a dead job by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lead_router.salesforce.names import Permissions
from support.worker_rig import Rig

SET = Permissions.INTEGRATION_SET


@pytest.fixture
def rig(tmp_path):
    made = Rig(tmp_path)
    yield made
    made.close()


def allow(rig, found):
    rig.org.schema.permission_sets[SET] = found
    rig.rest_org.world.views.clear()


@pytest.mark.parametrize("sobject", ["Round_Robin_Group__c", "Round_Robin_Member__c", "Lead_Assignment__c"])
def test_leads_wait_for_the_right_to_write_and_are_then_routed_in_turn(rig: Rig, sobject):
    """Each is shown as held, with what is missing; once the right is back, all go out within a minute, none is dead."""
    shipped = rig.org.schema.permission_sets[SET]
    rights = replace(shipped.objects[sobject.lower()], create=False, edit=False)
    allow(rig, replace(shipped, objects={**shipped.objects, sobject.lower(): rights}))
    leads = rig.leads(4)
    rig.drain()
    status, told = rig.shown(leads[0])
    allow(rig, shipped)
    rig.clock.advance(61)
    rig.drain()

    assert (status, SET in told) == ("Held", True)
    assert [rig.owner(lead) for lead in leads] == ["Ann", "Bob", "Ann", "Bob"]
    assert (rig.turns(), rig.outcomes()) == ([1, 2, 3, 4], ["assigned"] * 4)
