"""A source, the server that fails on order, and the shelf between them; closed together."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any, Self

from lead_router.ports import Position
from lead_router.salesforce.cometd import CometdSource
from lead_router.salesforce.stream_login import Limits
from support.fault_cometd import FaultServer
from support.lead_events import created
from support.shelf import Shelf, fill, fill_for

CHANNEL = "/data/LeadChangeEvent"
QUICK = Limits(pause_s=0.02, pause_max_s=0.1, refused_s=0.4, login_s=0.4, request_s=2, slack_s=0.5, settle_s=0.05)


class Tokens:
    """Gives `token-1`, and the next number for every refusal of the one it gave last."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.number = 1
        self.asked: list[str | None] = []

    def __call__(self, refused: str | None) -> SimpleNamespace:
        """As `TokenHolder.token` is called."""
        self.asked.append(refused)
        if refused == f"token-{self.number}":
            self.number += 1
        return SimpleNamespace(access_token=f"token-{self.number}", instance_url=self.url)

    @property
    def refreshes(self) -> list[str]:
        """Every token that was handed back as refused."""
        return [refused for refused in self.asked if refused is not None]


class Rig:
    """`open` makes a source on the server; several may be made, and the last one is polled."""

    def __init__(self) -> None:
        self.server = FaultServer()
        self.tokens = Tokens(self.server.url)
        self.shelf = Shelf()
        self.sources: list[CometdSource] = []

    def open(self, **options: Any) -> CometdSource:
        """A source as a process would make it, parts replaced by `options`."""
        usual = {"channel": CHANNEL, "token": self.tokens, "load_position": self.shelf.load, "limits": QUICK}
        source = CometdSource(dice=random.Random(1), **usual | options)
        self.sources.append(source)
        return source

    def fill(self, until: Any) -> None:
        """Poll and store until the condition holds."""
        fill(self.shelf, self.sources[-1], until)

    def fill_for(self, duration_s: float) -> None:
        """Poll and store for a time."""
        fill_for(self.shelf, self.sources[-1], duration_s)

    def settle(self, **options: Any) -> CometdSource:
        """A source that is subscribed, with event 1 kept and its position stored."""
        source = self.open(**options)
        self.server.publish(created(1))
        self.fill(lambda: self.shelf.position == at(1))
        return source

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for source in self.sources:
            source.close()
        self.server.close()


def at(replay_id: int) -> Position:
    """The position behind an event."""
    return Position(CHANNEL, str(replay_id).encode())
