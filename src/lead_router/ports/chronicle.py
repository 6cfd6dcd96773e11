"""The chronicle: jobs in the order in which they were made or ended, for whoever reads through them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from lead_router.ports.store import JobView


class Chronicle(Protocol):
    """The part of the job store that is read through, page by page. Raises StoreUnavailable as the rest of it does."""

    def jobs_after(self, job_id: int, *, limit: int) -> Sequence[JobView]:
        """Jobs of higher numbers, the lowest first."""
        ...

    def done_after(self, at: datetime, job_id: int, *, limit: int) -> Sequence[JobView]:
        """Jobs that were done later, or at that time with a higher number, the earliest first."""
        ...
