"""The production stream source without sockets or sleep: its event loop lives in the simulated time."""

from __future__ import annotations

import asyncio
import itertools
import json
import selectors
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from lead_router.salesforce import bayeux
from lead_router.salesforce.cometd import CometdSource
from lead_router.salesforce.losses import Broken, Loss
from org_simulator.cometd import protocol
from org_simulator.cometd.server import Caller, Server


class _Patience(selectors.SelectSelector):
    """Waits by letting the simulated time pass."""

    def __init__(self, elapse: Callable[[float], None]) -> None:
        super().__init__()
        self._elapse = elapse

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout is None:
            raise RuntimeError("a stream source waits for something that no clock brings")
        if timeout > 0:
            self._elapse(timeout)
        return []


class _Loop(asyncio.SelectorEventLoop):
    """An event loop of the simulated time, whose executor is the one thread there is."""

    def __init__(self, now: Callable[[], float], elapse: Callable[[float], None]) -> None:
        super().__init__(_Patience(elapse))
        self._now = now
        self.set_exception_handler(lambda _loop, _context: None)  # what a crash leaves behind is no news

    def time(self) -> float:
        return self._now()

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> Any:
        future = self.create_future()
        try:
            future.set_result(func(*args))
        except BaseException as fault:  # noqa: BLE001 - it belongs to whoever waits for the answer
            future.set_exception(fault)
        return future


class Poll:
    """In place of `LongPoll`: the same verbs, answered by the org in this process. `point` is called at both ends."""

    def __init__(self, server: Server, point: Callable[[str, str], None], lives: Callable[[], bool]) -> None:
        self._server = server
        self._point = point
        self._lives = lives
        self._ids = itertools.count(1)
        self._browser: str | None = None

    async def post(
        self, url: str, access_token: str, request: bayeux.Request, *, within_s: float
    ) -> Sequence[Any] | Loss:
        request["id"] = str(next(self._ids))
        self._point("before", str(request["channel"]))
        match self._server.log.faults.first(("cut", "http")):
            case ("cut", _):
                return Broken("ServerDisconnectedError")
            case ("http", status):
                return bayeux.read_answer(int(status or 503), b"<html><body>Server Error</body></html>")
            case _:
                pass
        calls = protocol.parse(json.dumps([request]).encode())
        answer = await self._server.answer(calls, Caller(access_token, self._browser, self._lives))
        if answer.lost:
            return Broken("ClientPayloadError")
        self._browser = answer.browser or self._browser
        self._point("after", str(request["channel"]))
        return bayeux.read_answer(200, json.dumps(answer.replies).encode())

    async def forget(self) -> None:
        self._browser = None


def embed(source: CometdSource, poll: Poll, now: Callable[[], float], elapse: Callable[[float], None]) -> None:
    """Let the source live in the simulated time and speak to the org through `poll`."""
    source._runner = asyncio.Runner(loop_factory=lambda: _Loop(now, elapse))
    source._line._session._http = poll


@contextmanager
def outside() -> Iterator[None]:
    """The event loop of another router, in whose middle this happens, does not run as long as the block lasts."""
    outer = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    try:
        yield
    finally:
        asyncio._set_running_loop(outer)


def killed(source: CometdSource) -> None:
    """The process of the source is dead: nothing is said to the server, and no pending work is left behind."""
    with outside(), suppress(RuntimeError):  # one that left its stream has no loop any more
        loop = source._runner.get_loop()
        for pending in asyncio.all_tasks(loop):
            pending.cancel()
        loop.call_soon(loop.stop)
        loop.run_forever()
        with suppress(BaseException):
            source._runner.close()
