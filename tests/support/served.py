"""An org's stream on a loopback socket, served by a thread of its own."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from org_simulator.cometd import Terms
from support.bayeux import serving

TERMS = Terms(poll_s=0.5, reconnect_s=2.0)


@contextlib.contextmanager
def served(org: Any, terms: Terms = TERMS) -> Iterator[str]:
    """The value is its URL."""
    ready, url = threading.Event(), []
    loop, ended = asyncio.new_event_loop(), asyncio.Event()

    async def serve() -> None:
        async with serving(org, terms) as place:
            url.append(place.url)
            ready.set()
            await ended.wait()

    def run() -> None:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.run(serve())

    thread = threading.Thread(target=run)
    thread.start()
    assert ready.wait(10)
    try:
        yield url[0]
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join()
