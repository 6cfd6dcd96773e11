"""The CometD event source: one subscription over long polling, kept up through everything but a lack of permission.

    connecting ──▶ subscribed ──▶ backing-off ──▶ connecting …    (subscribed and unheard for too long: overdue)
         └───────────────┴──────▶ refused: only time or a person helps; tried again, slowly
    closed: for good

Whatever ends a session, the next one subscribes from the last stored position: an answer that died on the way is sent
again by the server, and the job store knows each event by its key. After a failure no step is taken without a pause.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import structlog

from lead_router.errors import LeadRouterError
from lead_router.ports import Delivery, Position
from lead_router.salesforce import bayeux
from lead_router.salesforce.bayeux import (
    Broken,
    ClientEnded,
    Oversized,
    PositionExpired,
    Refused,
    SessionLost,
    TokenRefused,
)
from lead_router.salesforce.changes import read_event
from lead_router.salesforce.cometd_session import Limits, Lost, Session, Token
from lead_router.salesforce.names import API_VERSION
from lead_router.salesforce.notices import Notices
from lead_router.salesforce.replay import Progress, start_of
from lead_router.salesforce.wire import trusting

LOG = structlog.get_logger()
DEFAULTS = Limits()
HELD_MIN_S, HELD_S = 0.05, 1.0
OVERDUE_S = 15.0  # beyond the longest pause and connect: nobody is left who would end it
HASTE_FREE = 3
HASTE_PAUSE_MAX_S = 10.0


class CometdSource:
    """One channel's events (`ports.EventSource`). Belongs to one thread; only `state` may be asked from another.

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
        self._channel = channel
        self._load_position = load_position
        self._dice = dice
        self._default_start = default_start
        self._limits = limits
        self._monotonic = monotonic
        self._log = LOG.bind(channel=channel, api_version=api_version)
        self._runner = asyncio.Runner()
        self._session = Session(token, api_version, limits, trusting(ca_file))
        self._progress = Progress(channel)
        self._notices = Notices([name for name in notices if name != channel], again_s=limits.refused_s)
        self._state = "connecting"
        self._step: asyncio.Future[Delivery] | None = None
        self._unstored: Delivery | None = None
        self._loaded = False
        self._up = False
        self._gaps: list[str] = []
        self._failures = 0
        self._hasty = 0
        self._pause_s = 0.0
        self._answer_due_at = 0.0

    def poll(self, wait_s: float) -> Delivery:
        """Wait up to `wait_s` seconds for events. The same delivery comes again until it is stored.

        A connect that waits for events goes on waiting between two polls. Raises only for a fault of this program.
        """
        if self._state == "closed":
            raise RuntimeError("this source is closed")
        if self._unstored is None:
            brought = self._runner.run(self._wait(wait_s))
            if brought == Delivery():
                return brought
            self._unstored = brought
        return self._unstored

    def stored(self, delivery: Delivery) -> None:
        """The delivery is on disk: a new subscription may start behind it."""
        self._unstored = None
        if delivery.position is not None:
            self._progress.stored(delivery.position)

    def state(self) -> str:
        """`connecting`, `subscribed` (acknowledged by the server), `overdue`, `backing-off`, `refused` or `closed`."""
        if self._state == "subscribed" and self._monotonic() > self._answer_due_at:
            return "overdue"
        return self._state

    def close(self) -> None:
        """Tell the server and free the sockets. A second call does nothing."""
        if self._state != "closed":
            self._state = "closed"
            with self._runner as runner:
                runner.run(self._leave())
            self._log.info("stream_closed")

    async def _wait(self, wait_s: float) -> Delivery:
        deadline = self._monotonic() + wait_s
        while True:
            if self._step is None:
                self._step = asyncio.ensure_future(self._advance())
            await asyncio.wait({self._step}, timeout=max(0.0, deadline - self._monotonic()))
            if not self._step.done():
                return self._progress.settled(self._monotonic() - self._limits.settle_s)
            step, self._step = self._step, None
            brought = step.result()
            if brought != Delivery() or self._monotonic() >= deadline:
                return brought

    async def _advance(self) -> Delivery:
        """One step, after the pause that the last one asked for: a new session, or one connect."""
        await asyncio.sleep(self._pause_s)
        try:
            if self._up:
                if not await self._notices.subscribe(self._session, self._monotonic()):
                    return await self._connect()
                return self._taken()
            await self._establish()
        except Lost as lost:
            await self._lose(lost)
        return self._taken()

    async def _establish(self) -> None:
        self._state = "connecting"
        self._load()
        await self._session.open()
        await self._subscribe()
        self._notices.lost()
        await self._notices.subscribe(self._session, self._monotonic())
        self._up = True
        self._pause_s = 0.0
        self._await_answer()
        self._state = "subscribed"

    def _load(self) -> None:
        if self._loaded:
            return
        try:
            position = self._load_position()
        except LeadRouterError as fault:
            raise Lost(Broken(f"the stored position could not be read: {fault}")) from None
        self._loaded = True
        if position is not None and not self._progress.loaded(position):
            self._miss("the stored position is no CometD replay id: subscribed to all retained events instead")

    async def _subscribe(self) -> None:
        start, origin = start_of(self._progress.position, self._default_start)
        try:
            await self._session.subscribe(self._channel, start)
        except Lost as lost:
            if not isinstance(lost.loss, PositionExpired) or start == bayeux.RETAINED:
                raise
            self._log.warning("stream_position_expired", start=start)
            self._gaps.append(f"replay id {start} was refused: subscribed to all retained events instead")
            self._progress.expired()
            start, origin = bayeux.RETAINED, "expired"
            await self._session.subscribe(self._channel, start)
        if start == bayeux.NEW_ONLY:
            self._gaps.append("subscribed to new events only: what came before is not known")
        self._log.info("stream_subscribed", start=start, origin=origin)

    async def _connect(self) -> Delivery:
        began = self._monotonic()
        self._progress.awaiting(began)
        await self._session.connect()
        self._failures = 0
        advice = self._session.advice
        self._pause_s = advice.interval_s
        self._await_answer()
        if self._session.inbox:
            self._hasty = 0
            return self._taken()
        # A server that answers at once, without an event, again and again, would otherwise be asked without end.
        at_once = self._monotonic() - began < max(HELD_MIN_S, min(HELD_S, advice.timeout_s / 2))
        self._hasty = self._hasty + 1 if at_once else 0
        if self._hasty > HASTE_FREE:
            self._pause_s = max(self._pause_s, min(HASTE_PAUSE_MAX_S, self._backoff(self._hasty - HASTE_FREE)))
        return self._progress.confirmed()

    def _await_answer(self) -> None:
        longest_s = self._pause_s + self._session.advice.timeout_s + self._limits.slack_s
        self._answer_due_at = self._monotonic() + longest_s + OVERDUE_S

    def _taken(self) -> Delivery:
        """Everything that has come in, as one delivery."""
        readings = [read_event(self._channel, event) for event in self._notices.sorted_out(self._session.inbox)]
        for reading in readings:
            if reading.gap:
                self._miss(reading.gap)
        gaps, self._gaps, self._session.inbox = self._gaps, [], []
        ids = [reading.replay_id for reading in readings if reading.replay_id is not None]
        return Delivery(
            changes=tuple(change for reading in readings for change in reading.changes),
            unreadable=tuple(reading.unreadable for reading in readings if reading.unreadable),
            position=self._progress.behind(ids),
            gap="; ".join(dict.fromkeys(gaps)) or None,
            reload=self._notices.taken(),
        )

    def _miss(self, why: str) -> None:
        """Events are lost to this stream: an alarm, and a sweep for what they would have told."""
        self._log.warning("stream_gap", reason=why)
        self._gaps.append(why)

    async def _lose(self, lost: Lost) -> None:
        self._up = False
        self._progress.awaiting(None)
        self._failures += 1
        self._hasty = 0
        self._state = "backing-off"
        self._pause_s = max(self._backoff(self._failures), self._session.advice.interval_s, lost.wait_s)
        match lost.loss:
            case TokenRefused():
                self._session.token_refused()
            case ClientEnded():
                await self._session.forget()
            case Refused():
                self._state = "refused"
                self._pause_s = max(self._limits.refused_s * self._dice.uniform(0.8, 1.2), lost.wait_s)
                self._gaps.append("the stream is refused: until it is not, each try asks for a sweep")
            case Oversized(text):
                self._miss(text)
            case SessionLost() | PositionExpired() | Broken():
                pass
        self._log.warning(
            "stream_refused" if self._state == "refused" else "stream_lost",
            kind=type(lost.loss).__name__,
            reason=lost.loss.text,
            failures=self._failures,
            pause_s=round(self._pause_s, 2),
        )

    def _backoff(self, failures: int) -> float:
        limits = self._limits
        return self._dice.uniform(limits.pause_s, min(limits.pause_max_s, limits.pause_s * 2 ** min(failures, 30)))

    async def _leave(self) -> None:
        if self._step is not None:
            self._step.cancel()
            await asyncio.wait({self._step})
        if self._up:
            with contextlib.suppress(Lost):
                await self._session.leave()
        await self._session.forget()
