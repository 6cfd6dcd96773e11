"""Working time between two instants, and the next opening, over a span that is laid out once."""

from __future__ import annotations

from bisect import bisect_right
from datetime import UTC, datetime, timedelta

from lead_router.core.hours import DAYS, spans
from lead_router.core.roster import Hours
from lead_router.core.zones import local_date, wall

OFFICE = ((9 * 60, 17 * 60),)
GUESS_WEEK = (*(OFFICE for _ in range(5)), (), ())
"""Monday to Friday, 9 to 17: what is taken for business hours where nobody says."""


def guess(zone: str) -> Hours:
    """The guessed week in a zone."""
    return Hours("", "Monday to Friday, 9 to 17 (a guess)", zone, GUESS_WEEK)


class Opening:
    """When an office is open, from a week before `since` to a fortnight behind `until`; all in seconds since 1970."""

    def __init__(self, hours: Hours, since: float, until: float) -> None:
        self._zone = hours.zone
        day = local_date(hours.zone, datetime.fromtimestamp(since, UTC)) - timedelta(days=DAYS)
        last = local_date(hours.zone, datetime.fromtimestamp(until, UTC)) + timedelta(days=2 * DAYS)
        self._starts: list[float] = []
        self._ends: list[float] = []
        self._open_s: list[float] = [0.0]  # before each window
        while day <= last:
            for start, end in spans(hours, day):
                self._starts.append(start.timestamp())
                self._ends.append(end.timestamp())
                self._open_s.append(self._open_s[-1] + self._ends[-1] - self._starts[-1])
            day += timedelta(days=1)

    def _before(self, at: float) -> float:
        place = bisect_right(self._starts, at)
        if not place:
            return 0.0
        return self._open_s[place - 1] + min(at, self._ends[place - 1]) - self._starts[place - 1]

    def working_s(self, since: float, until: float) -> float:
        """Seconds of working time between two instants."""
        return max(0.0, self._before(until) - self._before(since))

    def is_open(self, at: float) -> bool:
        """Whether the office is open at that instant."""
        place = bisect_right(self._starts, at)
        return place > 0 and at < self._ends[place - 1]

    def next_open(self, at: float) -> float:
        """The first instant from `at` on at which it is open; `at` itself where none is known."""
        if self.is_open(at):
            return at
        place = bisect_right(self._starts, at)
        return self._starts[place] if place < len(self._starts) else at

    def local(self, at: float) -> datetime:
        """The instant as a clock in the office shows it."""
        return wall(self._zone, datetime.fromtimestamp(at, UTC))
