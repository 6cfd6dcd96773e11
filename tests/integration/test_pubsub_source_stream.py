"""The Pub/Sub source on the simulated org's gRPC server: what goes wrong on the way costs no lead and doubles none."""

from __future__ import annotations

import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from lead_router.ports import Position
from org_simulator.clock import ManualClock, SystemClock
from org_simulator.pubsub.terms import Terms
from org_simulator.switches import Switches
from support.cometd_rig import CHANNEL, QUICK
from support.lead_events import lead_id
from support.pubsub_rig import BRISK, PubSubRig
from support.pubsub_served import TERMS, pubsub_served
from support.quiet_wire import QuietWire
from support.stream_org import START, StreamOrg

WIDGETS = "/data/Widget__ChangeEvent"
NOWHERE = "/data/Nowhere__ChangeEvent"


@pytest.fixture
def rig():
    with PubSubRig(StreamOrg(clock=SystemClock())) as made:
        yield made


@pytest.fixture
def endpoint(rig):
    with pubsub_served(rig.org) as made:
        yield made
        for source in rig.sources:
            source.close()


def subscribed(source):
    return lambda: source.state() == "subscribed"


def fetches(endpoint):
    return [count for method, count in endpoint.service.asked if method == "Subscribe"]


class TestLines:
    def test_a_server_that_is_killed_and_comes_back_at_its_port(self, rig):
        """A7: what was committed meanwhile is heard, each lead once, from the stored position on."""
        with pubsub_served(rig.org) as first:
            source = rig.open(first.address)
            rig.heard(rig.create(3))
            port = int(first.address.rpartition(":")[2])
        rig.fill(lambda: source.state() == "backing-off")
        ids = rig.create(3)
        with pubsub_served(rig.org, port=port):
            rig.heard(ids)
            source.close()
        assert len(rig.shelf.kept) == 6

    def test_a_half_open_connection_is_given_up_in_time(self, rig):
        """A9: no byte comes and nothing is closed; within the idle limit a new connection brings what was missed."""
        with pubsub_served(rig.org) as made, closing(QuietWire(int(made.address.rpartition(":")[2]))) as wire:
            source = rig.open(wire.address, call_limits=replace(BRISK, idle_s=1))
            rig.heard(rig.create(2))
            wire.silence()
            rig.heard(rig.create(2))
            source.close()
            assert wire.lines >= 2
        assert len(rig.shelf.kept) == 4

    def test_a_ping_that_is_not_answered_ends_a_half_open_connection_sooner(self, rig):
        """A9: long before the server would have had to speak, or the silence ends it."""
        never = Terms(keepalive_s=600, idle_s=600)
        with pubsub_served(rig.org, never) as made, closing(QuietWire(int(made.address.rpartition(":")[2]))) as wire:
            source = rig.open(wire.address, call_limits=replace(BRISK, idle_s=60, ping_s=0.5, pong_s=0.5))
            rig.heard(rig.create(1))
            wire.silence()
            rig.heard(rig.create(1))
            source.close()

    def test_one_live_stream_a_topic_however_often_it_reconnects(self, rig, endpoint):
        """A10: after five reconnects an event comes once, over one stream."""
        source = rig.open(endpoint.address, notices=(WIDGETS,))
        for _ in range(5):
            rig.heard(rig.create(1))
            opened = endpoint.service.asked.count(("GetTopic", 0))
            rig.org.log.drop_sessions()
            rig.fill(lambda opened=opened: endpoint.service.asked.count(("GetTopic", 0)) > opened)
        rig.fill(subscribed(source))
        rig.fill_for(0.3)  # the last event may come again, as its id was not known to be complete
        before = len(rig.shelf.brought)
        rig.heard(rig.create(1))
        rig.fill_for(0.2)
        assert len(rig.shelf.brought) == before + 1
        rig.fill(lambda: len(endpoint.service.streams) == 2)

    def test_close_leaves_nothing(self, rig, endpoint):
        """No stream, thread or socket, whatever was under way; a second call does nothing."""
        sockets = open_sockets()
        threads = threading.active_count()
        for wait_s in (0, 0.01, 0.3):
            source = rig.open(endpoint.address, notices=(WIDGETS,))
            source.poll(wait_s)
            source.close()
            source.close()
            assert source.state() == "closed"
        for _ in range(500):
            if (open_sockets(), threading.active_count()) <= (sockets, threads) and not endpoint.service.streams:
                break
            threading.Event().wait(0.01)
        assert not endpoint.service.streams
        assert open_sockets() <= sockets
        assert threading.active_count() <= threads


