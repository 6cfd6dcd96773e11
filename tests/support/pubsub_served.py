"""An org's stream over gRPC on a loopback socket, served by a thread of its own."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterator
from typing import Any

from org_simulator.pubsub.serving import Endpoint
from org_simulator.pubsub.terms import Terms
from support.beside import served_beside

TERMS = Terms(keepalive_s=0.3, idle_s=1.0)


@contextlib.contextmanager
def pubsub_served(org: Any, terms: Terms = TERMS, **options: Any) -> Iterator[Endpoint]:
    """The value is the endpoint; its `address` is `host:port`."""
    endpoint = Endpoint(org, host="localhost", terms=terms, **options)

    @contextlib.asynccontextmanager
    async def serving() -> AsyncIterator[Endpoint]:
        await endpoint.start()
        try:
            yield endpoint
        finally:
            await endpoint.stop()

    with served_beside(serving()) as place:
        yield place
