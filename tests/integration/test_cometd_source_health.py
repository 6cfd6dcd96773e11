"""The CometD source never says that it is subscribed when it is not, for that word is what health stands on."""

from __future__ import annotations

import random

import pytest

from lead_router.salesforce.cometd import CometdSource
from lead_router.salesforce.stream_login import Limits
from lead_router.salesforce.subscription import OVERDUE_S
from support.cometd_rig import CHANNEL, QUICK, Rig, at
from support.fault_cometd import CONNECT, HANDSHAKE, SUBSCRIBE, Say, Stall
from support.lead_events import created, identity

NOTICES = "/data/Routing_Rule__ChangeEvent"
BUSY = "503::Server is too busy.  Please try your request again later."


@pytest.fixture
def rig():
    with Rig() as rig:
        yield rig


def test_after_a_lost_session_every_channel_is_subscribed_before_it_is_ready(rig):
    """A1: handshake and connects succeed, the second channel is still asked for: not ready, and nothing was lost.

    The stream's own channel starts behind the last stored id.
    """
    source = rig.settle(notices=(NOTICES,))
    rig.server.fail(SUBSCRIBE, None, Stall())
    rig.server.forget_clients()
    rig.fill(lambda: len(_asked(rig)) == 4)
    state = source.state()
    rig.server.publish(created(2))
    rig.fill(lambda: rig.shelf.position == at(2))

    assert [frame["subscription"] for frame in _asked(rig)[:4]] == [CHANNEL, NOTICES, CHANNEL, NOTICES]
    assert [frame["ext"]["replay"] for frame in _asked(rig)[2:4]] == [{CHANNEL: 1}, {NOTICES: -1}]
    assert (state, source.state()) == ("connecting", "subscribed")
    assert rig.shelf.brought == [identity(1), identity(2)]


def _asked(rig):
    return [frame for channel, frame in rig.server.seen if channel == SUBSCRIBE]


def test_connects_that_succeed_without_a_subscription_are_never_called_subscribed(rig):
    """A1: each handshake and connect is answered well and each subscription is not, for as long as that lasts."""
    source = rig.settle()
    rig.server.fail_always(SUBSCRIBE, Say(BUSY))
    rig.server.forget_clients()
    rig.fill(lambda: source.state() != "subscribed")
    seen = set()

    def again():
        seen.add(source.state())
        return rig.server.count(SUBSCRIBE) >= 6

    rig.fill(again)
    assert "subscribed" not in seen


def test_a_client_that_the_server_ends_is_not_ready_until_a_fresh_one_is_subscribed(rig):
    """A7: advice none: another handshake after a pause, no exit and no idling; red until it is heard again."""
    source = rig.settle(limits=Limits(pause_s=0.2, pause_max_s=0.3, settle_s=0.05))
    rig.server.fail(CONNECT, Say("403::Gone", {"reconnect": "none", "interval": 0}))
    rig.fill(lambda: source.state() != "subscribed")
    rig.server.publish(created(2))
    rig.fill(lambda: rig.shelf.position == at(2))

    assert (source.state(), rig.server.count(HANDSHAKE)) == ("subscribed", 2)


def test_a_half_open_connection_is_given_up_after_its_time_out(rig):
    """A9: idle, and the other end is gone without a word: not ready within the advised time-out and a little more.

    What came meanwhile is brought by the next session.
    """
    rig.server.timeout = 300
    source = rig.settle(limits=Limits(pause_s=0.2, pause_max_s=0.3, slack_s=0.3, settle_s=0.05))
    rig.server.fail(CONNECT, Stall())
    rig.fill(lambda: source.state() != "subscribed")
    rig.server.publish(created(2))
    rig.fill(lambda: rig.shelf.position == at(2))

    assert (source.state(), rig.shelf.brought) == ("subscribed", [identity(1), identity(2)])


class _Watch:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_stream_that_nobody_polls_is_overdue(rig):
    """Its own time-outs need a poll: where none comes, the word changes by the clock alone, and back with an answer."""
    watch = _Watch()
    source = CometdSource(
        channel=CHANNEL,
        token=rig.tokens,
        load_position=rig.shelf.load,
        dice=random.Random(1),
        limits=QUICK,
        monotonic=watch,
    )
    rig.sources.append(source)
    rig.server.publish(created(1))
    while source.state() != "subscribed":
        source.poll(0.0)
    longest_s = rig.server.timeout / 1000 + QUICK.slack_s + OVERDUE_S
    watch.now += longest_s
    in_time = source.state()
    watch.now += 1
    late = source.state()
    rig.fill(lambda: source.state() == "subscribed")

    assert (in_time, late) == ("subscribed", "overdue")
