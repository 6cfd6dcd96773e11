"""A platform event published over gRPC: heard over CometD and over Pub/Sub API as the same request."""

from __future__ import annotations

import io
import json
import random
from dataclasses import replace

import fastavro
import grpc
import pytest

from lead_router.salesforce.changes import REQUESTED as ASKED
from lead_router.salesforce.cometd import CometdSource
from org_simulator.clock import SystemClock
from org_simulator.pubsub import interface
from org_simulator.schema import Field
from support.cometd_rig import QUICK
from support.lead_events import lead_id
from support.pubsub_rig import PubSubRig
from support.pubsub_served import pubsub_served
from support.served import served
from support.shelf import Shelf, fill
from support.stream_org import INTEGRATION, ORG_ID, REQUESTED, StreamOrg

TOPIC = f"/event/{REQUESTED}"


@pytest.fixture
def rig():
    org = StreamOrg(clock=SystemClock())
    event = org.schema.platform_events[REQUESTED.lower()]
    fields = {"lead_id__c": Field("Lead_Id__c", "string"), "reason__c": Field("Reason__c", "string")}
    org.schema = replace(org.schema, platform_events={REQUESTED.lower(): replace(event, fields=fields)})
    with PubSubRig(org) as made:
        yield made


class Publisher:
    """A bare gRPC client: what a third program sends."""

    def __init__(self, channel, token):
        self._channel = channel
        self._metadata = (("accesstoken", token), ("instanceurl", "https://localhost"), ("tenantid", ORG_ID))

    def ask(self, method, request, answer):
        call = self._channel.unary_unary(
            f"/{interface.SERVICE}/{method}",
            request_serializer=type(request).SerializeToString,
            response_deserializer=answer.FromString,
        )
        return call(request, metadata=self._metadata, timeout=10)

    def publish(self, topic, *payloads):
        schema_id = self.ask("GetTopic", interface.TopicRequest(topic_name=topic), interface.TopicInfo).schema_id
        text = self.ask("GetSchema", interface.SchemaRequest(schema_id=schema_id), interface.SchemaInfo).schema_json
        request = interface.PublishRequest(topic_name=topic)
        for number, payload in enumerate(payloads):
            body = payload
            if isinstance(payload, dict):
                stream = io.BytesIO()
                fastavro.schemaless_writer(stream, fastavro.parse_schema(json.loads(text)), payload)
                body = stream.getvalue()
            request.events.add(id=f"mine-{number}", schema_id=schema_id, payload=body)
        return self.ask("Publish", request, interface.PublishResponse).results


def request_for(number):
    return {
        "CreatedDate": 1_700_000_000_000,
        "CreatedById": INTEGRATION,
        "Lead_Id__c": lead_id(number),
        "Reason__c": None,
    }


def test_what_is_published_is_heard_over_both(rig):
    """P40: the same lead, key and kind over either source; what does not fit is told to its sender alone."""
    token = rig.org.sessions.issue(INTEGRATION)
    with pubsub_served(rig.org) as endpoint, served(rig.org) as url, grpc.insecure_channel(endpoint.address) as channel:
        published = Publisher(channel, token).publish(TOPIC, request_for(1), b"\xff" * 30, request_for(2))
        assert [one.correlation_key for one in published] == ["mine-0", "mine-1", "mine-2"]
        assert [bool(one.replay_id) for one in published] == [True, False, True]
        assert published[1].HasField("error")
        rig.open(endpoint.address, topic=TOPIC)
        rig.fill(lambda: len(rig.shelf.kept) == 2)
        beside = Shelf()
        source = CometdSource(
            channel=TOPIC,
            token=lambda _refused: type("Given", (), {"access_token": token, "instance_url": url}),
            load_position=beside.load,
            dice=random.Random(1),
            default_start=-2,
            limits=QUICK,
        )
        fill(beside, source, lambda: len(beside.kept) == 2)
        for each in (*rig.sources, source):
            each.close()
    assert list(rig.shelf.kept) == list(beside.kept)
    assert [change.change_type for change in rig.shelf.kept.values()] == [ASKED, ASKED]
    assert rig.leads == {lead_id(1), lead_id(2)}
    assert [one.committed_at for one in rig.shelf.kept.values()] == [one.committed_at for one in beside.kept.values()]


def test_changes_cannot_be_published(rig):
    """Nobody but the org itself tells of changes."""
    token = rig.org.sessions.issue(INTEGRATION)
    with pubsub_served(rig.org) as endpoint, grpc.insecure_channel(endpoint.address) as channel:
        with pytest.raises(grpc.RpcError) as refused:
            Publisher(channel, token).publish("/data/LeadChangeEvent", b"")
        assert refused.value.code() is grpc.StatusCode.PERMISSION_DENIED
