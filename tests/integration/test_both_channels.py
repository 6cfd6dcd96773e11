"""Change events and routing requests of the same leads, heard at once: two channels, one turn each."""

from __future__ import annotations

import random
from contextlib import closing
from functools import partial
from itertools import cycle
from types import SimpleNamespace

import pytest

from lead_router.loops.current import Current
from lead_router.loops.intake import Intake
from lead_router.salesforce.changes import own_change
from lead_router.salesforce.cometd import CometdSource
from lead_router.salesforce.pubsub import PubSubSource, position_name
from support.cometd_rig import QUICK
from support.pubsub_rig import BRISK
from support.pubsub_served import pubsub_served
from support.served import served
from support.worker_rig import Rig

CHANGES, REQUESTS = "/data/LeadChangeEvent", "/event/Lead_Routing_Requested__e"
LEADS = 12
STEPS = 400


def hearing(rig, channel, store, *, cometd=None, pubsub=None):
    """The production intake of one channel, over whichever protocol has an address."""
    token = SimpleNamespace(
        access_token=rig.org.sessions.issue(rig.org.integration_user_id), instance_url=cometd or "https://localhost"
    )
    usual = {"token": lambda _refused: token, "dice": random.Random(1), "limits": QUICK}
    if cometd:
        source = CometdSource(channel=channel, load_position=lambda: store.position(channel), **usual)
    else:
        source = PubSubSource(
            topic=channel,
            tenant=rig.org.org_id,
            endpoint=f"http://{pubsub}",
            load_position=lambda: store.position(position_name(channel)),
            call_limits=BRISK,
            **usual,
        )
    return Intake(
        source,
        store,
        Current(rig.client.configuration()),
        channel=channel,
        org_id=rig.org.org_id,
        own=partial(own_change, user_id=rig.org.integration_user_id),
        wait_s=0.02,
        wake=lambda: None,
    )


@pytest.mark.parametrize("shared", [True, False], ids=["one database", "two databases"])
@pytest.mark.parametrize("protocols", ["pubsub", "cometd", "mixed"])
def test_a_lead_that_both_channels_tell_of_takes_one_turn(tmp_path, shared, protocols):
    """Whoever comes second finds it routed; nobody is told of anything twice."""
    rig = Rig(tmp_path)
    stores = [rig.open(), rig.open("jobs.db" if shared else "other.db")]
    with served(rig.org) as url, pubsub_served(rig.org) as endpoint, closing(rig):
        lines = {"pubsub": [{"pubsub": endpoint.address}], "cometd": [{"cometd": url}]}
        lines["mixed"] = [*lines["pubsub"], *lines["cometd"]]
        ways = cycle(lines[protocols])
        intakes = [
            hearing(rig, name, store, **next(ways)) for name, store in zip((CHANGES, REQUESTS), stores, strict=True)
        ]
        workers = [rig.worker(name=name, store=store) for name, store in zip(("one", "two"), stores, strict=True)]
        made = []
        for _ in range(LEADS):
            made.append(rig.rest_org.lead())
            rig.org.events.publish("Lead_Routing_Requested__e", {"Lead_Id__c": made[-1]})
        for _ in range(STEPS):
            for part in (*intakes, *workers):
                part.step()
            if all(intake.heard >= LEADS for intake in intakes) and len(rig.ledger()) >= LEADS:
                break
        for worker in workers:
            while worker.step():
                pass
        for intake in intakes:
            intake.close()
        heard = [intake.heard for intake in intakes]

        assert min(heard) >= LEADS
        assert rig.turns() == list(range(1, LEADS + 1))
        assert sorted(row["Lead__c"] for row in rig.ledger()) == sorted(made)
        assert all(rig.owner(lead) in {"Ann", "Bob"} for lead in made)
