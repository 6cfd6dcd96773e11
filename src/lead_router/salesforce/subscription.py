"""A subscription that is kept up through everything but a lack of permission, over whichever line it is heard.

    connecting ──▶ subscribed ──▶ backing-off ──▶ connecting …    (subscribed and unheard for too long: overdue)
         └───────────────┴──────▶ refused: only time or a person helps; tried again, slowly
    closed: for good

Whatever ends a session, the next one subscribes from the last stored position: an answer that died on the way is sent
again by the server, and the job store knows each event by its key. After a failure no step is taken without a pause.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from typing import Protocol

import structlog

from lead_router.ports import Delivery, Position
from lead_router.salesforce.losses import Loss, Lost, Refused
from lead_router.salesforce.stream_login import Limits

OVERDUE_S = 15.0  # beyond the longest silence that the line allows: nobody is left who would end it


class Line(Protocol):
    """One protocol's way to hear a channel, one session after another. `open` and `receive` raise Lost."""

    @property
    def pause_s(self) -> float:
        """What the server wants between two steps."""
        ...

    @property
    def answer_within_s(self) -> float:
        """How long the server may be silent now, before the session is lost."""
        ...

    async def open(self) -> None:
        """Log in and subscribe behind what is stored; returns once the org has acknowledged it."""
        ...

    async def receive(self) -> Delivery:
        """Wait for the server's next answer, as long as it may take; events or not."""
        ...

    def taken(self) -> Delivery:
        """What has come in and was not delivered yet, also of a session that is lost."""
        ...

    def settled(self) -> Delivery:
        """A position that became certain by silence, if one did."""
        ...

    def stored(self, position: Position) -> None:
        """The position is on disk."""
        ...

    async def drop(self, loss: Loss) -> None:
        """The session is over: free what it held, and do what its end asks for."""
        ...

    async def leave(self) -> None:
        """Tell the server, if a session stands, and free the sockets."""
        ...


class Subscription:
    """One channel's events (`ports.EventSource`). Belongs to one thread; only `state` may be asked from another."""

    def __init__(
        self,
        line: Line,
        *,
        dice: random.Random,
        limits: Limits,
        log: structlog.stdlib.BoundLogger,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._line = line
        self._dice = dice
        self._limits = limits
        self._monotonic = monotonic
        self._log = log
        self._runner = asyncio.Runner()
        self._state = "connecting"
        self._step: asyncio.Future[Delivery] | None = None
        self._unstored: Delivery | None = None
        self._up = False
        self._failures = 0
        self._fault = ""
        self._pause_s = 0.0
        self._answer_due_at = 0.0

    def poll(self, wait_s: float) -> Delivery:
        """Wait up to `wait_s` seconds for events. The same delivery comes again until it is stored.

        An answer that is awaited goes on being awaited between two polls. Raises only for a fault of this program.
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
            self._line.stored(delivery.position)

    def state(self) -> str:
        """`connecting`, `subscribed` (acknowledged by the server), `overdue`, `backing-off`, `refused` or `closed`."""
        if self._state == "subscribed" and self._monotonic() > self._answer_due_at:
            return "overdue"
        return self._state

    def attempt(self, within_s: float) -> str:
        """Subscribe, and store nothing; why it did not come to that within the time, empty if it did."""
        deadline = self._monotonic() + within_s
        while self._state == "connecting" and self._monotonic() < deadline:
            self._runner.run(self._wait(min(0.1, within_s)))
        return "" if self._state == "subscribed" else self._fault or f"no answer within {within_s:.0f} s"

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
                return self._line.settled()
            step, self._step = self._step, None
            brought = step.result()
            if brought != Delivery() or self._monotonic() >= deadline:
                return brought

    async def _advance(self) -> Delivery:
        """One step, after the pause that the last one asked for: a new session, or one answer."""
        await asyncio.sleep(self._pause_s)
        try:
            if self._up:
                brought = await self._line.receive()
                self._failures = 0
                self._goes_on()
                return brought
            self._state = "connecting"
            await self._line.open()
            self._up = True
            self._goes_on()
            self._state = "subscribed"
        except Lost as lost:
            await self._lose(lost)
        return self._line.taken()

    def _goes_on(self) -> None:
        self._pause_s = self._line.pause_s
        self._answer_due_at = self._monotonic() + self._pause_s + self._line.answer_within_s + OVERDUE_S

    async def _lose(self, lost: Lost) -> None:
        self._up = False
        self._failures += 1
        loss = lost.loss
        self._fault = loss.text
        refused = isinstance(loss, Refused)
        self._state = "refused" if refused else "backing-off"
        await self._line.drop(loss)
        self._pause_s = max(self._backoff(), self._line.pause_s, lost.wait_s)
        if isinstance(loss, Refused):
            rest_s = self._limits.login_s if loss.login else self._limits.refused_s
            self._pause_s = max(rest_s * self._dice.uniform(0.8, 1.2), lost.wait_s)
        self._log.warning(
            "stream_refused" if refused else "stream_lost",
            kind=type(loss).__name__,
            reason=loss.text,
            failures=self._failures,
            pause_s=round(self._pause_s, 2),
        )

    def _backoff(self) -> float:
        limits = self._limits
        return self._dice.uniform(
            limits.pause_s, min(limits.pause_max_s, limits.pause_s * 2 ** min(self._failures, 30))
        )

    async def _leave(self) -> None:
        step, self._step = self._step, None  # what it holds keeps a connection open
        if step is not None:
            step.cancel()
            await asyncio.wait({step})
        await self._line.leave()