class TestSizes:
    NARROW = replace(BRISK, answer_max_bytes=20_000)

    def test_an_answer_too_large_to_read_is_asked_for_in_parts(self, rig, endpoint):
        """A17: a hundred events of a kilobyte each, under a limit of twenty: each is heard, none swept for."""
        ids = rig.create(100, name="x" * 1_000)
        with capture_logs() as logs:
            rig.open(endpoint.address, call_limits=self.NARROW)
            rig.heard(ids)
            rig.heard(rig.create(60))
        assert [one["events"] for one in logs if one["event"] == "stream_asks_less"] == [25, 6]
        assert len(rig.shelf.brought) == 160
        assert not rig.shelf.gaps

    def test_once_they_are_small_again_as_many_are_asked_for_as_before(self, rig, endpoint):
        """A20: a day's backlog behind a few large events is not heard one by one."""
        rig.create(40, name="x" * 1_000)
        ids = rig.create(400)
        rig.open(endpoint.address, call_limits=self.NARROW)
        rig.heard(ids)
        assert max(fetches(endpoint)[-4:]) > 25

    def test_one_event_that_is_too_large_alone_is_a_gap_and_holds_up_nothing(self, rig, endpoint):
        """A17: it is swept for; what comes after it is heard."""
        source = rig.open(endpoint.address, call_limits=self.NARROW)
        rig.heard(rig.create(2))
        rig.create(1, name="x" * 30_000)
        rig.fill(lambda: any("one event alone is too large" in gap for gap in rig.shelf.gaps))
        rig.fill(subscribed(source))
        rig.create(1)
        rig.fill(lambda: lead_id(4) in rig.leads)
        rig.create(1)
        rig.fill(lambda: lead_id(5) in rig.leads)
        assert len(rig.shelf.kept) == 4


class TestPositions:
    def test_an_expired_id_means_everything_retained_and_a_sweep(self, rig, endpoint):
        """A5: the id is gone from the org; nothing that is retained is missed, and the rest is swept for."""
        rig.shelf.position = Position(f"pubsub:{CHANNEL}", b"\x00\x00\x00\x00\x00\x00\x00\x07")
        ids = rig.create(3)
        with capture_logs() as logs:
            rig.open(endpoint.address)
            rig.heard(ids)
        assert any("all retained events" in gap for gap in rig.shelf.gaps)
        assert [one["event"] for one in logs if one["event"] == "stream_position_expired"] == [
            "stream_position_expired"
        ]

    @pytest.mark.parametrize("stored", [b"7", b"-2", b"\x00" * 9])
    def test_an_id_of_another_shape_means_the_same(self, rig, endpoint, stored):
        """A5: `replayid.validation.failed` is an id that will never be accepted either."""
        rig.shelf.position = Position(f"pubsub:{CHANNEL}", stored)
        ids = rig.create(2)
        rig.open(endpoint.address)
        rig.heard(ids)
        assert rig.shelf.gaps

    def test_what_a_quiet_answer_says_is_stored(self, rig, endpoint):
        """A9: `latest_replay_id` moves the position past what other topics had; a restart begins there."""
        source = rig.open(endpoint.address)
        rig.heard(rig.create(1))
        rig.org.commit(rig.org.change("a00000000000001AAA", sobject="Widget__c", Name="W"))
        newest = rig.org.log.replay_id_at().to_bytes(8, "big")
        rig.fill(lambda: rig.shelf.position.replay_id == newest)
        source.close()
        again = rig.open(endpoint.address)
        ids = rig.create(1)
        rig.heard(ids)
        again.close()
        assert len(rig.shelf.brought) == 2

    def test_a_stream_that_ended_of_idleness_goes_on_behind_what_is_stored(self, rig):
        """A28: while a delivery waits nothing is asked for, and the server ends the stream; nothing is lost."""
        rig.org.clock = ManualClock(START)
        with pubsub_served(rig.org, Terms(events_max=10)) as endpoint:
            source = rig.open(endpoint.address)
            ids = rig.create(130)
            first = rig.unstored()
            assert fetches(endpoint) == [100]
            until(lambda: not [one for one in endpoint.service.streams if one.pending])
            rig.org.clock.advance(71)
            until(lambda: not endpoint.service.streams)
            assert source.poll(0) is first
            rig.shelf.put(first)
            source.stored(first)
            rig.heard(ids)
            source.close()
        assert len(rig.shelf.kept) == 130
        assert len(rig.shelf.brought) <= 130 + 1


