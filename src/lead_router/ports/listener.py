"""Who listens: of all routers of an org one holds its subscription, the others wait to take over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Hold:
    """The right to listen to a channel. `generation` fences: what a former holder still records is refused.

    It ends `lease_s` seconds after it was last kept, by the database's time, however its holder ends.
    """

    channel: str
    holder: str
    generation: int
    lease_s: float


@dataclass(frozen=True, slots=True)
class Held:
    """Another one listens. `reloads` grows with each reason that it heard for loading the configuration anew."""

    holder: str
    reloads: int


@dataclass(frozen=True, slots=True)
class Kept:
    """The hold stands. `reconnects` grows with each wish for a new subscription; a silence may have ended just now.

    `silent`: a silence was found, and goes on.
    """

    reconnects: int
    broke_silence: bool
    silent: bool = False


@dataclass(frozen=True, slots=True)
class Silence:
    """A stream that is subscribed and brings nothing: `leads` came without an event; `begun` only when first found."""

    channel: str
    leads: int
    since: datetime
    begun: bool


class Listeners(Protocol):
    """The part of the job store that says who listens. Raises StoreUnavailable where the database does not answer."""

    def hold(self, channel: str, holder: str, *, lease_s: float) -> Hold | Held:
        """Take the channel if nobody holds it, or a lease has run out; of several who ask, one gets it."""
        ...

    def keep(self, hold: Hold, *, subscribed: bool = False, heard: bool = False) -> Kept | None:
        """Begin the lease again, also one that ran out while nobody took it; None: another one holds the channel.

        `subscribed`: the org has acknowledged the subscription; `heard`: an event came since the last time.
        """
        ...

    def find_silence(self, moments: Sequence[datetime], *, after_s: float) -> Silence | None:
        """Judge the stream by when those leads came or changed that no event brought.

        Silent: one came at least `after_s` ago, while the stream was subscribed, and nothing was heard since. A new
        subscription is wished for then; the silence lasts until an event comes.
        """
        ...

    def give_up(self, hold: Hold) -> None:
        """Free the channel now; what is recorded under this hold is refused from here on."""
        ...

    def announce_reload(self, hold: Hold) -> None:
        """Tell those who wait that the configuration is to be loaded anew."""
        ...
