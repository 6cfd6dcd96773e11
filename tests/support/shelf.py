"""What intake does with a stream, in short: keep each change once, the position with it, and poll with a deadline."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from lead_router.ports import Delivery, EventSource, Position

DEADLINE_S = 20.0


@dataclass
class Shelf:
    """Changes by key as a job store keeps them, the raw deliveries, and the position to resume from."""

    position: Position | None = None
    deliveries: list[Delivery] = field(default_factory=list)
    kept: dict[str, Any] = field(default_factory=dict)

    def put(self, delivery: Delivery) -> None:
        """Store a delivery."""
        self.deliveries.append(delivery)
        for change in delivery.changes:
            self.kept.setdefault(f"{change.record_id}.{change.identity}", change)
        self.position = delivery.position or self.position

    def load(self) -> Position | None:
        """As `load_position` is called."""
        return self.position

    @property
    def identities(self) -> list[str]:
        """Each kept change's identity, in order of first arrival."""
        return [change.identity for change in self.kept.values()]

    @property
    def brought(self) -> list[str]:
        """Each delivered change's identity, repetitions included."""
        return [change.identity for delivery in self.deliveries for change in delivery.changes]

    @property
    def gaps(self) -> list[str]:
        """All reasons for a sweep."""
        return [delivery.gap for delivery in self.deliveries if delivery.gap]


def fill(shelf: Shelf, source: EventSource, until: Callable[[], bool], *, within_s: float = DEADLINE_S) -> None:
    """Poll and store until the condition holds; fails at the deadline."""
    deadline = time.monotonic() + within_s
    while not until():
        assert time.monotonic() < deadline, f"not within {within_s} s; state {source.state()}, kept {shelf.identities}"
        delivery = source.poll(0.02)
        if delivery != Delivery():
            shelf.put(delivery)
            source.stored(delivery)


def fill_for(shelf: Shelf, source: EventSource, duration_s: float) -> None:
    """Poll and store for a time, for promises about what does not happen."""
    end = time.monotonic() + duration_s
    fill(shelf, source, lambda: time.monotonic() >= end)
