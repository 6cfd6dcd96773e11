"""The CometD source on a sound network: events, positions, gaps, and what is told of them."""

from __future__ import annotations

import json
import time

import pytest
from structlog.testing import capture_logs

from lead_router.ports import Delivery
from support.cometd_rig import CHANNEL, Rig, at
from support.fault_cometd import CONNECT, DISCONNECT, HANDSHAKE, SUBSCRIBE, UNKNOWN_CLIENT, Drop, Http, Say
from support.lead_events import created, identity


@pytest.fixture
def rig():
    with Rig() as rig:
        yield rig


def test_retained_and_new_events_come_once_with_their_position(rig):
    """Handshake, first connect without waiting, subscribe, then one connect at a time."""
    for number in range(1, 4):
        rig.server.publish(created(number), replay_id=number * 7)
    source = rig.open()
    assert source.state() == "connecting"
    rig.fill(lambda: rig.shelf.position == at(21))
    rig.server.publish(created(4), replay_id=40)
    rig.fill(lambda: rig.shelf.position == at(40))
    assert rig.shelf.brought == [identity(number) for number in range(1, 5)]
    assert (source.state(), rig.server.starts(), rig.server.most_connects) == ("subscribed", [-2], 1)
    assert [channel for channel, _ in rig.server.seen[:4]] == [HANDSHAKE, CONNECT, SUBSCRIBE, CONNECT]
    assert rig.server.seen[0][1]["ext"] == {"replay": True}
    assert rig.server.seen[1][1]["advice"] == {"timeout": 0}
    assert "advice" not in rig.server.seen[3][1]


def test_a_poll_returns_in_time_and_leaves_the_connect_waiting(rig):
    """Many short polls are one connect: a poll that returns empty cancels nothing."""
    rig.server.hold_s = 1.5
    rig.settle()
    before = rig.server.count(CONNECT)
    began = time.monotonic()
    rig.fill_for(0.5)
    assert time.monotonic() - began < 1.2
    rig.server.publish(created(2))
    rig.fill(lambda: identity(2) in rig.shelf.identities)
    assert rig.server.count(CONNECT) - before <= 2
    assert rig.server.count(HANDSHAKE) == 1


def test_a_delivery_comes_again_until_it_is_stored(rig):
    """A28: a failed job insert on event 1 loses nothing; the stream waits for the store."""
    rig.server.publish(created(1))
    source = rig.open()
    first = next(brought for brought in iter(lambda: source.poll(1), None) if brought != Delivery())
    rig.server.publish(created(2))
    assert [change.identity for change in first.changes] == [identity(1)]
    assert source.poll(0.05) is first
    source.stored(first)
    rig.fill(lambda: rig.shelf.identities == [identity(2)])


def test_a_restart_resumes_behind_what_was_stored(rig):
    """A28: what was delivered and not stored is delivered again by the next process; what was stored is not."""
    first = rig.settle()
    rig.server.publish(created(2))
    assert next(brought for brought in iter(lambda: first.poll(1), None) if brought.changes)
    first.close()
    rig.server.publish(created(3))
    rig.open()
    rig.fill(lambda: len(rig.shelf.identities) == 3)
    assert rig.server.starts() == [-2, 1]
    assert rig.shelf.brought == [identity(1), identity(2), identity(3)]


def test_events_of_one_replay_id_stay_together(rig):
    """The last id of an answer is not stored before another id, or silence, shows that it is complete."""
    rig.settle()
    with rig.server.changed:
        rig.server.publish(created(2), replay_id=2)
        rig.server.publish(created(3), replay_id=3)
        rig.server.publish(created(4), replay_id=3)
    rig.fill(lambda: len(rig.shelf.identities) == 4)
    assert rig.shelf.position == at(2)
    rig.fill(lambda: rig.shelf.position == at(3))


