"""What counts as a lead that somebody mended after its job died."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from lead_router.core.touch import MODIFIED, mended_since

ROUTER, OTHER = "005000000000001AAA", "005000000000002AAA"
DIED = datetime(2026, 3, 2, 9, 0, 0, 700_000, tzinfo=UTC)


@pytest.mark.parametrize(
    ("after_s", "who", "failed", "mended"),
    [
        (60, OTHER, True, True),
        (60, OTHER, False, True),
        (60, ROUTER, True, False),
        (-0.7, OTHER, True, True),
        (-0.7, OTHER, False, False),
        (-290, OTHER, True, True),
        (-310, OTHER, True, False),
    ],
)
def test_a_change_by_others_that_came_after_the_note_counts(after_s, who, failed, mended):
    """The note is the router's own change; without one the clocks decide, and none is believed to be far off."""
    changed = (DIED + timedelta(seconds=after_s)).isoformat()
    fields = {MODIFIED: changed, "LastModifiedById": who}
    assert mended_since(fields, DIED, failed=failed, by_others_than=ROUTER) is mended
