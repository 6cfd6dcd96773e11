"""How many events to ask for at once: as many as the server owes at most, fewer while their answers are too large.

An answer holds as many of the events asked for as the server likes, so an answer that is refused for its size comes
again at each new start, until less is asked for. An event has a megabyte at most, says Salesforce: one alone is read.
"""

from __future__ import annotations

PENDING_MAX = 100  # of one subscription, says Salesforce
STEP = 4
REFUSALS_MAX = 4  # from all that may be pending down to one, and that one too


class Portion:
    """`most` events may be pending; the answers to them may have `limit_bytes` together."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._refusals = 0
        self.most = PENDING_MAX

    def too_large(self) -> bool:
        """An answer was refused for its size. False where it is one event's: less has been asked for to no avail."""
        self._refusals += 1
        alone = self.most == 1 or self._refusals >= REFUSALS_MAX
        self.most = max(1, self.most // STEP)
        return not alone

    def fitted(self, size_bytes: int) -> None:
        """An answer was read; twice as many are asked for where as many like these would fill half the limit."""
        if size_bytes * STEP <= self._limit_bytes:
            self.most = min(PENDING_MAX, self.most * 2)

    def moved(self) -> None:
        """A position is stored: what is refused from now on is another answer."""
        self._refusals = 0