class TestAllowances:
    def test_a_used_up_allowance_is_refused_and_no_login(self, rig, endpoint):
        """P28: distinct from a dead token; tried again slowly, with a sweep."""
        source = rig.open(endpoint.address)
        rig.heard(rig.create(1))
        rig.org.log.faults.arm("refuse_subscribe")
        rig.org.log.drop_sessions()
        rig.fill(lambda: source.state() == "refused")
        rig.heard(rig.create(1))
        assert len(rig.tokens) == 1
        assert any("refused" in gap for gap in rig.shelf.gaps)

    def test_a_revoked_token_costs_one_login(self, rig, endpoint):
        """A2: in the middle of a stream; nothing is lost."""
        rig.open(endpoint.address)
        rig.heard(rig.create(2))
        rig.org.sessions.revoke_all()
        rig.heard(rig.create(2))
        rig.fill_for(0.3)
        assert len(rig.tokens) == 2
        assert len(rig.shelf.kept) == 4

    def test_never_more_than_a_hundred_are_owed_and_more_only_behind_what_is_stored(self, rig):
        """A20: while nothing is stored nothing is asked for, however long; then as many as were received."""
        ids = rig.create(350)
        with pubsub_served(rig.org, replace(TERMS, idle_s=60, events_max=30)) as endpoint:
            source = rig.open(endpoint.address)
            received = 0
            while received < 350:
                delivery = source.poll(0.5)
                received += len(delivery.changes)
                asked = fetches(endpoint)
                assert source.poll(0.01) is delivery or not delivery.changes
                assert fetches(endpoint) == asked
                assert sum(asked) - received <= 100
                assert max(asked, default=0) <= 100
                rig.shelf.put(delivery)
                source.stored(delivery)
            source.close()
        assert rig.leads == ids
        assert len(rig.shelf.brought) == 350


class TestSwitches:
    def test_a_stream_that_outlives_its_token_is_heard_until_a_call_needs_another(self, rig):
        """A2: nothing is lost; the login comes with the next subscription."""
        rig.org.switches = Switches(pubsub_stream_ends_with_token=False)
        with pubsub_served(rig.org) as endpoint:
            source = rig.open(endpoint.address)
            rig.heard(rig.create(2))
            rig.org.sessions.revoke_all()
            rig.heard(rig.create(2))
            assert len(rig.tokens) == 1
            rig.org.log.drop_sessions()
            rig.heard(rig.create(2))
            assert len(rig.tokens) == 2
            source.close()
        assert len(rig.shelf.kept) == 6

    @pytest.mark.parametrize("fault", ["allowance", "position"])
    def test_a_refusal_that_comes_late_is_a_refusal_all_the_same(self, rig, fault):
        """A2, P28: later than a subscription counts as acknowledged; it is not ready then, and no lead is lost."""
        rig.org.switches = Switches(pubsub_refuses_after_s=0.3)
        ids = rig.create(2)
        if fault == "allowance":
            rig.org.log.faults.arm("refuse_subscribe")
        else:
            rig.shelf.position = Position(f"pubsub:{CHANNEL}", b"\x00\x00\x00\x00\x00\x00\x00\x07")
        with pubsub_served(rig.org) as endpoint:
            source = rig.open(endpoint.address)
            rig.fill(subscribed(source))
            rig.fill(lambda: source.state() != "subscribed")
            rig.heard(ids)
            source.close()
        assert len(rig.tokens) == 1
        assert rig.shelf.gaps


class TestNotices:
    def test_what_comes_beside_asks_for_a_reload(self, rig, endpoint):
        """One reload for the subscription, one for each change, none for the stream's own topic."""
        rig.open(endpoint.address, notices=(WIDGETS, CHANNEL))
        rig.fill(lambda: reloads(rig) == ["subscribed"])
        rig.org.commit(rig.org.change("a00000000000001AAA", sobject="Widget__c", Name="W"))
        rig.fill(lambda: reloads(rig) == ["subscribed", WIDGETS])
        rig.heard(rig.create(1))
        assert reloads(rig) == ["subscribed", WIDGETS]

    def test_a_topic_that_is_not_there_is_told_of_once_and_asked_for_again(self, rig, endpoint):
        """P28: one warning with a remedy; the stream goes on, and no reload is told of."""
        with capture_logs() as logs:
            rig.open(endpoint.address, notices=(NOWHERE,), limits=replace(QUICK, refused_s=0.05))
            rig.heard(rig.create(1))
            rig.fill(lambda: endpoint.service.asked.count(("GetTopic", 0)) >= 5)
            rig.heard(rig.create(1))
        (warning,) = [one for one in logs if one["event"] == "notices_refused"]
        assert (warning["channel"], bool(warning["remedy"])) == (NOWHERE, True)
        assert not reloads(rig)


def reloads(rig):
    return [delivery.reload for delivery in rig.shelf.deliveries if delivery.reload]


def until(condition):
    for _ in range(1_000):
        if condition():
            return
        threading.Event().wait(0.01)
    raise AssertionError("not within ten seconds")


def open_sockets():
    """How many sockets this process has."""
    count = 0
    for link in Path("/proc/self/fd").iterdir():
        try:
            count += str(link.readlink()).startswith("socket:")
        except FileNotFoundError:
            continue
    return count
