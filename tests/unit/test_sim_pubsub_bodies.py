"""Bodies of the simulated org's events over gRPC: each is made once, and no more are kept than may be."""

from __future__ import annotations

from org_simulator.pubsub.bodies import Bodies, encode
from org_simulator.pubsub.schemas import schema_of
from org_simulator.schema import default_metadata, load
from support.stream_org import LEAD, StreamOrg


def test_a_body_is_made_once_while_it_is_kept():
    """Every subscriber, and every reconnect, is sent the same bytes; the oldest make way."""
    org = StreamOrg(schema=load(default_metadata()))
    org.create_leads(3)
    schema, events, bodies = schema_of(org.schema, LEAD), org.log.since(0), Bodies(most=2)
    first = bodies.of(events[0], schema)
    assert first == encode(events[0], schema)
    assert bodies.of(events[0], schema) is first
    others = [bodies.of(event, schema) for event in events[1:]]
    assert len({first, *others}) == 3
    assert bodies.of(events[2], schema) is others[1]
    assert bodies.of(events[0], schema) is not first
