"""What the server of Pub/Sub API grants."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Terms:
    """Seconds of the org's clock: a word at least every `keepalive_s`; a stream owed nothing ends after `idle_s`.

    `pending_max` events may be asked for and not yet sent; an answer carries at most `events_max`.
    """

    keepalive_s: float = 270.0
    idle_s: float = 70.0
    pending_max: int = 100
    events_max: int = 100
