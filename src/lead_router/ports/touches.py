"""Touches: since when the first-touch clock runs for each group, and who was reminded of which lead."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol


class Touched(StrEnum):
    """What the clock did about a lead in one of its rounds, or would have done were it live; each at most once.

    TOUCHED: its owner was the last who changed it as the router was about to write on it, which hides that.
    """

    REMINDED = "reminded"
    WOULD_REMIND = "would remind"
    WOULD_REROUTE = "would reroute"
    TOUCHED = "touched"


@dataclass(frozen=True, slots=True)
class TouchMark:
    """Something that the clock did about a lead that `group_id` gave to `owner_id` in that round."""

    lead_id: str
    round: int
    mark: Touched
    group_id: str
    owner_id: str
    due_at: datetime


class Touches(Protocol):
    """The part of the job store that the first-touch clock keeps. Raises StoreUnavailable as the rest of it does."""

    def clocks(self, group_ids: Collection[str], *, position: str, lapses_s: float) -> Mapping[str, datetime]:
        """Since when each of the groups is looked after in this position of the switch, and that it is so now.

        A group that nobody looked after for `lapses_s` seconds, or in another position last, begins anew.
        """
        ...

    def clocks_began(self, *, position: str) -> Mapping[str, datetime]:
        """Since when groups are looked after in this position, of those that were last looked after in it."""
        ...

    def mark_touches(self, marks: Sequence[TouchMark]) -> tuple[TouchMark, ...]:
        """Write them down; answers those that were new, each to one caller only."""
        ...

    def touched(self, lead_ids: Collection[str]) -> frozenset[tuple[str, int]]:
        """Of these leads, those that are marked as touched, with the round in which they were."""
        ...

    def touch_marks(self, *, since: datetime) -> list[TouchMark]:
        """What was marked since then, oldest first."""
        ...

    def forget_touches(self, *, older_than_s: float, limit: int) -> int:
        """Delete up to `limit` older marks; how many it were."""
        ...
