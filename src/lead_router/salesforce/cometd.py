"""The CometD event source: one subscription over long polling, kept up as `subscription` says."""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import structlog

from lead_router.ports import Delivery, Position
from lead_router.salesforce import bayeux
from lead_router.salesforce.changes import read_event
from lead_router.salesforce.cometd_session import Session
from lead_router.salesforce.gaps import REFUSED, Gaps
from lead_router.salesforce.losses import (
    ClientEnded,
    Loss,
    Lost,
    Oversized,
    PositionExpired,
    Refused,
    TokenRefused,
)
from lead_router.salesforce.names import API_VERSION
from lead_router.salesforce.notices import Notices
from lead_router.salesforce.replay import Numbers, Progress
from lead_router.salesforce.stream_login import Limits, Token
from lead_router.salesforce.subscription import Subscription

LOG = structlog.get_logger()
DEFAULTS = Limits()
HELD_MIN_S, HELD_S = 0.05, 1.0
HASTE_FREE = 3
HASTE_PAUSE_MAX_S = 10.0


class CometdSource(Subscription):
    """One channel's events over CometD.

    `token(refused)` gives a token other than the refused one; it is called in a thread of its own. `load_position` is
    called in the thread of `poll`, until it succeeds once. `default_start`, for want of a position, is -2 (all that is
    retained) or -1 (new events only). What comes on the channels `notices` asks for a reload, and so does each
    subscription to them; where the org refuses one of them, the stream goes on without it. `ca_file` is as for REST.
    """

    def __init__(
        self,
        *,
        channel: str,
        token: Callable[[str | None], Token],
        load_position: Callable[[], Position | None],
        dice: random.Random,
        api_version: str = API_VERSION,
        default_start: int = bayeux.RETAINED,
        notices: Sequence[str] = (),
        limits: Limits = DEFAULTS,
        ca_file: Path | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        line = CometdLine(
            session=Session(token, api_version, limits, ca_file),
            channel=channel,
            load_position=load_position,
            dice=dice,
            default_start=default_start,
            notices=Notices([name for name in notices if name != channel], again_s=limits.refused_s),
            limits=limits,
            monotonic=monotonic,
            log=LOG.bind(channel=channel, api_version=api_version),
        )
        super().__init__(
            line, dice=dice, limits=limits, monotonic=monotonic, log=LOG.bind(channel=channel, api_version=api_version)
        )


class CometdLine:
    """See `subscription.Line`."""

    def __init__(
        self,
        *,
        session: Session,
        channel: str,
        load_position: Callable[[], Position | None],
        dice: random.Random,
        default_start: int,
        notices: Notices,
        limits: Limits,
        monotonic: Callable[[], float],
        log: structlog.stdlib.BoundLogger,
    ) -> None:
        self._session = session
        self._channel = channel
        self._load_position = load_position
        self._dice = dice
        self._default_start = default_start
        self._notices = notices
        self._limits = limits
        self._monotonic = monotonic
        self._log = log
        self._progress = Progress(channel, Numbers())
        self._up = False
        self._gaps = Gaps(log)
        self._hasty = 0
        self._pause_s = 0.0

    @property
    def pause_s(self) -> float:
        """What the server advises, and more where it answers at once again and again."""
        return self._pause_s

    @property
    def answer_within_s(self) -> float:
        """How long a connect may last."""
        return self._session.advice.timeout_s + self._limits.slack_s

    async def open(self) -> None:
        """Log in, shake hands, subscribe to the channel and then to the notices."""
        if not self._progress.load_once(self._load_position):
            self._gaps.miss("the stored position is no CometD replay id: subscribed to all retained events instead")
        await self._session.open()
        await self._subscribe()
        self._notices.lost()
        await self._notices.subscribe(self._session, self._monotonic())
        self._up = True
        self._pause_s = 0.0

    async def receive(self) -> Delivery:
        """One connect; before it what is missing of the notices."""
        if await self._notices.subscribe(self._session, self._monotonic()):
            return self.taken()
        began = self._monotonic()
        self._progress.awaiting(began)
        await self._session.connect()
        advice = self._session.advice
        self._pause_s = advice.interval_s
        if self._session.inbox:
            self._hasty = 0
            return self.taken()
        # A server that answers at once, without an event, again and again, would otherwise be asked without end.
        at_once = self._monotonic() - began < max(HELD_MIN_S, min(HELD_S, advice.timeout_s / 2))
        self._hasty = self._hasty + 1 if at_once else 0
        if self._hasty > HASTE_FREE:
            longest_s = min(self._limits.pause_max_s, self._limits.pause_s * 2 ** min(self._hasty - HASTE_FREE, 30))
            self._pause_s = max(
                self._pause_s, min(HASTE_PAUSE_MAX_S, self._dice.uniform(self._limits.pause_s, longest_s))
            )
        return self._progress.confirmed()

    def taken(self) -> Delivery:
        """Everything that has come in, as one delivery."""
        readings = [read_event(self._channel, event) for event in self._notices.sorted_out(self._session.inbox)]
        self._session.inbox = []
        ids = [reading.replay_id for reading in readings if reading.replay_id is not None]
        return Delivery(
            changes=tuple(change for reading in readings for change in reading.changes),
            unreadable=tuple(reading.unreadable for reading in readings if reading.unreadable),
            position=self._progress.behind(ids),
            gap=self._gaps.taken(reading.gap for reading in readings),
            reload=self._notices.taken(),
        )

    def settled(self) -> Delivery:
        """The last id, if a connect has been waiting long enough behind it."""
        return self._progress.settled(self._monotonic() - self._limits.settle_s)

    def stored(self, position: Position) -> None:
        """The position is on disk."""
        self._progress.stored(position)

    async def drop(self, loss: Loss) -> None:
        """Another token or a fresh client, where that is what is needed."""
        self._up = False
        self._progress.awaiting(None)
        self._hasty = 0
        self._pause_s = self._session.advice.interval_s
        match loss:
            case TokenRefused():
                self._session.token_refused()
            case ClientEnded():
                await self._session.forget()
            case Oversized(text):
                self._gaps.miss(text)
            case Refused():
                self._gaps.sweep(REFUSED)
            case _:
                pass

    async def leave(self) -> None:
        """Say goodbye, if the server knows this client, and free the sockets."""
        if self._up:
            with contextlib.suppress(Lost):
                await self._session.leave()
        await self._session.forget()

    async def _subscribe(self) -> None:
        stored, origin = self._progress.start()
        start = self._default_start if stored is None else stored
        try:
            await self._session.subscribe(self._channel, start)
        except Lost as lost:
            if not isinstance(lost.loss, PositionExpired) or start == bayeux.RETAINED:
                raise
            self._log.warning("stream_position_expired", start=start)
            self._gaps.sweep(f"replay id {start} was refused: subscribed to all retained events instead")
            self._progress.expired()
            start, origin = bayeux.RETAINED, "expired"
            await self._session.subscribe(self._channel, start)
        if start == bayeux.NEW_ONLY:
            self._gaps.sweep("subscribed to new events only: what came before is not known")
        self._log.info("stream_subscribed", start=start, origin=origin)
