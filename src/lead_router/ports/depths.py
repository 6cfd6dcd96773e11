"""How deep the queue is and how its stream is heard, as monitoring asks every few seconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Heard:
    """A channel: whether somebody listens, the org has acknowledged it, and it is silent though leads come.

    `quiet_s` is seconds since the last event, or since the acknowledgement where that is newer; None before either.
    """

    channel: str
    listens: bool
    subscribed: bool
    silent: bool
    quiet_s: float | None


@dataclass(frozen=True, slots=True)
class Depths:
    """Jobs by status, `due` and `held` being parts of `queued`; ages in seconds, None where there is nothing of age.

    `oldest_s` is the age of the oldest open job that is not held, `oldest_held_s` of the oldest that is. `positions`
    are channels, with the age of their stored position.
    """

    queued: int
    due: int
    held: int
    working: int
    dead: int
    oldest_s: float | None
    oldest_held_s: float | None
    quarantined: int
    last_sweep_s: float | None
    heard: tuple[Heard, ...]
    positions: tuple[tuple[str, float], ...]


class DepthsStore(Protocol):
    """The part of the job store that monitoring asks. Raises StoreUnavailable as the rest of it does."""

    def depths(self) -> Depths:
        """Read what is open and dead, never what is done, whose number has no bound."""
        ...
