"""A plan of a whole company's leads gives each its owner of the real run from the same state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest

from lead_router.app.planning import plan_in
from lead_router.app.wiring import Wired
from org_simulator.wire import scenario
from support import planned
from support.worker_rig import Rig

BEFORE = 450  # leads that have been routed when the plan is made
LEADS = 1_000
EVERY_S = 0.25
STEPS_MAX = 100


@pytest.fixture
def rig(tmp_path):
    rig = Rig(tmp_path)
    yield rig
    rig.close()


def test_a_plan_gives_a_companys_leads_what_the_real_run_gives_them(rig):
    """1,000 leads by 29 rules in eight groups: lead by lead the same owner, rule, group and turn, or none as yet."""
    org, leads = rig.rest_org, planned.leads(LEADS)
    scenario.load(org.org, planned.scenario(LEADS, rig.clock.now()))
    made = [_come(rig, fields) for fields in leads[:BEFORE]]
    _route(rig)
    made += [_come(rig, fields) for fields in leads[BEFORE:]]
    before = {lead_id: org.row(lead_id)["OwnerId"] for lead_id in made}
    routed = {row["Lead__c"] for row in rig.ledger()}
    told = plan_in(Wired(org.holder, org.rest, rig.client), csv=None, soql="", at=None).leads

    _route(rig)
    given = [one for one in told if one.decision in {"assign", "follow"}]
    assert before | {one.lead: one.owner_id for one in given} == {
        lead_id: org.row(lead_id)["OwnerId"] for lead_id in made
    }
    keys = {row["Id"]: row["Key__c"] for row in org.rows("Round_Robin_Group__c")}
    assert {one.lead: (one.rule, one.group, one.turn) for one in given} == {
        row["Lead__c"]: (row["Rule__c"], keys.get(row["Group__c"]), row["Turn__c"])
        for row in rig.ledger()
        if row["Lead__c"] not in routed
    }
    assert Counter(one.decision for one in told).keys() == {"assign", "follow", "hold", "observe", "skip"}


def _come(rig: Rig, fields: Mapping[str, Any]) -> str:
    rig.clock.advance(EVERY_S)
    return rig.rest_org.lead(**fields)


def _route(rig: Rig) -> None:
    """A sweep, and the worker until nothing is due."""
    rig.store.request_sweep("new leads")
    rig.upkeep().step()
    rig.drain(rig.worker(), steps=STEPS_MAX)
