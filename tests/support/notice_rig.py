"""The loop of one channel, stepped by hand behind the worker of a rig; the channel answers as a test tells it to."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from lead_router.jobs import SqlJobStore
from lead_router.loops.breaker import Breaker
from lead_router.loops.current import Current
from lead_router.loops.noticing import Noticing
from lead_router.ports.meter import NO_METER, Meter
from lead_router.ports.notices import Channel, Delivered, Delivery, Letter
from support.worker_rig import Rig

HOME = "https://acme.my.salesforce.com"


class Mailbox:
    """People outside: keeps the letters, and answers each as the next of `answers` says, then takes them all."""

    def __init__(self, answers: Iterable[Delivery] = ()) -> None:
        self.letters: list[Letter] = []
        self.answers = list(answers)
        self.before: list[Callable[[], None]] = []

    def send(self, letter: Letter) -> Delivery:
        if self.before:
            self.before.pop(0)()
        self.letters.append(letter)
        return self.answers.pop(0) if self.answers else Delivered()


class NoticeRig(Rig):
    """A rig whose assignments are told to channels, by default to one, at no pace."""

    def post(
        self,
        mailbox: Mailbox,
        *,
        store: SqlJobStore | None = None,
        client: Any = None,
        home: Callable[[], str] = lambda: HOME,
        name: str = "team",
        meter: Meter = NO_METER,
        **how: Any,
    ) -> Noticing:
        """One more process's loop of the channel."""
        client = client or self.client
        return Noticing(
            store or self.open(),
            client,
            Current(client.configuration()),
            mailbox,
            Channel(name, **{"pace_s": 0.0, **how}),
            breaker=Breaker(self.clock.monotonic),
            now=self.clock.now,
            monotonic=self.clock.monotonic,
            home=home,
            call_s=35.0,
            meter=meter,
        )

    def steps(self, loop: Noticing, *, most: int = 200) -> None:
        """Until there is nothing to send now."""
        for _ in range(most):
            if not loop.step():
                return
        raise AssertionError("the loop does not come to an end")

    def statuses(self, channel: str = "team") -> list[str]:
        """Of the channel's notices, in the order in which they were written."""
        return [one.status for one in reversed(self.store.notices(limit=1000)) if one.channel == channel]


def to_team(_notice: object) -> tuple[str, ...]:
    return ("team",)
