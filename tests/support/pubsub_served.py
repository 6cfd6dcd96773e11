"""An org's stream over gRPC on a loopback socket, served by a thread of its own."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from org_simulator.pubsub.serving import Endpoint
from org_simulator.pubsub.terms import Terms

TERMS = Terms(keepalive_s=0.3, idle_s=1.0)


@contextlib.contextmanager
def pubsub_served(org: Any, terms: Terms = TERMS, **options: Any) -> Iterator[Endpoint]:
    """The value is the endpoint; its `address` is `host:port`."""
    ready = threading.Event()
    endpoint = Endpoint(org, host="localhost", terms=terms, **options)
    loop, ended = asyncio.new_event_loop(), asyncio.Event()

    async def serve() -> None:
        await endpoint.start()
        ready.set()
        await ended.wait()
        await endpoint.stop()

    def run() -> None:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.run(serve())

    thread = threading.Thread(target=run)
    thread.start()
    assert ready.wait(10)
    try:
        yield endpoint
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join()
