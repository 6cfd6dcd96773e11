"""A rig's own stream without sockets: what the simulated org committed, read as production reads events."""

from __future__ import annotations

from functools import partial
from typing import Any

from lead_router.loops.current import Current
from lead_router.loops.intake import Intake
from lead_router.ports import Delivery, Position
from lead_router.salesforce.changes import own_change, read_event
from org_simulator.events import Event
from support.worker_rig import Rig

CHANNEL = "/data/LeadChangeEvent"


class Heard:
    """An EventSource over the org's change log, from now on."""

    def __init__(self, rig: Rig, channel: str = CHANNEL) -> None:
        self._channel = channel
        self._log = rig.org.events
        self._serial = self._log.position(-1)
        self._next = self._serial

    def poll(self, wait_s: float) -> Delivery:
        del wait_s
        events = [event for event in self._log.since(self._serial) if event.channel == self._channel]
        if not events:
            return Delivery()
        self._next = events[-1].serial
        told = [_told(event) for event in events]
        changes = tuple(change for event in told for change in read_event(self._channel, event).changes)
        return Delivery(changes, position=Position(self._channel, str(events[-1].replay_id).encode()))

    def stored(self, delivery: Delivery) -> None:
        del delivery
        self._serial = self._next

    def state(self) -> str:
        return "subscribed"

    def close(self) -> None:
        pass


def _told(event: Event) -> dict[str, Any]:
    """An event as the wire brings it."""
    uuid = {} if event.event_uuid is None else {"EventUuid": event.event_uuid}
    return {"data": {"payload": event.payload, "event": {"replayId": event.replay_id, **uuid}}}


def intake(rig: Rig, channel: str = CHANNEL) -> Intake:
    """The production intake on the rig's own stream; it knows the configuration of this moment."""
    return Intake(
        Heard(rig, channel),
        rig.open(),
        Current(rig.client.configuration()),
        channel=channel,
        org_id=rig.org.org_id,
        own=partial(own_change, user_id=rig.org.integration_user_id),
        wait_s=0.0,
        wake=lambda: None,
    )


class Life:
    """A router that listens: each `goes_on` hears what was committed and routes it."""

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self.intake = intake(rig)
        self.router = rig.worker(name="listening")

    def goes_on(self) -> None:
        self.rig.clock.advance(60)
        while self.intake.step():
            self.rig.drain(self.router)
        self.rig.clock.advance(60)

    def heard(self) -> int:
        return len(self.rig.jobs())
