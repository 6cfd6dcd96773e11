"""Processes that may listen, stepped by hand over a rig's own stream."""

from __future__ import annotations

from functools import partial

from lead_router.loops.current import Current
from lead_router.loops.intake import Intake
from lead_router.loops.listening import Listening
from lead_router.ports import Delivery, Hold, Position
from lead_router.salesforce.changes import own_change
from support.hearing import CHANNEL, Heard
from support.worker_rig import Rig


class Stream(Heard):
    """Starts where a subscription would, and says when it was left."""

    def __init__(self, rig: Rig, position: Position | None) -> None:
        super().__init__(rig)
        self._serial = self._next = rig.org.events.position(int(position.replay_id) if position else -2)
        self.left = False
        self.notice: str | None = None
        self.deaf = False
        self.word = "subscribed"

    def state(self) -> str:
        return self.word

    def poll(self, wait_s: float) -> Delivery:
        """Nothing where it is deaf: it stays subscribed, and the server says nothing."""
        if self.deaf:
            return Delivery()
        brought = super().poll(wait_s)
        if self.notice is not None:
            brought, self.notice = Delivery(reload=self.notice), None
        return brought

    def close(self) -> None:
        self.left = True


class Process:
    """One process of several; `streams` are the subscriptions that it made, in order."""

    def __init__(self, rig: Rig, name: str) -> None:
        self.rig = rig
        self.current = Current(rig.client.configuration())
        self.streams: list[Stream] = []
        self.fault: Exception | None = None
        self.deaf = False
        self.loop = Listening(
            rig.open(), self.current, self._intake, channel=CHANNEL, name=name, monotonic=rig.clock.monotonic
        )

    def _intake(self, hold: Hold) -> Intake:
        if self.fault is not None:
            raise self.fault
        store = self.rig.open()
        self.streams.append(Stream(self.rig, store.position(CHANNEL)))
        self.streams[-1].deaf = self.deaf
        own = partial(own_change, user_id=self.rig.org.integration_user_id)
        return Intake(
            self.streams[-1],
            store,
            self.current,
            channel=CHANNEL,
            org_id=self.rig.org.org_id,
            own=own,
            wait_s=0.0,
            wake=lambda: None,
            hold=hold,
        )

    def steps(self, count: int = 3) -> list[bool]:
        return [self.loop.step() for _ in range(count)]

    @property
    def listens(self) -> bool:
        return bool(self.streams) and not self.streams[-1].left
