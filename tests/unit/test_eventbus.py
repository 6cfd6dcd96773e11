"""The messages of Pub/Sub API against protobuf bytes written by hand from the public interface's numbers."""

from __future__ import annotations

import pytest

from lead_router.salesforce import eventbus
from lead_router.salesforce.eventbus import ReplayPreset
from org_simulator.pubsub import interface

VARINT, BYTES = 0, 2


def varint(number):
    found = b""
    while number > 0x7F:
        found, number = found + bytes([number & 0x7F | 0x80]), number >> 7
    return found + bytes([number])


def field(number, value):
    """One field on the wire."""
    if isinstance(value, int):
        return varint(number << 3 | VARINT) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | BYTES) + varint(len(value)) + value


@pytest.mark.parametrize(
    ("made", "wire"),
    [
        (eventbus.TopicRequest(topic_name="/data/X"), b"\x0a\x07/data/X"),
        (eventbus.SchemaRequest(schema_id="S"), b"\x0a\x01S"),
        (eventbus.FetchRequest(topic_name="T", num_requested=100), b"\x0a\x01T\x20\x64"),
        (
            eventbus.FetchRequest(
                topic_name="T", replay_preset=ReplayPreset.CUSTOM, replay_id=b"\x00\x80\xff", num_requested=1
            ),
            b"\x0a\x01T\x10\x02\x1a\x03\x00\x80\xff\x20\x01",
        ),
        (eventbus.FetchRequest(topic_name="T", replay_preset=ReplayPreset.EARLIEST), b"\x0a\x01T\x10\x01"),
        (eventbus.FetchRequest(replay_preset=ReplayPreset.LATEST), b""),
    ],
)
def test_what_is_sent(made, wire):
    """Names and numbers are those of `eventbus.v1`; a default is not sent."""
    assert made.SerializeToString(deterministic=True) == wire


def test_a_fetch_response():
    """A16: replay ids are bytes, unchanged; unknown fields of a later interface are skipped."""
    event = field(1, "id-1") + field(2, "schema-1") + field(3, b"\x00\xff") + field(4, field(1, "key") + field(2, b"v"))
    wire = field(1, field(1, event) + field(2, b"\x00\x00\x01\x80")) + field(2, b"\xfe\x00") + field(3, "rpc")
    read = eventbus.FetchResponse.FromString(wire + field(4, 99) + field(900, b"later"))
    (heard,) = read.events
    assert (heard.event.id, heard.event.schema_id, heard.event.payload) == ("id-1", "schema-1", b"\x00\xff")
    assert (heard.replay_id, read.latest_replay_id) == (b"\x00\x00\x01\x80", b"\xfe\x00")
    assert (read.pending_num_requested, read.rpc_id) == (99, "rpc")


def test_a_topic_and_a_schema():
    """What the two lookups answer."""
    wire = field(1, "/data/X") + field(2, "tenant") + field(3, 1) + field(4, 1) + field(5, "S") + field(6, "rpc")
    topic = eventbus.TopicInfo.FromString(wire)
    assert (topic.topic_name, topic.can_publish, topic.can_subscribe, topic.schema_id) == ("/data/X", True, True, "S")
    schema = eventbus.SchemaInfo.FromString(field(1, "{}") + field(2, "S") + field(3, "rpc"))
    assert (schema.schema_json, schema.schema_id) == ("{}", "S")


@pytest.mark.parametrize("name", sorted(eventbus._CLASSES))
def test_client_and_simulated_org_mean_the_same_numbers(name):
    """Both were written from the public interface, apart; what the client has is a part of what the org has."""
    ours = {one.name: (one.number, one.type, one.is_repeated) for one in eventbus._CLASSES[name].DESCRIPTOR.fields}
    theirs = {one.name: (one.number, one.type, one.is_repeated) for one in interface._MADE[name].DESCRIPTOR.fields}
    assert ours.items() <= theirs.items()


def test_the_methods():
    """As gRPC addresses them."""
    calls = (eventbus.SUBSCRIBE, eventbus.GET_SCHEMA, eventbus.GET_TOPIC)
    assert calls == tuple(f"/eventbus.v1.PubSub/{name}" for name in ("Subscribe", "GetSchema", "GetTopic"))
