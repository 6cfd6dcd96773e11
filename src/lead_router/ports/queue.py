"""The queue, its streams and who listens, as a person sees them (`lead-router status`)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

SET_BACK: Final = "clock set back"
"""How the reason of a sweep begins that is due because the database's clock was set back."""


@dataclass(frozen=True, slots=True)
class StreamView:
    """A stored stream position as a person sees it; `age_s` is seconds since it last moved or was confirmed."""

    channel: str
    replay_id: bytes
    age_s: float


@dataclass(frozen=True, slots=True)
class ListenerView:
    """Who listens, or did last (`listens` False: it gave up or died), as a person sees it; `age_s` since it began.

    `ended_age_s` since it gave up, or its lease ran out; None while it listens. `subscribed`: the org has acknowledged
    it; `turned_age_s` since it did, or since that was lost; None while nobody listens. A silence has a beginning, and
    leads that no event brought.
    """

    channel: str
    holder: str | None
    generation: int
    listens: bool
    age_s: float
    ended_age_s: float | None = None
    subscribed: bool = False
    silent_since: datetime | None = None
    silent_leads: int = 0
    turned_age_s: float | None = None


@dataclass(frozen=True, slots=True)
class QueueView:
    """The queue at a glance; ages in seconds. `due` and `held` are parts of `queued`: ready now; nobody may have it."""

    queued: int
    due: int
    held: int
    working: int
    done: int
    dead: int
    oldest_open_age_s: float | None
    quarantined: int
    streams: tuple[StreamView, ...]
    last_sweep_age_s: float | None
    sweep_requested: str | None
    listeners: tuple[ListenerView, ...]
