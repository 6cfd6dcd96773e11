"""A rig whose router hears over a socket: production source, intake and SQLite store on the simulated org's stream."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

from lead_router.loops.current import Current
from lead_router.loops.intake import Intake
from lead_router.salesforce.changes import own_change
from lead_router.salesforce.cometd import CometdSource
from support.cometd_rig import CHANNEL, QUICK
from support.worker_rig import Rig

DEADLINE_S = 20.0


class Hearer:
    """One process that hears at `url`, from the position that its store holds."""

    def __init__(self, rig: Rig, url: str, token: Callable[[str | None], Any] | None = None, **options: Any) -> None:
        self.rig = rig
        self.store = rig.open()
        self.wakes = 0
        self.source = CometdSource(
            channel=CHANNEL,
            token=token or self._token(url),
            load_position=lambda: self.store.position(CHANNEL),
            dice=random.Random(1),
            **{"limits": QUICK, **options},
        )
        self.intake = Intake(
            self.source,
            self.store,
            Current(rig.client.configuration()),
            channel=CHANNEL,
            org_id=rig.org.org_id,
            own=partial(own_change, user_id=rig.org.integration_user_id),
            wait_s=0.02,
            wake=self._woken,
        )

    def _token(self, url: str) -> Callable[[str | None], Any]:
        given = [self.rig.org.sessions.issue(self.rig.org.integration_user_id)]

        def token(refused: str | None) -> SimpleNamespace:
            if refused == given[-1]:
                given.append(self.rig.org.sessions.issue(self.rig.org.integration_user_id))
            return SimpleNamespace(access_token=given[-1], instance_url=url)

        return token

    def _woken(self) -> None:
        self.wakes += 1

    def until(self, enough: Callable[[], bool]) -> None:
        """Step until the condition holds; fails at the deadline."""
        deadline = time.monotonic() + DEADLINE_S
        while not enough():
            assert time.monotonic() < deadline, f"{self.source.state()}, {self.store.queue()}"
            self.intake.step()

    def subscribed(self) -> None:
        """Until it is, and what the subscription itself tells is recorded, for which another poll may be needed."""
        self.until(lambda: self.source.state() == "subscribed")
        self.intake.step()

    def heard(self, count: int) -> None:
        """Until there are so many jobs, and the position stands behind them."""
        self.until(lambda: len(self.rig.jobs()) == count and self.source.state() == "subscribed")
        self.until(self.settled)

    def settled(self) -> bool:
        """Whether the stored position is that of the last event."""
        position = self.store.position(CHANNEL)
        return position is not None and not self.rig.org.events.since(
            self.rig.org.events.position(int(position.replay_id))
        )

    def close(self) -> None:
        self.intake.close()
