"""Who listens: one row per channel, a lease by the database's clock, and a generation that fences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from lead_router.jobs import listener_statements as sql
from lead_router.jobs import views
from lead_router.jobs.engine import Step
from lead_router.jobs.sweeping import SET_BACK_MS
from lead_router.jobs.verbs import Verbs
from lead_router.jobs.writing import in_ms, listed
from lead_router.ports import Held, Hold, Kept, Silence


class SqlListeners(Verbs):
    """See Listeners."""

    def hold(self, channel: str, holder: str, *, lease_s: float) -> Hold | Held:
        """Reads first: those who wait ask every second, and write only when there is something to take."""
        rows = self._read(sql.LISTENER, channel=channel)
        lease_ms, set_back_ms = in_ms(lease_s), SET_BACK_MS
        if not rows or not rows[0]["listens"] or rows[0]["left_ms"] > lease_ms + set_back_ms:
            taken = self._write(sql.TAKE, channel=channel, holder=holder, lease_ms=lease_ms, set_back_ms=set_back_ms)
            if taken:
                return Hold(channel, holder, taken[0]["generation"], lease_s)
            rows = self._read(sql.LISTENER, channel=channel)
        return Held(rows[0]["holder"] or "", rows[0]["reloads"])

    def keep(self, hold: Hold, *, subscribed: bool = False, heard: bool = False) -> Kept | None:
        """Two statements in one transaction where something was heard: that ends a silence.

        Not synced: a lease that a lost machine forgot ends that much sooner, and the fence keeps two holders apart.
        """
        values = _named(hold)
        told = {"lease_ms": in_ms(hold.lease_s), "subscribed": int(subscribed), "heard": int(heard)}
        steps = [self._step(sql.KEEP_AND_TELL, **values, **told)]
        steps += [self._step(sql.END_SILENCE, **values)] * heard
        kept, *ended = self._engine.write(steps, synced=False)
        if not kept:
            return None
        broken = bool(ended and ended[0])
        return Kept(kept[0]["reconnects"], broke_silence=broken, silent=kept[0]["silent_at"] is not None and not broken)

    def find_silence(self, moments: Sequence[datetime], *, after_s: float) -> Silence | None:
        """Judged by the row of the one who listens now, in one statement."""
        rows = listed({"at": views.milliseconds(moment)} for moment in moments)
        found = self._write(sql.FIND_SILENCE, rows=rows, after_ms=in_ms(after_s))
        if not found:
            return None
        row = found[0]
        return Silence(row["channel"], row["silent_leads"], views.instant(row["silent_since"]), bool(row["begun"]))

    def give_up(self, hold: Hold) -> None:
        """The generation rises, so that the fence shuts at once."""
        self._write(sql.GIVE_UP, **_named(hold))

    def announce_reload(self, hold: Hold) -> None:
        """Tell those who wait that the configuration is to be loaded anew."""
        self._write(sql.ANNOUNCE_RELOAD, **_named(hold))

    def _kept(self, hold: Hold) -> Step:
        """Takes the row's lock for the rest of the transaction, and answers no row where another one holds it."""
        return self._step(sql.KEEP, **_named(hold), lease_ms=in_ms(hold.lease_s))


def fence_of(hold: Hold | None) -> Mapping[str, Any]:
    """By which values a recording asks whether its hold still stands; without one it always writes."""
    if hold is None:
        return {"fence_channel": None, "fence": None, "fence_holder": None}
    return {"fence_channel": hold.channel, "fence": hold.generation, "fence_holder": hold.holder}


def _named(hold: Hold) -> Mapping[str, Any]:
    return {"channel": hold.channel, "generation": hold.generation, "holder": hold.holder}
