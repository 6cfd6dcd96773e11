"""What a router keeps in memory does not grow with the leads it has seen."""

from __future__ import annotations

import itertools
import random
from types import SimpleNamespace

from lead_router.loops.current import Current
from lead_router.loops.intake import Intake
from lead_router.salesforce.cometd import CometdSource
from lead_router.salesforce.gateway import SalesforceOrg
from org_simulator.clock import SystemClock
from org_simulator.cometd import protocol
from support.cometd_rig import CHANNEL, QUICK
from support.lead_events import created, header
from support.reach import reached
from support.served import served
from support.stream_org import INTEGRATION, StreamOrg
from support.worker_rig import Rig

TOGETHER = 1_000
EVENTS = 10_000
NEW_EVERY = 20
LEADS, ROUNDS = 60, 3
SLACK = 25  # objects: far fewer than leads


def told(number: int, queue: str) -> dict:
    """The payload of a change of the n-th lead: one in twenty was created, of the others a person changed the owner."""
    if number % NEW_EVERY == 0:
        return created(number) | {"OwnerId": queue}
    return {"ChangeEventHeader": header(number, changeType="UPDATE"), "OwnerId": INTEGRATION, "Rating": "Hot"}


def test_an_intake_keeps_nothing_of_the_leads_it_has_heard_of(tmp_path, monkeypatch):
    """F10: events of 10,000 leads, each under a schema of its own; what is known of them is in the database alone."""
    schemas = itertools.count()
    monkeypatch.setattr(protocol, "schema_id", lambda _channel: str(next(schemas)))
    org, rig = StreamOrg(clock=SystemClock()), Rig(tmp_path)
    numbers, queue = iter(range(EVENTS)), rig.rest_org.queue("Lead_Intake")
    kept = []
    with served(org) as url:
        token = SimpleNamespace(access_token=org.sessions.issue(INTEGRATION), instance_url=url)
        source = CometdSource(
            channel=CHANNEL, token=lambda _: token, load_position=lambda: None, dice=random.Random(1), limits=QUICK
        )
        intake = Intake(
            source,
            rig.store,
            Current(rig.client.configuration()),
            channel=CHANNEL,
            org_id=rig.org.org_id,
            own=lambda _: False,
            wait_s=1.0,
            wake=lambda: None,
        )
        for so_far in range(TOGETHER, EVENTS + 1, TOGETHER):
            for number in itertools.islice(numbers, TOGETHER):
                org.log._append(CHANNEL, org.clock.now(), told(number, queue))
            org.log.wake()
            while intake.heard < so_far:
                intake.step()
            org.log.expire(keep=TOGETHER)
            kept.append(reached(intake))
        intake.close()
    jobs = rig.store.queue().queued
    rig.close()

    assert jobs == EVENTS // NEW_EVERY
    assert max(kept[1:]) <= kept[0] + SLACK


def test_a_worker_and_an_upkeep_keep_nothing_of_the_leads_they_have_routed(tmp_path):
    """F10: breakers, unfit owners, sweeps and batches are of the present alone."""
    rig = Rig(tmp_path)
    _, rest, _ = rig.rest_org.connect()
    client = SalesforceOrg(rest, rig.intake, now=rig.clock.now)
    current = Current(client.configuration())
    worker, upkeep = rig.worker(client), rig.upkeep(current=current, keep_done_s=60.0)
    kept = []
    for _ in range(1 + ROUNDS):
        rig.leads(LEADS)
        missed = [rig.rest_org.lead() for _ in range(LEADS // 3)]
        rig.clock.advance(3_601)
        upkeep.step()
        rig.drain(worker)
        assert {rig.owner(lead) for lead in missed} == {"Ann", "Bob"}
        kept.append(reached(worker, upkeep))
    rig.clock.advance(3_601)
    upkeep.step()
    jobs = rig.jobs()
    rig.close()

    assert (jobs, len(rig.turns())) == ([], (1 + ROUNDS) * (LEADS + LEADS // 3))
    assert max(kept[1:]) <= kept[0] + SLACK
