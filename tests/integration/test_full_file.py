"""An SQLite file that may not grow: the fault names the disk, nothing of the transaction is kept, and it goes on."""

from __future__ import annotations

import pytest

from lead_router.errors import StoreUnavailable
from lead_router.ports import Position
from support.databases import CHANNEL, new_job


def test_a_full_file_keeps_no_half_of_a_recording(embedded):
    """A28: neither jobs nor position are stored, the text says that the disk is full, and with room all is stored."""
    store = embedded.open()
    jobs = [new_job(number, note="x" * 4_000) for number in range(50)]
    position = Position(CHANNEL, b"7")
    # Never fewer pages than it has; the connection is given up at the fault, and the next one knows no limit.
    store._engine._connection.execute("PRAGMA max_page_count = 1")
    with pytest.raises(StoreUnavailable, match=r"jobs\.db \(LEAD_ROUTER_DATABASE\) is full: make room"):
        store.record(jobs, position=position)
    kept = (store.queue().queued, store.position(CHANNEL))
    created = store.record(jobs, position=position).created

    assert (kept, created) == ((0, None), 50)
    assert store.position(CHANNEL) == position
