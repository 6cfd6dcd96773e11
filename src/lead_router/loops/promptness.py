"""Promptness: whether a provider is worth waiting for, as its last answers were; told by one loop, asked by others."""

from __future__ import annotations

from lead_router.core.model import Configuration
from lead_router.loops.breaker import Breaker
from lead_router.loops.filling import FILL_AFTER_S
from lead_router.ports import Wanted

LATE_MAX = 3
"""Answers in a row that came too late for their leads: then no job waits until one comes in time."""


class Promptness:
    """Shared by the loops of a process; `breaker` is the provider's own."""

    def __init__(self, breaker: Breaker) -> None:
        self.breaker = breaker
        self._late = 0

    def note(self, age_s: float, deadline_s: float) -> None:
        """An answer came so long after its lead was recorded."""
        self._late = self._late + 1 if age_s > deadline_s else 0

    def worth_waiting(self) -> bool:
        """Whether the provider is well, and answers in time."""
        return self.breaker.closed() and self._late < LATE_MAX


def wanted_now(configuration: Configuration, promptness: Promptness) -> Wanted | None:
    """What a recording's leads are wanted for, None where no hop is on. No job waits for a provider at fault."""
    asking, scoring = configuration.enrichment, configuration.scoring
    if asking is not None:
        return Wanted("asked", wait_s=asking.deadline_s if promptness.worth_waiting() else 0.0)
    writes_score = scoring is not None and scoring.field is not None
    return Wanted("found", delay_s=FILL_AFTER_S) if writes_score else None
