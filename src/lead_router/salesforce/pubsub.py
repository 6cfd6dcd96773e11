"""The Pub/Sub API event source: one stream a topic over gRPC, asked for more only when what came is on disk.

The server owes what was asked for, at most 100 events, and says something at least every 270 s; both are facts of its
documentation. It acknowledges no subscription: one counts as acknowledged when the topic may be heard and its first
request was answered, or not refused at once. Positions are opaque and stored apart from CometD's, as `pubsub:<topic>`.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Sequence
from typing import Any

import structlog

from lead_router.ports import Delivery, Position, Unreadable
from lead_router.salesforce.avro import Schemas, Undecodable
from lead_router.salesforce.changes import Reading, read_payload
from lead_router.salesforce.eventbus import ReplayPreset
from lead_router.salesforce.gaps import REFUSED, Gaps
from lead_router.salesforce.losses import Broken, Loss, Lost, Oversized, PositionExpired, Refused, TokenRefused
from lead_router.salesforce.pubsub_call import PubSubChannel, PubSubLimits, Stream
from lead_router.salesforce.pubsub_notices import TopicNotices
from lead_router.salesforce.pubsub_portion import Portion
from lead_router.salesforce.replay import Opaque, Progress
from lead_router.salesforce.stream_login import Limits, StreamLogin, Token
from lead_router.salesforce.subscription import Subscription

LOG = structlog.get_logger()
DEFAULTS = Limits()
SCHEMA_TRIES = 5
REACHED_S = 4.0  # whoever looks holds the channel meanwhile, and its lease is only a little longer
CALL_DEFAULTS = PubSubLimits()


def position_name(topic: str) -> str:
    """What a topic's position is stored under."""
    return f"pubsub:{topic}"


def unreachable(
    endpoint: str, topic: str, *, tenant: str, token: Token, authority: bytes | None, within_s: float = REACHED_S
) -> str:
    """Why nobody answers there, within `within_s` seconds; empty where somebody does, whatever he says."""

    async def ask() -> str:
        limits = PubSubLimits(request_s=within_s)
        channel = PubSubChannel(endpoint, tenant=tenant, authority=authority, limits=limits)
        channel.use(token)
        try:
            await channel.topic(topic)
        except Lost as lost:
            return f"{endpoint}: {lost.loss.text}" if isinstance(lost.loss, Broken) else ""
        finally:
            await channel.close()
        return ""

    return asyncio.run(ask())


