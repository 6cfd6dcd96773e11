"""Whatever keeps events from the stream ends in an alarm, a sweep and owners for the leads: none is lost."""

from __future__ import annotations

import pytest
from structlog.testing import capture_logs

from lead_router.errors import RateLimited
from lead_router.loops.current import Current
from lead_router.loops.intake import Intake
from lead_router.ports import Position
from lead_router.salesforce.changes import own_change
from lead_router.salesforce.cometd_session import Limits
from support.cometd_rig import CHANNEL, at
from support.cometd_rig import Rig as StreamRig
from support.fault_cometd import SUBSCRIBE, Say
from support.lead_events import created
from support.worker_rig import Rig

QUOTA = "403::Organization total events daily limit exceeded"


class Whole:
    """The production source on a server that fails on order, and behind it intake, upkeep and worker on one org."""

    def __init__(self, rig: Rig, stream: StreamRig) -> None:
        self.rig, self.stream = rig, stream
        self.upkeep = rig.upkeep()

    def listens(self, position: Position | None, **options):
        """From a position that is stored; a first sweep is over."""
        self.upkeep.step()
        store = self.rig.open()
        if position is not None:
            store.record([], position=position)
        source = self.stream.open(load_position=lambda: store.position(CHANNEL), **options)
        self.intake = Intake(
            source,
            store,
            Current(self.rig.client.configuration()),
            channel=CHANNEL,
            org_id=self.rig.org.org_id,
            own=lambda change: own_change(change, user_id=self.rig.org.integration_user_id),
            wait_s=0.02,
            wake=lambda: None,
        )

    def goes_on(self, alarm: str, steps: int = 500) -> list[str]:
        """Until the alarm was told and all leads have owners; the reasons of the sweeps meanwhile, by the log."""
        with capture_logs() as logs:
            for _ in range(steps):
                self.intake.step()
                self.upkeep.step()
                self.rig.router.step()
                swept = [line["reason"] for line in logs if line["event"] == "leads_swept"]
                if swept and alarm in {line["event"] for line in logs}:
                    break
            self.rig.drain()
        assert [line["log_level"] for line in logs if line["event"] == alarm][:1] == ["warning"], alarm
        return swept


@pytest.fixture
def whole(tmp_path):
    rig = Rig(tmp_path)
    with StreamRig() as stream:
        made = Whole(rig, stream)
        yield made
        made.intake.close()
    rig.close()


def _expired(whole):
    whole.stream.server.first = 50
    whole.listens(at(7))


def _foreign(whole):
    whole.listens(Position(CHANNEL, b"\x00\x00\x00\x00\x02\x42\xaf\x88"))


def _overflow(whole):
    whole.listens(at(1))
    whole.stream.server.publish(created(2, changeType="GAP_OVERFLOW", recordIds=["000000000000000AAA"]), replay_id=2)


def _oversized(whole):
    limits = Limits(pause_s=0.02, pause_max_s=0.05, settle_s=0.05, answer_max_bytes=20_000)
    whole.listens(at(1), limits=limits)
    whole.stream.server.publish(created(2) | {"Description": "x" * 30_000}, replay_id=2)


def _unreadable(whole):
    whole.listens(at(1))
    whole.stream.server.publish(created(2, recordIds=None), replay_id=2)


def _quota(whole):
    whole.stream.server.fail_always(SUBSCRIBE, Say(QUOTA))
    whole.listens(at(1))


@pytest.mark.parametrize(
    ("befalls", "alarm", "word"),
    [
        (_expired, "stream_position_expired", "replay id 7 was refused"),
        (_foreign, "stream_gap", "no CometD replay id"),
        (_overflow, "stream_gap", "GAP_OVERFLOW"),
        (_oversized, "stream_gap", "exceeds 20000 bytes"),
        (_unreadable, "events_quarantined", "unreadable event"),
        (_quota, "stream_refused", "the stream is refused"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_what_the_stream_lost_is_found_by_a_sweep_and_told(whole, befalls, alarm, word):
    """A2, A4, A11, A17, A23, A25, P38, P43: the leads came meanwhile, no event tells of them, and no sweep is due.

    Each ends in one alarm by its name, a sweep that names the reason, and an owner for each lead, given once.
    """
    befalls(whole)
    leads = [whole.rig.rest_org.lead() for _ in range(3)]
    swept = whole.goes_on(alarm)

    assert word in swept[0]
    assert [whole.rig.owner(lead) for lead in leads] == ["Ann", "Bob", "Ann"]
    assert whole.rig.turns() == [1, 2, 3]


def test_a_refused_stream_is_swept_for_until_it_is_heard_again(whole):
    """A23: polling takes over: each refused try asks for a sweep; healed, events are heard from the stored position."""
    _quota(whole)
    first = whole.rig.rest_org.lead()
    whole.goes_on("stream_refused")
    second = whole.rig.rest_org.lead()
    whole.goes_on("stream_refused")
    whole.stream.server.fail_always(SUBSCRIBE, None)
    while whole.intake.state() != "subscribed":
        whole.intake.step()

    assert [whole.rig.owner(lead) for lead in (first, second)] == ["Ann", "Bob"]
    assert set(whole.stream.server.starts()) == {1}


@pytest.fixture
def rig(tmp_path):
    made = Rig(tmp_path)
    yield made
    made.close()


def test_a_used_up_allowance_rests_the_sweeps_too(rig):
    """P37: refused once, upkeep asks the org for nothing until it may be back; then the sweep that was due is made."""
    upkeep = rig.upkeep(breaker=rig.breaker)
    lead = rig.rest_org.lead()
    rig.rest_org.fault("request_limit", path="/query", value="daily", count=2)
    with pytest.raises(RateLimited):
        upkeep.step()
    calls = rig.rest_org.calls()
    idle = [upkeep.step() for _ in range(20)]
    asked = rig.rest_org.calls() - calls
    told = rig.breaker.why()
    rig.clock.advance(61)
    with pytest.raises(RateLimited):
        upkeep.step()
    rig.clock.advance(61)
    upkeep.step()
    rig.drain()

    assert (idle, asked, told is not None and told.startswith("RateLimited")) == ([False] * 20, 0, True)
    assert rig.owner(lead) == "Ann"


def test_one_failing_part_of_upkeep_stops_no_other(rig):
    """C28: the configuration cannot be read, for whatever reason; leads that no event brought are found."""
    upkeep = rig.upkeep()
    lead = rig.rest_org.lead()
    upkeep._current.outdate("test")
    rig.client.configuration = rig.client.glance = _raises
    rig.clock.advance(3)
    with pytest.raises(RuntimeError):
        upkeep.step()
    rig.drain()

    assert rig.owner(lead) == "Ann"


def _raises():
    raise RuntimeError("a fault that nobody foresaw")
