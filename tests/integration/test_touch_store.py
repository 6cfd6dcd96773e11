"""What the first-touch clock keeps in either database: since when it runs, and each mark once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from lead_router.ports import Touched, TouchMark
from support.databases import Database, lead_id

DAY_S = 86_400.0
DUE = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)


def mark(number: int, round_: int = 1, what: Touched = Touched.REMINDED) -> TouchMark:
    return TouchMark(lead_id(number), round_, what, "g1", "u1", DUE)


def test_a_mark_is_new_to_one_caller_only(database: Database):
    """Whichever router comes first, and however often: a round more, or another thing done, is another mark."""
    one, two = database.open(), database.open()

    assert one.mark_touches([mark(1), mark(2)]) == (mark(1), mark(2))
    assert two.mark_touches([mark(2), mark(3), mark(1, 2), mark(1, 1, Touched.WOULD_REROUTE)]) == (
        mark(1, 1, Touched.WOULD_REROUTE),
        mark(1, 2),
        mark(3),
    )
    assert one.mark_touches([mark(1), mark(3)]) == one.mark_touches([]) == ()


def test_marks_are_told_as_they_were_made_and_forgotten_in_portions(database: Database):
    store = database.open()
    store.mark_touches([mark(1)])
    database.wait(DAY_S)
    store.mark_touches([mark(2)])
    seen = store.touch_marks(since=datetime.now(UTC) - timedelta(days=9))

    assert seen == [mark(1), mark(2)]
    assert [store.forget_touches(older_than_s=DAY_S / 2, limit=5) for _ in range(2)] == [1, 0]
    assert store.touch_marks(since=datetime.now(UTC) - timedelta(days=9)) == [mark(2)]


def test_a_lead_that_was_touched_is_known_by_its_round(database: Database):
    """Other marks say nothing of that, nor do another lead's."""
    store = database.open()
    store.mark_touches([mark(1), mark(2, 3, Touched.TOUCHED), mark(2, 4), mark(3, 1, Touched.TOUCHED)])

    assert store.touched([lead_id(1), lead_id(2)]) == {(lead_id(2), 3)}
    assert store.touched([]) == frozenset()


def test_another_org_s_marks_and_clocks_are_its_own(database: Database):
    """Two orgs may share a database."""
    ours, theirs = database.open(), database.open(org_id="00D000000000002AAA")
    ours.mark_touches([mark(1)])

    assert theirs.mark_touches([mark(1)]) == (mark(1),)
    assert theirs.forget_touches(older_than_s=-60.0, limit=5) == 1
    assert ours.touch_marks(since=datetime.now(UTC) - timedelta(days=1)) == [mark(1)]


def test_a_clock_goes_on_as_long_as_it_is_looked_after(database: Database):
    """It begins anew where it stood still too long, and where the switch was in another position."""
    store = database.open()
    began = store.clocks(["g1", "g2"], position="live", lapses_s=DAY_S)
    database.wait(DAY_S / 2)
    other = database.open()
    kept = other.clocks(["g1"], position="live", lapses_s=DAY_S)["g1"]
    database.wait(DAY_S / 2 + 5)
    after = store.clocks(["g1", "g2"], position="live", lapses_s=DAY_S)
    observed = store.clocks(["g1"], position="observe", lapses_s=DAY_S)["g1"]

    assert set(began) == {"g1", "g2"}
    assert _apart(kept, began["g1"], database, DAY_S / 2)
    assert _apart(after["g1"], began["g1"], database, DAY_S + 5)
    assert after["g2"] > after["g1"]
    assert observed >= after["g2"]
    assert store.clocks([], position="live", lapses_s=DAY_S) == {}


def _apart(now: datetime, then: datetime, database: Database, moved_s: float) -> bool:
    """Whether it is the same instant: on PostgreSQL all that happened moves back instead of the clock."""
    moved = timedelta(0) if database.embedded else timedelta(seconds=moved_s)
    return abs(then - moved - now) < timedelta(seconds=1)
