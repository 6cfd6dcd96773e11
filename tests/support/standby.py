"""Several routers on one database, of which one listens: who it is, and how soon another one does after a kill -9."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from support.router import COMMAND_S, Router, until


def listening(several: Sequence[Router]) -> Router:
    """The router that took the subscription last."""
    taken = {line["generation"]: router for router in several for line in router.events("listener_taken")}
    return taken[max(taken)]


def taken_over_s(several: Sequence[Router], end: Callable[[Router], object] = Router.kill) -> float:
    """Seconds from the end of the listener, by default `kill -9`, until another one is subscribed."""
    before = {id(router): len(router.events("stream_subscribed")) for router in several}
    former = listening(several)
    others = [router for router in several if router is not former]
    at = time.monotonic()
    end(former)
    until(
        lambda: any(len(router.events("stream_subscribed")) > before[id(router)] for router in others),
        COMMAND_S,
        "another router subscribed",
    )
    return time.monotonic() - at
