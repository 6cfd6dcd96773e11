"""The Pub/Sub source against a server that answers what the simulated org never would."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from types import SimpleNamespace

import fastavro
import pytest
from structlog.testing import capture_logs

from lead_router.ports import Position
from lead_router.salesforce.pubsub import SCHEMA_TRIES
from org_simulator.clock import SystemClock
from support.cometd_rig import CHANNEL, QUICK
from support.fault_pubsub import FaultPubSub, Refusal, Told
from support.lead_events import header, lead_id
from support.pubsub_rig import BRISK, PubSubRig
from support.stream_org import StreamOrg

EARLIEST, CUSTOM = 1, 2
WIDGETS = "/data/Widget__ChangeEvent"
NAME = f"pubsub:{CHANNEL}"
STRINGS = {"type": "array", "items": "string"}
KINDS = {
    "sequenceNumber": "int",
    "commitTimestamp": "long",
    "commitNumber": "long",
    "recordIds": STRINGS,
    "changedFields": STRINGS,
}
HEAD = {
    "type": "record",
    "name": "ChangeEventHeader",
    "fields": [{"name": name, "type": KINDS.get(name, "string")} for name in header(1)],
}
LEAD = {
    "type": "record",
    "name": "LeadChangeEvent",
    "fields": [
        {"name": "ChangeEventHeader", "type": HEAD},
        {"name": "LastName", "type": ["null", "string"], "default": None},
        {"name": "Description", "type": ["null", "string"], "default": None},
    ],
}
OPAQUE = [b"\x00\x00\x00\x00\x01e\x14\xab", b"\xff" * 8, b"\x00\x80", bytes(range(256))]


def lead(number, replay_id, **values):
    """The creation of the n-th lead."""
    stream = io.BytesIO()
    fastavro.schemaless_writer(stream, fastavro.parse_schema(LEAD), {"ChangeEventHeader": header(number), **values})
    return Told(replay_id, stream.getvalue())


def ids(*numbers):
    return {lead_id(number) for number in numbers}


@pytest.fixture
def server():
    with FaultPubSub() as made:
        made.schemas["schema-1"] = json.dumps(LEAD)
        yield made


@pytest.fixture
def rig(server):
    with PubSubRig(StreamOrg(clock=SystemClock())) as made:
        yield made


class TestRefusals:
    @pytest.mark.parametrize("method", ["GetTopic", "GetSchema", "Subscribe", "Stream"])
    @pytest.mark.parametrize(
        ("status", "code", "logins"),
        [
            ("UNAVAILABLE", "service.unavailable", 1),
            ("UNAVAILABLE", "", 1),
            ("INTERNAL", "", 1),
            ("UNAUTHENTICATED", "service.auth.error", 2),
            ("RESOURCE_EXHAUSTED", "concurrent.client.limit.exceeded", 1),
        ],
    )
    def test_an_error_at_any_call_costs_no_event(self, server, rig, method, status, code, logins):
        """A7: each lead is kept once; a new login for a dead token alone (A2)."""
        server.refuse(method, Refusal(status, code))
        for number in (1, 2, 3):
            server.say(lead(number, bytes([number])))
        rig.open(server.address)
        rig.fill(lambda: rig.leads == ids(1, 2, 3) or bool(unreadable(rig)))
        if method == "GetSchema" and status == "RESOURCE_EXHAUSTED":
            assert [one.reason for one in unreadable(rig)] != []
            return
        assert len(rig.shelf.kept) == 3
        assert len(rig.tokens) == logins

    def test_an_id_that_is_refused_late_makes_way_as_well(self, server, rig):
        """A5: later than a subscription counts as acknowledged; the next one begins with all that is retained."""
        rig.shelf.position = Position(NAME, b"\x07")
        server.refuse("Subscribe", Refusal("INVALID_ARGUMENT", "subscription.fetch.replayid.corrupted", after_s=0.3))
        server.say(lead(1, b"\x09"))
        rig.open(server.address)
        rig.heard(ids(1))
        assert server.starts() == [(CUSTOM, b"\x07"), (EARLIEST, b"")]
        assert any("all retained events" in gap for gap in rig.shelf.gaps)

    def test_a_refused_topic_beside_the_stream_is_told_of_once(self, server, rig):
        """P28: also where it is the subscription that is refused; a reload only once it is heard."""
        refusal = Refusal("PERMISSION_DENIED")
        server.refuse("Subscribe", None, refusal, refusal, refusal)
        with capture_logs() as logs:
            rig.open(server.address, notices=(WIDGETS,), limits=replace(QUICK, refused_s=0.05))
            rig.fill(lambda: any(one.reload for one in rig.shelf.deliveries))
        assert len([one for one in logs if one["event"] == "notices_refused"]) == 1
        assert server.count("Subscribe") == 5


class TestNoise:
    @pytest.mark.parametrize("method", ["GetTopic", "Subscribe", "GetSchema"])
    def test_an_answer_that_is_none_costs_no_event_and_ends_no_loop(self, server, rig, method, caplog):
        """A11: a stream begins anew, an event whose schema is noise is kept; no traceback stands in the log."""
        server.noisy.append(method)
        for number in (1, 2):
            server.say(lead(number, bytes([number])))
        rig.open(server.address)
        rig.fill(lambda: rig.leads == ids(1, 2) or (bool(unreadable(rig)) and rig.leads == ids(2)))
        assert bool(unreadable(rig)) is (method == "GetSchema")
        assert not [one for one in caplog.records if one.exc_info]

    @pytest.mark.parametrize("token", ["two\nlines", "t\N{LATIN SMALL LETTER U WITH DIAERESIS}r"])
    def test_a_token_that_no_header_can_bear_ends_no_loop(self, server, rig, token):
        """F2: one warning a try, without its value; the next token is as good as any."""
        given = iter([token])
        server.say(lead(1, b"\x01"))
        with capture_logs() as logs:
            rig.open(
                server.address,
                token=lambda _: SimpleNamespace(access_token=next(given, "good"), instance_url="https://localhost"),
            )
            rig.heard(ids(1))
        (lost,) = [one["reason"] for one in logs if one["event"] == "stream_lost"]
        assert token not in lost


class TestEvents:
    @pytest.mark.parametrize("schema", ["", "{}", "refused"])
    def test_an_event_without_a_usable_schema_is_kept_and_holds_up_no_other(self, server, rig, schema):
        """A11: its bytes are quarantined, its neighbours are handled, the position goes on."""
        server.schemas["odd"] = schema
        if schema == "refused":
            server.refuse("GetSchema", None, *[Refusal("INVALID_ARGUMENT")] * 60)
        server.say(lead(1, b"\x01"))
        server.say(replace(lead(2, b"\x02"), schema_id="odd"))
        server.say(lead(3, b"\x03"))
        rig.open(server.address)
        rig.heard(ids(1, 3))
        rig.fill(lambda: rig.shelf.position == Position(NAME, b"\x03"))
        assert [one.body for one in unreadable(rig)] == [lead(2, b"").payload]

    @pytest.mark.parametrize(("failures", "kept"), [(SCHEMA_TRIES - 1, 0), (SCHEMA_TRIES + 5, 1)])
    def test_a_schema_that_the_server_fails_at_holds_up_no_other_event_for_ever(self, server, rig, failures, kept):
        """A11: a passing fault is waited for; one that stays costs its event alone, which is kept and swept for."""
        server.schemas["odd"] = server.schemas["schema-1"]
        server.refuse("GetSchema", None, *[Refusal("INTERNAL")] * failures)
        server.say(lead(1, b"\x01"))
        server.say(replace(lead(2, b"\x02"), schema_id="odd"))
        server.say(lead(3, b"\x03"))
        rig.open(server.address)
        rig.fill(lambda: rig.leads >= ids(1, 3))
        assert len(unreadable(rig)) == kept
        assert rig.leads == (ids(1, 3) if kept else ids(1, 2, 3))

    def test_an_event_without_a_replay_id_is_handled_and_is_no_position(self, server, rig):
        """A11: between two others; a restart from the position in between brings it again."""
        server.say(lead(10, b"\x10"))
        server.say(lead(11, b""))
        source = rig.open(server.address)
        rig.heard(ids(10, 11))
        rig.fill_for(0.2)
        assert rig.shelf.position == Position(NAME, b"\x10")
        source.close()
        server.say(lead(12, b"\x12"))
        rig.open(server.address)
        rig.heard(ids(10, 11, 12))
        rig.fill(lambda: rig.shelf.position == Position(NAME, b"\x12"))
        assert server.starts() == [(EARLIEST, b""), (CUSTOM, b"\x10")]
        assert [change.record_id for one in rig.shelf.deliveries for change in one.changes].count(lead_id(11)) == 2

    def test_noise_is_kept_and_costs_no_other(self, server, rig):
        """A11: a body that does not fit its schema."""
        server.say(lead(1, b"\x01"), Told(b"\x02", b"\xff" * 40), lead(3, b"\x03"))
        rig.open(server.address)
        rig.heard(ids(1, 3))
        assert [one.body for one in unreadable(rig)] == [b"\xff" * 40]

    def test_an_answer_of_three_mebibytes_is_read(self, server, rig):
        """A17: nearly as large as gRPC lets a server send."""
        server.say(*(lead(number, bytes([number]), Description="x" * 31_500) for number in range(1, 101)))
        rig.open(server.address)
        rig.heard(ids(*range(1, 101)))
        assert len(rig.shelf.brought) == 100

    def test_an_answer_beyond_the_limit_is_told_of_as_a_gap(self, server, rig):
        """A17: it is not read, and what it held is swept for."""
        server.say(lead(1, b"\x01", Description="x" * 90_000))
        rig.open(server.address, call_limits=replace(BRISK, answer_max_bytes=50_000))
        rig.fill(lambda: bool(rig.shelf.gaps))
        assert any("larger than max" in gap for gap in rig.shelf.gaps)

    def test_a_schema_beyond_the_limit_costs_its_event_alone(self, server, rig):
        """A17: the event is kept as it came."""
        server.schemas["huge"] = " " * 60_000
        server.say(replace(lead(1, b"\x01"), schema_id="huge"), lead(2, b"\x02"))
        rig.open(server.address, call_limits=replace(BRISK, answer_max_bytes=50_000))
        rig.heard(ids(2))
        assert len(unreadable(rig)) == 1


class TestOwed:
    def test_nothing_is_asked_for_behind_a_first_answer_that_nobody_has_stored(self, server, rig):
        """A20: a hundred events that came while the subscription was still awaited."""
        server.say(*(lead(number, number.to_bytes(2, "big")) for number in range(1, 101)))
        server.say(lead(101, b"\x01\x01"))
        source = rig.open(server.address, call_limits=replace(BRISK, acknowledged_s=1))
        first = rig.unstored()
        assert source.poll(0.1) is first
        assert (len(first.changes), server.count("Fetch")) == (100, 0)
        rig.shelf.put(first)
        source.stored(first)
        rig.heard(ids(*range(1, 102)))
        assert sum(asked.num_requested for method, asked in server.asked if method == "Fetch") in {100, 101}


class TestPositions:
    @pytest.mark.parametrize("replay_id", OPAQUE, ids=lambda one: f"{len(one)} bytes")
    def test_a_position_is_kept_byte_for_byte(self, server, rig, database, replay_id):
        """A16: from the wire into the job store and back onto the wire, in both stores."""
        server.say(lead(1, replay_id))
        source = rig.open(server.address, load_position=lambda: database.open().position(NAME))
        rig.fill(lambda: rig.shelf.position is not None)
        source.close()
        database.open().record([], position=rig.shelf.position)
        server.quiet(b"later")
        rig.open(server.address, load_position=lambda: database.open().position(NAME))
        rig.fill(lambda: rig.shelf.position == Position(NAME, b"later"))
        assert server.starts()[-1] == (CUSTOM, replay_id)

    def test_several_events_of_one_id_are_complete_only_with_the_next(self, server, rig):
        """A19: a session that ends between two events of one id begins again before both."""
        server.say(lead(1, b"\x01"))
        server.say(lead(2, b"\x05"))
        server.say(lead(3, b"\x05"))
        source = rig.open(server.address, limits=replace(QUICK, settle_s=60))
        rig.heard(ids(1, 2, 3))
        assert rig.shelf.position == Position(NAME, b"\x01")
        source.close()
        rig.open(server.address)
        rig.fill(lambda: rig.shelf.position == Position(NAME, b"\x05"))
        assert server.starts()[-1] == (CUSTOM, b"\x01")


def unreadable(rig):
    return [one for delivery in rig.shelf.deliveries for one in delivery.unreadable]
