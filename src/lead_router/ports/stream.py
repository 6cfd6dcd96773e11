"""The stream of changes that Salesforce tells of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Position:
    """Where a channel's stream stands: `replay_id` is opaque bytes, to be stored and handed back unchanged."""

    channel: str
    replay_id: bytes


@dataclass(frozen=True, slots=True)
class Change:
    """One record's change, out of an event that may carry several. `fields` holds what the event said, no more.

    `change_type` is Salesforce's (CREATE, UPDATE, GAP_CREATE, …); `identity` is the transaction key and sequence.
    `stamped`: a router's key was written with it, ours or the one inside.
    """

    record_id: str
    change_type: str
    identity: str
    origin: str
    commit_user: str
    committed_at: datetime
    changed_fields: frozenset[str]
    fields: Mapping[str, Any]
    stamped: bool = False


@dataclass(frozen=True, slots=True)
class Unreadable:
    """An event that could not be parsed, kept with its bytes."""

    channel: str
    body: bytes
    reason: str


@dataclass(frozen=True, slots=True)
class Delivery:
    """What one poll brought. `position` is None when it must not move.

    `gap` says why a sweep is needed, if it is, and `reload` why the configuration must be read again.
    """

    changes: tuple[Change, ...] = ()
    unreadable: tuple[Unreadable, ...] = ()
    position: Position | None = None
    gap: str | None = None
    reload: str | None = None


class EventSource(Protocol):
    """One subscription. `poll` gives a delivery again until it is `stored`: nothing overtakes it (back-pressure)."""

    def poll(self, wait_s: float) -> Delivery:
        """Wait up to `wait_s` seconds for events. Reconnects by itself; never raises for a fault it can outlive."""
        ...

    def stored(self, delivery: Delivery) -> None:
        """The delivery is on disk: a new subscription may start behind it."""
        ...

    def state(self) -> str:
        """One word: `connecting`, `subscribed`, `overdue`, `backing-off`, `refused`, `closed`; for log and health.

        `overdue`: subscribed, and the server's answer has not come when it should have. May be asked from any thread.
        """
        ...

    def close(self) -> None:
        """Tell the server and free the sockets."""
        ...
