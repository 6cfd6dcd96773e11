"""Sweeps: asked for, taken by one, kept while they last, and due again where nobody ended them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from lead_router.jobs import enriching, noticing, sweeping
from lead_router.jobs import statements as sql
from lead_router.jobs.listeners import fence_of
from lead_router.jobs.verbs import Verbs
from lead_router.jobs.writing import in_ms, listed, storable
from lead_router.ports import SET_BACK

KEPT_MS: Final = 60_000
"""How long a sweep is its taker's, from its last sign of life; then that one is dead or stalled, and it is due anew."""

_REASONS: Final = {
    "first": "first start",
    "regular": "interval",
    "left": "the last one was not ended",
    "set_back": f"{SET_BACK} by at least ",
}


class SqlSweeps(Verbs):
    """See Sweeps."""

    def request_sweep(self, reason: str) -> None:
        """Ask for a sweep soon; the first reason not yet answered is kept."""
        self._write(sql.REQUEST_SWEEP, reason=storable(reason), **fence_of(None))

    def take_sweep(self, *, every_s: float) -> str | None:
        """The reason if a sweep is due, to one caller only; the first one ever is due at once.

        Reads first: it is asked all the time, and a write would stand in the way of those that leads wait for; but for
        one each SEEN_MS, by which a clock that is set back is noticed. Then one transaction: who takes the sweep that
        such a clock brings sets the jobs' times right.
        """
        bounds = {"every_ms": in_ms(every_s), "set_back_ms": sweeping.SET_BACK_MS}
        if not_due := self._read(sweeping.NO_SWEEP_DUE, **bounds, seen_ms=sweeping.SEEN_MS):
            if not not_due[0]["seen"]:
                see = self._step(sweeping.SEE_CLOCK, seen_ms=sweeping.SEEN_MS)
                self._engine.write([see], synced=False)
            return None
        take = self._step(sweeping.TAKE_SWEEP, **_REASONS, **bounds, kept_ms=KEPT_MS)
        jobs = (sweeping.SET_RIGHT, sweeping.SET_DEATHS_RIGHT, sweeping.SET_DISCARDS_RIGHT)
        rights = (*jobs, enriching.SET_RIGHT, noticing.SET_RIGHT)
        steps = [self._step(right, set_back_ms=sweeping.SET_BACK_MS) for right in rights]
        rows = self._engine.write([*steps, take])[-1]
        return rows[0]["begun_for"] if rows else None

    def reopen(self, keys: Sequence[str]) -> int:
        """An event or sweep that comes later with the same key finds them as if they had never ended."""
        rows = listed({"key": key} for key in sorted(keys))
        return len(self._write(sweeping.REOPEN, rows=rows)) if keys else 0

    def keep_sweep(self, reason: str) -> None:
        """It is going on."""
        self._write(sweeping.KEEP_SWEEP, reason=reason, kept_ms=KEPT_MS)

    def end_sweep(self, reason: str) -> None:
        """Nothing of it is left to do. Where another one has been taken since, that one goes on."""
        self._write(sweeping.END_SWEEP, reason=reason)
