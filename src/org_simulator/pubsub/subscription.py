"""One Subscribe call: how many events are owed, where it stands, and when it ends."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any

import grpc

from org_simulator.clock import ManualClock
from org_simulator.events import ALL_CHANGES, ALL_RETAINED, NEW_ONLY, UnknownReplayId
from org_simulator.pubsub import interface

if TYPE_CHECKING:
    from org_simulator.events import ChangeLog, Event
    from org_simulator.org import Org
    from org_simulator.pubsub.bodies import Bodies
    from org_simulator.pubsub.schemas import EventSchema
    from org_simulator.pubsub.terms import Terms

_LOOK_S = 0.05
_BREAKING = ("cut", "http", "busy", "disconnect", "drop_session")  # over CometD several faults, here all one
_CODES = "sfdc.platform.eventbus.grpc."
_BYTES = struct.Struct(">Q")


class Subscription:
    """A stream of one topic from `begin` until `responses` ends; then `end` is status, error code and text."""

    def __init__(
        self,
        org: Org,
        log: ChangeLog,
        terms: Terms,
        topic: str,
        schema_of: Callable[[str], EventSchema | None],
        *,
        bodies: Bodies,
        token: str,
        allowed: frozenset[str],
    ) -> None:
        self._org, self._log, self._terms, self._topic = org, log, terms, topic
        self._schema_of = schema_of
        self._bodies = bodies
        self._token = token
        self._allowed = allowed
        self._epoch = log.session_epoch
        self._cursor = 0
        self._woken = asyncio.Event()
        self.pending = 0
        self._over = False
        self.end: tuple[grpc.StatusCode, str, str] = (grpc.StatusCode.OK, "", "the stream ended")

    def begin(self, request: Any) -> str | None:
        """Take the first request; the error code's last part where it cannot be served."""
        match request.replay_preset:
            case interface.LATEST:
                number = NEW_ONLY
            case interface.EARLIEST:
                number = ALL_RETAINED
            case _:
                if len(request.replay_id) != _BYTES.size:
                    return "replayid.validation.failed"
                number = _BYTES.unpack(request.replay_id)[0]
        try:
            self._cursor = self._log.position(number)
        except UnknownReplayId:
            return "replayid.corrupted"
        early = self._log.faults.take("rewind") if number != NEW_ONLY else None
        self._cursor = max(0, self._cursor - (int(early or 1) if early is not None else 0))
        return None if self._grant(request.num_requested) else "requested.events.invalid"

    def more(self, request: Any) -> None:
        """A further request: it may only ask for more events of the same topic."""
        if request.topic_name and request.topic_name != self._topic:
            self._stop(grpc.StatusCode.INVALID_ARGUMENT, "", "the topic of a subscription cannot change")
        elif not self._grant(request.num_requested):
            code = f"{_CODES}subscription.fetch.requested.events.invalid"
            self._stop(grpc.StatusCode.INVALID_ARGUMENT, code, "the number of events must be positive")
        self.wake()

    def left(self) -> None:
        """The client sends no more; what it is owed is still sent."""
        self.wake()

    def wake(self) -> None:
        """Look again."""
        self._woken.set()

    async def responses(self) -> AsyncIterator[Any]:
        """Answers as they come due."""
        spoken = owed = self._now()
        while not self._ended():
            self._woken.clear()
            events = self._next()
            now = self._now()
            if self.pending or events:
                owed = now
            if events and self._log.faults.take("lose_answer") is not None:
                self._stop(grpc.StatusCode.UNAVAILABLE, "", "RST_STREAM closed stream")
            elif events or now - spoken >= self._terms.keepalive_s:
                spoken = now
                yield self._response(events)
            elif now - owed >= self._terms.idle_s:
                self._stop(grpc.StatusCode.OK, "", "nothing was asked for")
            else:
                await self._wait(min(spoken + self._terms.keepalive_s, owed + self._terms.idle_s) - now)

    def _ended(self) -> bool:
        """Whether it is over, for one of its own reasons or because of a fault, a move of the org or a dead token."""
        if not self._over and self._epoch != self._log.session_epoch:
            self._stop(grpc.StatusCode.UNAVAILABLE, f"{_CODES}service.unavailable", "the service is unavailable")
        if not self._over and self._log.faults.first(_BREAKING) is not None:
            self._stop(grpc.StatusCode.UNAVAILABLE, "", "RST_STREAM closed stream")
        mortal = self._org.switches.pubsub_stream_ends_with_token
        if not self._over and mortal and self._org.sessions.user(self._token) is None:
            self._stop(grpc.StatusCode.UNAUTHENTICATED, f"{_CODES}service.auth.error", "the session is invalid")
        return self._over

    def _next(self) -> list[Event]:
        found: list[Event] = []
        limit = min(self.pending, self._terms.events_max)
        for event in self._log.since(self._cursor) if limit else ():
            if len(found) == limit:
                break
            self._cursor = event.serial
            if self._topic == event.channel or (self._topic == ALL_CHANGES and event.channel in self._allowed):
                found += [event] * (1 if self._log.faults.take("duplicate") is None else 2)
        return found

    def _response(self, events: list[Event]) -> Any:
        self.pending = max(0, self.pending - len(events))
        response = interface.FetchResponse(pending_num_requested=self.pending)
        for event in events:
            schema = self._schema_of(event.channel)
            if schema is None:  # pragma: no cover - every channel of the log has a schema
                continue
            told = response.events.add(replay_id=replay_bytes(event.replay_id))
            told.event.id = event.event_uuid or ""
            told.event.schema_id = schema.id
            told.event.payload = self._bodies.of(event, schema)
        response.latest_replay_id = replay_bytes(self._log.replay_id_at(self._cursor))
        return response

    def _grant(self, number: int) -> bool:
        if number <= 0:
            return False
        self.pending = min(self.pending + number, self._terms.pending_max)
        return True

    def _stop(self, status: grpc.StatusCode, code: str, text: str) -> None:
        self._over = True
        self.end = (status, code, text)

    def _now(self) -> float:
        return self._org.clock.monotonic()

    async def _wait(self, seconds: float) -> None:
        manual = isinstance(self._org.clock, ManualClock)
        try:
            await asyncio.wait_for(self._woken.wait(), _LOOK_S if manual else max(0.0, seconds))
        except TimeoutError:
            return


def replay_bytes(number: int) -> bytes:
    """A replay id as it is on the wire: eight bytes, the highest first, which no client may rely on."""
    return _BYTES.pack(number)