class PubSubSource(Subscription):
    """One topic's events over Pub/Sub API.

    `token(refused)` gives a token other than the refused one; it is called in a thread of its own. `load_position` is
    called in the thread of `poll`, until it succeeds once. `from_start` says, for want of a position, whether all that
    is retained is wanted, or only what is new. What comes on the topics `notices` asks for a reload; `authority` is
    PEM.
    """

    def __init__(
        self,
        *,
        topic: str,
        tenant: str,
        endpoint: str,
        token: Callable[[str | None], Token],
        load_position: Callable[[], Position | None],
        dice: random.Random,
        from_start: bool = True,
        notices: Sequence[str] = (),
        authority: bytes | None = None,
        limits: Limits = DEFAULTS,
        call_limits: PubSubLimits = CALL_DEFAULTS,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        channel = PubSubChannel(endpoint, tenant=tenant, authority=authority, limits=call_limits)
        line = PubSubLine(
            channel=channel,
            topic=topic,
            login=StreamLogin(token, within_s=limits.request_s),
            load_position=load_position,
            from_start=from_start,
            notices=TopicNotices(channel, [name for name in notices if name != topic], again_s=limits.refused_s),
            limits=limits,
            call_limits=call_limits,
            monotonic=monotonic,
        )
        super().__init__(line, dice=dice, limits=limits, monotonic=monotonic, log=LOG.bind(channel=topic))


class PubSubLine:
    """See `subscription.Line`."""

    pause_s = 0.0

    def __init__(
        self,
        *,
        channel: PubSubChannel,
        topic: str,
        login: StreamLogin,
        load_position: Callable[[], Position | None],
        from_start: bool,
        notices: TopicNotices,
        limits: Limits,
        call_limits: PubSubLimits,
        monotonic: Callable[[], float],
    ) -> None:
        self._channel, self._topic, self._login = channel, topic, login
        self._load_position = load_position
        self._default = ReplayPreset.EARLIEST if from_start else ReplayPreset.LATEST
        self._notices = notices
        self._limits, self._monotonic = limits, monotonic
        self._progress = Progress(position_name(topic), Opaque())
        self._schemas = Schemas()
        self._portion = Portion(call_limits.answer_max_bytes)
        self._skipping = False
        self._failing = ("", 0)
        self._stream: Stream | None = None
        self._inbox: list[tuple[bytes, Reading]] = []
        self.answer_within_s = call_limits.idle_s
        self._log = LOG.bind(channel=topic)
        self._gaps = Gaps(self._log)

    async def open(self) -> None:
        """A token, the topic, the stream. An id that is refused makes way for all that is retained, and a sweep."""
        self._progress.load_once(self._load_position)  # any bytes are an id here
        self._channel.use(await self._login.log_in())
        told = await self._channel.topic(self._topic)
        if not told.can_subscribe:
            raise Lost(Refused(f"the org does not let this user hear {self._topic}"))
        try:
            await self._begin()
        except Lost as lost:
            if not isinstance(lost.loss, PositionExpired):
                raise
            self._expire()
            await self._begin()
        self._notices.begin()

    async def receive(self) -> Delivery:
        """The next answer. More is asked for first, as whoever asks for it has stored what came before."""
        stream = self._stream
        if stream is None:
            raise Lost(Broken("there is no stream"))
        await stream.ask()
        self._progress.awaiting(self._monotonic())
        response = await stream.receive()
        if not response.events:
            latest = response.latest_replay_id
            return self._progress.reached(latest) if latest else self._progress.confirmed()
        for event in response.events:
            self._inbox.append((event.replay_id, await self._read(event)))
        return self.taken()

    def taken(self) -> Delivery:
        """Everything that has come in, as one delivery."""
        inbox, self._inbox = self._inbox, []
        readings = [reading for _, reading in inbox]
        return Delivery(
            changes=tuple(change for reading in readings for change in reading.changes),
            unreadable=tuple(reading.unreadable for reading in readings if reading.unreadable),
            position=self._progress.behind([replay_id for replay_id, _ in inbox if replay_id]),
            gap=self._gaps.taken(reading.gap for reading in readings),
            reload=self._notices.taken(),
        )

    def settled(self) -> Delivery:
        """The last id, once nothing more came behind it; and what the notices say."""
        reload = self._notices.taken()
        if reload is not None:
            return Delivery(reload=reload)
        return self._progress.settled(self._monotonic() - self._limits.settle_s)

    def stored(self, position: Position) -> None:
        """The position is on disk."""
        self._skipping = False
        self._portion.moved()
        self._progress.stored(position)

    async def drop(self, loss: Loss) -> None:
        """End the stream; a dead connection goes with it."""
        self._progress.awaiting(None)
        self._end()
        match loss:
            case TokenRefused():
                self._login.refused()
            case PositionExpired():
                self._expire()  # the server took its time to say so
            case Oversized(text):
                self._ask_less(text)
            case Refused():
                self._gaps.sweep(REFUSED)
            case _:
                pass
        await self._notices.end()
        await self._channel.close()

    async def leave(self) -> None:
        """End the stream and free the sockets."""
        self._end()
        await self._notices.end()
        await self._channel.close()

    def _expire(self) -> None:
        self._log.warning("stream_position_expired")
        self._gaps.sweep("the stored replay id was refused: subscribed to all retained events instead")
        self._progress.expired()

    def _ask_less(self, text: str) -> None:
        if self._portion.too_large():
            self._log.info("stream_asks_less", events=self._portion.most)
            return
        self._gaps.miss(f"one event alone is too large: {text}")
        self._skipping = True  # its id is not known, and it would come again for ever

    async def _begin(self) -> None:
        """Subscribe; returns when the server has answered or, for a while, not refused."""
        self._end()
        replay_id, origin = self._progress.start()
        preset = self._default if replay_id is None else ReplayPreset.CUSTOM if replay_id else ReplayPreset.EARLIEST
        if self._skipping:
            replay_id, origin, preset = None, "skipped", ReplayPreset.LATEST
        self._stream = self._channel.subscribe(self._topic, self._portion)
        await self._stream.begin(preset, replay_id or b"")
        if preset is ReplayPreset.LATEST:
            self._gaps.sweep("subscribed to new events only: what came before is not known")
        self._log.info("stream_subscribed", start=preset.name.lower(), origin=origin)

    def _end(self) -> None:
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.end()

    async def _read(self, event: Any) -> Reading:
        body, schema_id = event.event.payload, event.event.schema_id
        try:
            schema = self._schemas.get(schema_id)
            if schema is None:
                schema = self._schemas.add(schema_id, await self._channel.schema(schema_id))
            payload = schema.read(body)
        except Undecodable as fault:
            return Reading((), Unreadable(self._topic, bytes(body), str(fault)))
        except Lost as lost:
            if not self._given_up(schema_id, lost.loss):
                raise
            return Reading((), Unreadable(self._topic, bytes(body), f"its schema was refused: {lost.loss.text}"))
        return read_payload(self._topic, payload, event.event.id)

    def _given_up(self, schema_id: str, loss: Loss) -> bool:
        """Whether no further try is worth it: an event whose schema the server fails at would hold up all others."""
        match loss:
            case Refused() | Oversized():
                return True
            case Broken():
                former, tries = self._failing
                self._failing = (schema_id, tries + 1 if former == schema_id else 1)
                return self._failing[1] >= SCHEMA_TRIES
            case _:
                return False
