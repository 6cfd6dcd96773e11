"""Sources over Pub/Sub API, the shelf they fill and the tokens they were given; closed together."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace, TracebackType
from typing import Any, Self

from lead_router.ports import Delivery
from lead_router.salesforce.pubsub import PubSubSource
from lead_router.salesforce.pubsub_call import PubSubLimits
from support.cometd_rig import CHANNEL, QUICK
from support.lead_events import lead_id
from support.shelf import Shelf, fill, fill_for
from support.stream_org import INTEGRATION, ORG_ID, StreamOrg

BRISK = PubSubLimits(request_s=2, idle_s=2, acknowledged_s=0.05)


@dataclass
class PubSubRig:
    """`org` gives the tokens; `open` makes a source on an address, and the last one is polled."""

    org: StreamOrg
    shelf: Shelf = field(default_factory=Shelf)
    sources: list[PubSubSource] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    created: int = 0

    def open(self, address: str, **options: Any) -> PubSubSource:
        """A source as a process would make it, parts replaced by `options`."""
        usual = {
            "topic": CHANNEL,
            "tenant": ORG_ID,
            "endpoint": f"http://{address}",
            "token": self._token,
            "load_position": self.shelf.load,
            "limits": QUICK,
            "call_limits": BRISK,
        }
        self.sources.append(PubSubSource(dice=random.Random(1), **usual | options))
        return self.sources[-1]

    def create(self, count: int, *, name: str = "Doe") -> set[str]:
        """Commit the next leads, each in a transaction of its own; answers the ids of all so far."""
        for _ in range(count):
            self.created += 1
            self.org.commit(self.org.change(lead_id(self.created), LastName=f"{name} {self.created}"))
        return {lead_id(number) for number in range(1, self.created + 1)}

    def fill(self, until: Callable[[], bool]) -> None:
        """Poll and store until the condition holds."""
        fill(self.shelf, self.sources[-1], until)

    def fill_for(self, duration_s: float) -> None:
        """Poll and store for a time."""
        fill_for(self.shelf, self.sources[-1], duration_s)

    def heard(self, ids: set[str]) -> None:
        """Until these leads are kept, and no other."""
        self.fill(lambda: self.leads >= ids)
        assert self.leads == ids

    def unstored(self) -> Delivery:
        """The next delivery, which nobody has stored."""
        polled = iter(lambda: self.sources[-1].poll(0.5), None)
        return next(brought for brought in polled if brought.changes)

    @property
    def leads(self) -> set[str]:
        """The leads whose changes are kept."""
        return {change.record_id for change in self.shelf.kept.values()}

    def _token(self, refused: str | None) -> SimpleNamespace:
        if not self.tokens or refused == self.tokens[-1]:
            self.tokens.append(self.org.sessions.issue(INTEGRATION))
        return SimpleNamespace(access_token=self.tokens[-1], instance_url="https://localhost")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _at: TracebackType | None
    ) -> None:
        for source in self.sources:
            source.close()