def test_new_events_only_asks_for_a_sweep(rig):
    """With -1 nothing before the subscription comes, so each such subscription asks for a sweep."""
    rig.server.publish(created(1))
    source = rig.open(default_start=-1)
    rig.fill(lambda: source.state() == "subscribed")
    rig.server.publish(created(2))
    rig.fill(lambda: rig.shelf.position == at(2))
    assert rig.shelf.identities == [identity(2)]
    assert len(rig.shelf.gaps) == 1
    rig.server.forget_clients()
    rig.fill(lambda: rig.server.starts() == [-1, 2])


def test_quiet_connects_confirm_the_position(rig):
    """An answered connect without events confirms the position: its age tells a live stream from a dead one."""
    rig.settle()
    before = len(rig.shelf.deliveries)
    rig.fill(lambda: len(rig.shelf.deliveries) >= before + 2)
    assert set(rig.shelf.deliveries[before:]) == {Delivery(position=at(1))}


def test_close_tells_the_server_and_is_final(rig):
    """Closing disconnects the client, twice is harmless, and a closed source refuses to poll."""
    source = rig.settle()
    source.close()
    source.close()
    assert (source.state(), rig.server.count(DISCONNECT), rig.server.clients) == ("closed", 1, {})
    with pytest.raises(RuntimeError):
        source.poll(0)


def test_closing_before_the_first_poll_is_silent(rig):
    """Nothing is sent by a source that was never polled."""
    rig.open().close()
    assert rig.server.seen == []


def test_unreadable_events_are_kept_and_cost_no_other(rig):
    """A11: what cannot be parsed is handed over with its bytes, beside its readable neighbours and in one delivery."""
    rig.settle()
    with rig.server.changed:
        rig.server.publish(created(2, recordIds=None))
        rig.server.publish_raw({"channel": CHANNEL, "data": {"payload": created(3), "event": {"replayId": None}}}, at=3)
        rig.server.publish_raw("nonsense", at=4)
        rig.server.publish_raw({"data": 5}, at=5)
        rig.server.publish(created(6), replay_id=6)
    rig.fill(lambda: rig.shelf.position == at(6))
    kept = [unreadable for delivery in rig.shelf.deliveries for unreadable in delivery.unreadable]
    assert rig.shelf.identities == [identity(1), identity(3), identity(6)]
    assert len(kept) == 4
    assert json.loads(kept[2].body) == "nonsense"
    assert {unreadable.channel for unreadable in kept} == {CHANNEL}


def test_an_overflow_is_a_gap_and_no_lead(rig):
    """A25, P43: GAP_OVERFLOW asks for a sweep once, and names no lead."""
    rig.settle()
    rig.server.publish(created(2, changeType="GAP_OVERFLOW", recordIds=["000000000000000AAA"]))
    rig.fill(lambda: rig.shelf.position == at(2))
    assert rig.shelf.identities == [identity(1)]
    assert len(rig.shelf.gaps) == 1


def test_neither_token_nor_lead_reaches_the_log(rig):
    """Log lines speak of the stream in the past tense; the effective start and its origin are one line (A22)."""
    with capture_logs() as logs:
        source = rig.settle()
        rig.server.publish(created(2, recordIds=None))
        rig.server.fail(CONNECT, Say(UNKNOWN_CLIENT, {"reconnect": "handshake"}), Drop(), Http(200, b"Doe 2"))
        rig.fill(lambda: rig.shelf.position == at(2) and source.state() == "subscribed")
        source.close()
    told = json.dumps(logs)
    assert "token-1" not in told
    assert "Doe" not in told
    subscribed = [line for line in logs if line["event"] == "stream_subscribed"]
    assert {name: subscribed[0][name] for name in ("channel", "start", "origin")} == {
        "channel": CHANNEL,
        "start": -2,
        "origin": "default",
    }
    assert subscribed[-1]["origin"] == "stored"
    assert logs[-1]["event"] == "stream_closed"
