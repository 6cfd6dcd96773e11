"""A field of Lead is deleted from the org, or its right is taken away, while a router runs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lead_router.loops.upkeep import Upkeep
from lead_router.loops.worker import Worker
from support.worker_rig import Rig


@pytest.fixture
def rig(tmp_path):
    made = Rig(tmp_path)
    yield made
    made.close()


def deleted(rig: Rig, name: str) -> None:
    known = rig.org.schema.objects["lead"]
    rig._replace(replace(known, fields={key: one for key, one in known.fields.items() if one.name != name}))
    rig.rest_org.world.views.clear()


def loops(rig: Rig) -> tuple[Worker, Upkeep]:
    worker = rig.worker()
    return worker, rig.upkeep(current=worker._current, breaker=rig.breaker)


def passes(rig: Rig, worker: Worker, upkeep: Upkeep, seconds: int) -> None:
    """The worker comes first to each breaker that opens."""
    for _ in range(seconds):
        worker.step()
        upkeep.step()
        rig.clock.advance(1)


def test_one_member_s_criteria_hold_up_no_other_s_leads(rig: Rig):
    """E13: whose criteria name the field gets none; what is read is told by the org as it is now."""
    rig.rest_org.update(rig.rest_org.refs["ann_emea"], Accepts__c="Industry = 'Banking'")
    worker, upkeep = loops(rig)
    passes(rig, worker, upkeep, 1)
    deleted(rig, "Industry")
    leads = rig.leads(3)
    passes(rig, worker, upkeep, 4)

    assert [rig.owner(lead) for lead in leads] == ["Bob"] * 3
    assert rig.breaker.why() is None


def test_a_mended_rule_is_read_although_the_former_one_keeps_the_breaker_open(rig: Rig):
    """E13: no lead is given out by other rules than the org's; as soon as they can be read all are."""
    rig.rest_org.update(rig.rest_org.refs["all"], Criteria__c="Industry != 'Banking'")
    worker, upkeep = loops(rig)
    rig.leads(2)
    passes(rig, worker, upkeep, 1)
    deleted(rig, "Industry")
    rig.leads(2)
    passes(rig, worker, upkeep, 200)
    before = rig.turns()
    rig.rest_org.update(rig.rest_org.refs["all"], Criteria__c=None)
    worker._current.outdate("change event of Routing_Rule__c")
    passes(rig, worker, upkeep, 4)

    assert (before, rig.turns()) == ([1, 2], [1, 2, 3, 4])


def test_an_org_that_is_away_is_not_asked_for_its_configuration_either(rig: Rig):
    """C8: the breaker spares it, whatever the configuration may have done before."""
    worker, upkeep = loops(rig)
    passes(rig, worker, upkeep, 1)
    rig.breaker.trip(600.0, why="limit")
    rig.breaker.trip(why="field", spares=False)
    used = rig.client.calls()
    worker._current.outdate("change event of Routing_Rule__c")
    passes(rig, worker, upkeep, 60)

    assert rig.client.calls() == used
