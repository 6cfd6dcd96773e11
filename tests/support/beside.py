"""Something that an event loop serves, in a thread beside the one that asks for it."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager
from typing import TypeVar

T = TypeVar("T")
STARTS_WITHIN_S = 10.0


@contextlib.contextmanager
def served_beside(place: AbstractAsyncContextManager[T]) -> Iterator[T]:
    """What the context gives, once it serves, until the end of the block; raises what kept it from serving."""
    given: Future[T] = Future()
    loop, ended = asyncio.new_event_loop(), asyncio.Event()

    async def serve() -> None:
        async with place as value:
            given.set_result(value)
            await ended.wait()

    def run() -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: loop) as runner:
                runner.run(serve())
        except BaseException as fault:
            if given.done():
                raise
            given.set_exception(fault)

    thread = threading.Thread(target=run)
    thread.start()
    served = given.result(STARTS_WITHIN_S)
    try:
        yield served
    finally:
        with contextlib.suppress(RuntimeError):  # it has ended by itself
            loop.call_soon_threadsafe(ended.set)
        thread.join()
