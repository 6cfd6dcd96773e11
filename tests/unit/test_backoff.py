"""Backoff: how long a failed job waits."""

from __future__ import annotations

from lead_router.core.backoff import backoff_s


def test_waits_double_up_to_the_cap():
    """Attempt n waits between half and all of first * 2^(n-1), never more than the cap."""
    for attempt, full in ((1, 2.0), (2, 4.0), (3, 8.0), (6, 60.0), (500, 60.0)):
        assert full / 2 <= backoff_s(attempt, "key", first_s=2, cap_s=60) <= full


def test_jobs_that_failed_together_come_back_apart():
    """Jitter comes from the key: a hundred jobs do not return in the same instant."""
    waits = [backoff_s(4, f"job {number}", first_s=1, cap_s=60) for number in range(100)]
    assert len(set(waits)) == 100
    assert max(waits) - min(waits) > 3
