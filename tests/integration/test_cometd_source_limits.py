"""The CometD source when it must hold back: never hot, slow where it is refused, on time where others are slow."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from lead_router.errors import LoginRefused, StoreUnavailable, Unreachable
from lead_router.ports import Delivery
from lead_router.salesforce.stream_login import Limits
from support.cometd_rig import QUICK, Rig, at
from support.fault_cometd import BAD_TOKEN, CONNECT, HANDSHAKE, SUBSCRIBE, UNKNOWN_CLIENT, Drop, Http, Say
from support.lead_events import created

QUOTA = "403::Organization total events daily limit exceeded"


@pytest.fixture
def rig():
    with Rig() as rig:
        yield rig


@pytest.mark.parametrize(
    ("place", "fault"),
    [
        (HANDSHAKE, Say("403::Handshake denied", {"reconnect": "handshake", "interval": 0})),
        (HANDSHAKE, Say(BAD_TOKEN, {"reconnect": "handshake", "interval": 0})),
        (HANDSHAKE, Http(401)),
        (HANDSHAKE, Drop()),
        (SUBSCRIBE, Say(UNKNOWN_CLIENT, {"reconnect": "handshake", "interval": 0})),
        (CONNECT, Say(UNKNOWN_CLIENT, {"reconnect": "handshake", "interval": 0})),
        (CONNECT, Say("", {"reconnect": "handshake", "interval": 0}, successful=True)),
        (CONNECT, Say("", {"reconnect": "retry", "interval": 0}, successful=True)),
        (CONNECT, Http(200, b"[]")),
    ],
)
def test_no_fault_makes_a_hot_loop(place, fault, rig):
    """A8: at most one handshake per step of the backoff, one token fetch per handshake, and no spinning connects."""
    limits = Limits(pause_s=0.1, pause_max_s=0.4, refused_s=1, request_s=1, slack_s=0.5)
    rig.server.tokens = {f"token-{number}" for number in range(1, 50)}
    rig.server.fail_always(place, fault)
    rig.open(limits=limits)
    rig.fill_for(0.7)
    assert 1 <= rig.server.count(HANDSHAKE) <= 8
    assert rig.server.count(CONNECT) <= 16
    assert len(rig.tokens.refreshes) <= rig.server.count(HANDSHAKE)


def test_pauses_grow_between_failures(rig):
    """Exponential backoff with a ceiling: the pauses told in the log grow, and none is below the least."""
    limits = Limits(pause_s=0.01, pause_max_s=0.2)
    rig.server.fail_always(HANDSHAKE, Drop())
    with capture_logs() as logs:
        rig.open(limits=limits)
        rig.fill(lambda: rig.server.count(HANDSHAKE) >= 8)
    pauses = [line["pause_s"] for line in logs if line["event"] == "stream_lost"]
    assert min(pauses) >= 0.01
    assert max(pauses) <= 0.2
    assert sum(pauses[-4:]) > 2 * sum(pauses[:3])


def test_a_success_ends_the_growth_of_pauses(rig):
    """After a connect that was answered, the next failure is the first again."""
    limits = Limits(pause_s=0.01, pause_max_s=5, settle_s=0.05)
    rig.server.fail(HANDSHAKE, *[Drop()] * 6)
    with capture_logs() as logs:
        rig.settle(limits=limits)
        rig.server.forget_clients()
        rig.fill(lambda: rig.server.count(HANDSHAKE) == 8)
    assert [line["failures"] for line in logs if line["event"] == "stream_lost"] == [1, 2, 3, 4, 5, 6, 1]


def test_a_failure_with_an_interval_waits_for_it(rig):
    """The advice of a reply without success counts like any other."""
    rig.server.fail(CONNECT, Say(UNKNOWN_CLIENT, {"reconnect": "handshake", "interval": 250}))
    with capture_logs() as logs:
        rig.settle()
    assert [line["pause_s"] for line in logs if line["event"] == "stream_lost"] == [0.25]


def test_the_advised_interval_is_in_milliseconds(rig):
    """An interval of 300 is a third of a second, neither ignored nor taken for minutes."""
    rig.server.interval = 300
    rig.server.hold_s = 0.05
    rig.settle()
    before = rig.server.count(CONNECT)
    rig.fill_for(1.0)
    assert 2 <= rig.server.count(CONNECT) - before <= 4


@pytest.mark.parametrize("advice", [{"interval": "soon"}, {"timeout": -1}, {"timeout": 1e308}, "none", ["none"]])
def test_advice_that_makes_no_sense_is_ignored(advice, rig):
    """A malformed advice changes nothing."""
    rig.settle()
    rig.server.fail(CONNECT, Say("", advice, successful=True))
    rig.server.publish(created(2))
    rig.fill(lambda: rig.shelf.position == at(2))
    assert rig.server.count(HANDSHAKE) == 1


@pytest.mark.parametrize(
    ("place", "text"),
    [
        (SUBSCRIBE, QUOTA),
        (CONNECT, QUOTA),
        (HANDSHAKE, "403::Organization concurrent user limit exceeded"),
        (SUBSCRIBE, "403::User not allowed to subscribe CDC without View All Data permissions"),
        (SUBSCRIBE, "400::The channel you requested to subscribe to doesn't exist {/data/LeadChangeEvent}"),
    ],
)
def test_a_refusal_is_retried_slowly_and_without_a_login(place, text, rig):
    """A23: an allowance that is used up, or a right that is missing, is `refused`; it heals when the cause is gone."""
    rig.server.fail_always(place, Say(text, {"reconnect": "none"}))
    source = rig.open()
    rig.fill(lambda: source.state() == "refused")
    rig.fill_for(0.25)
    assert (source.state(), rig.server.count(HANDSHAKE), rig.tokens.refreshes) == ("refused", 1, [])
    rig.server.fail_always(place, None)
    rig.fill(lambda: source.state() == "subscribed")
    assert source.state() == "subscribed"


def test_refused_credentials_are_retried_slowly(rig):
    """LoginRefused is for a person: state `refused`, no exception, no stream of logins; sooner than other refusals."""
    tries = []

    def refuse(refused):
        tries.append(refused)
        if len(tries) == 1:
            raise LoginRefused("check the client secret")
        return rig.tokens(refused)

    source = rig.open(token=refuse, limits=replace(QUICK, refused_s=3600))
    rig.fill(lambda: source.state() == "refused")
    rig.fill_for(0.1)
    assert tries == [None]
    rig.fill(lambda: source.state() == "subscribed")


@pytest.mark.parametrize("fault", [Unreachable("no route"), StoreUnavailable("locked")])
def test_a_login_or_a_database_that_is_away_for_a_while_is_outlived(fault, rig):
    """Transient faults of what the source asks are its own to wait out."""
    rig.shelf.position = at(3)
    tries = []

    def first_fails(use):
        def call(*given):
            tries.append(given)
            if len(tries) == 1:
                raise fault
            return use(*given)

        return call

    option = (
        {"load_position": first_fails(rig.shelf.load)}
        if isinstance(fault, StoreUnavailable)
        else {"token": first_fails(rig.tokens)}
    )
    source = rig.open(**option)
    rig.fill(lambda: source.state() == "subscribed")
    assert rig.server.starts() == [3]


def test_a_login_that_hangs_does_not_hold_the_poll(rig):
    """The token is fetched in a thread: polls return on time, and the step times out."""
    gate = threading.Event()
    calls = []

    def slow(refused):
        calls.append(refused)
        if len(calls) == 1:
            gate.wait(10)
        return rig.tokens(refused)

    source = rig.open(token=slow, limits=Limits(pause_s=0.02, pause_max_s=0.1, request_s=0.2, settle_s=0.05))
    began = time.monotonic()
    assert source.poll(0.05) == Delivery()
    assert time.monotonic() - began < 1
    rig.fill(lambda: source.state() == "subscribed")
    gate.set()
