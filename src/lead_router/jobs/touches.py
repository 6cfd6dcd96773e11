"""Touches: the clocks of groups and the marks of leads (`statements` says how statements are spelled)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Final

from lead_router.jobs import views
from lead_router.jobs.engine import Row
from lead_router.jobs.verbs import Verbs
from lead_router.jobs.writing import in_ms, listed
from lead_router.ports.touches import Touched, TouchMark

_CLOCKS: Final = """
    INSERT INTO touch_clock (org_id, group_id, position, began_at, seen_at)
    SELECT :org_id, r.value ->> 'group_id', :position, {now}, {now}
    FROM {rows}
    WHERE true -- tells SQLite that ON belongs to the insert
    ON CONFLICT (org_id, group_id) DO UPDATE
    SET began_at = CASE WHEN touch_clock.seen_at < {now} - :lapses_ms OR touch_clock.position <> excluded.position
                        THEN {now} ELSE touch_clock.began_at END,
        position = excluded.position, seen_at = {now}
    RETURNING group_id, began_at
"""

_BEGAN: Final = "SELECT group_id, began_at FROM touch_clock WHERE org_id = :org_id AND position = :position"

_MARK: Final = """
    INSERT INTO touch_mark (org_id, lead_id, round, mark, group_id, owner_id, due_at, marked_at)
    SELECT :org_id, r.value ->> 'lead_id', CAST(r.value ->> 'round' AS BIGINT), r.value ->> 'mark',
           r.value ->> 'group_id', r.value ->> 'owner_id', CAST(r.value ->> 'due_at' AS BIGINT), {now}
    FROM {rows}
    WHERE true -- tells SQLite that ON belongs to the insert
    ON CONFLICT (org_id, lead_id, round, mark) DO NOTHING
    RETURNING lead_id, round, mark
"""

_TOUCHED: Final = """
    SELECT j.lead_id, j.round FROM {rows}
    JOIN touch_mark AS j ON j.org_id = :org_id AND j.lead_id = r.value ->> 'lead_id'
    WHERE j.mark = :mark
"""

_MARKS: Final = """
    SELECT lead_id, round, mark, group_id, owner_id, due_at FROM touch_mark
    WHERE org_id = :org_id AND marked_at >= :since ORDER BY marked_at, lead_id, round
"""

_FORGET: Final = """
    WITH picked AS MATERIALIZED (
        SELECT j.lead_id, j.round, j.mark FROM touch_mark AS j
        WHERE j.org_id = :org_id AND j.marked_at < {now} - :older_ms
        ORDER BY j.marked_at
        LIMIT :limit
        {skip_locked}
    )
    DELETE FROM touch_mark
    WHERE org_id = :org_id AND (lead_id, round, mark) IN (SELECT lead_id, round, mark FROM picked)
    RETURNING lead_id
"""


class SqlTouches(Verbs):
    """See Touches."""

    def clocks(self, group_ids: Collection[str], *, position: str, lapses_s: float) -> Mapping[str, datetime]:
        """One statement: since when, and that it is so now."""
        rows = listed({"group_id": group_id} for group_id in sorted(group_ids))
        found = self._write(_CLOCKS, rows=rows, position=position, lapses_ms=in_ms(lapses_s)) if group_ids else []
        return {row["group_id"]: views.instant(row["began_at"]) for row in found}

    def clocks_began(self, *, position: str) -> Mapping[str, datetime]:
        """A look alone: no clock begins by it."""
        return {row["group_id"]: views.instant(row["began_at"]) for row in self._read(_BEGAN, position=position)}

    def mark_touches(self, marks: Sequence[TouchMark]) -> tuple[TouchMark, ...]:
        """In one order, so that two that mark the same do not wait for each other."""
        ordered = sorted(marks, key=lambda one: (one.lead_id, one.round, one.mark))
        made = {_key(row) for row in self._write(_MARK, rows=listed(map(_row, ordered)))} if ordered else set()
        return tuple(one for one in ordered if (one.lead_id, one.round, one.mark.value) in made)

    def touched(self, lead_ids: Collection[str]) -> frozenset[tuple[str, int]]:
        """By the key, which begins with the lead."""
        rows = listed({"lead_id": one} for one in sorted(lead_ids))
        found = self._read(_TOUCHED, rows=rows, mark=Touched.TOUCHED.value) if lead_ids else []
        return frozenset((row["lead_id"], row["round"]) for row in found)

    def touch_marks(self, *, since: datetime) -> list[TouchMark]:
        """Oldest first."""
        return [
            TouchMark(
                *_key(row)[:2], Touched(row["mark"]), row["group_id"], row["owner_id"], views.instant(row["due_at"])
            )
            for row in self._read(_MARKS, since=views.milliseconds(since))
        ]

    def forget_touches(self, *, older_than_s: float, limit: int) -> int:
        """The oldest first; a clock looks back two weeks at most."""
        return len(self._write(_FORGET, older_ms=in_ms(older_than_s), limit=limit))


def _key(row: Row) -> tuple[str, int, str]:
    return row["lead_id"], row["round"], row["mark"]


def _row(one: TouchMark) -> Mapping[str, object]:
    return {
        "lead_id": one.lead_id,
        "round": one.round,
        "mark": one.mark.value,
        "group_id": one.group_id,
        "owner_id": one.owner_id,
        "due_at": views.milliseconds(one.due_at),
    }
