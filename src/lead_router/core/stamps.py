"""Stamps: whether leads and jobs say what the ledger says."""

from __future__ import annotations

from lead_router.core.drift import Change, Drift, Drifted, Entry, Field, Stamp
from lead_router.core.ids import to18
from lead_router.core.keys import lead_key
from lead_router.core.leads import Outcome
from lead_router.core.tally import key_of

ROUTED = frozenset({"assigned", "fallback", "matched", "duplicate", "counted: taken by hand", "already routed"})
"""How jobs end that wrote their lead's row, or found it written."""

_BY_HAND = "somebody, or another program, wrote the field"
_DELETED = "the row was deleted"


def judged_stamp(entry: Entry, stamp: Stamp) -> Drifted | None:
    """What the lead of a row, read after it, says otherwise; None where it says the same, or tells of a later round.

    Fields that a person blanked are theirs to blank. A lead that was taken by hand bears nothing of it. Of a merged
    lead the master's own fields are kept, or those that the person who merged it chose.
    """
    lead_id, _, _ = entry.lead_key.partition(".")
    own = stamp.idempotency_key is not None and lead_id in stamp.idempotency_key
    if entry.outcome == Outcome.MANUAL or lead_id != to18(stamp.lead_id) or stamp.round > entry.round:
        return None
    blank = stamp.idempotency_key is None or stamp.round == 0
    if blank or not own:
        return None
    if stamp.round < entry.round:
        text = f"it is in round {stamp.round}, the ledger in round {entry.round}"
        changes = (
            Change(stamp.lead_id, Field.ROUND, stamp.round, entry.round),
            Change(stamp.lead_id, Field.STAMP, stamp.idempotency_key, entry.idempotency_key),
        )
        return _of(entry, stamp, Drift.ROUND, text, changes)
    if stamp.idempotency_key != entry.idempotency_key:
        return _of(entry, stamp, Drift.STAMP, f"its stamp is not that of round {entry.round}", ())
    key = key_of(entry)
    if key is not None and stamp.group_key is not None and stamp.group_key != key:
        return _of(entry, stamp, Drift.SHOWN_GROUP, f"it shows group '{stamp.group_key}', the ledger '{key}'", ())
    return None


def unproved(stamp: Stamp, group: str) -> Drifted:
    """A lead's round of which no row tells."""
    text = f"it is in round {stamp.round}, and no row says {lead_key(stamp.lead_id, stamp.round)}"
    return Drifted(Drift.ROUND, group, None, None, stamp.lead_id, text, f"{_DELETED}, or {_BY_HAND}")


def _of(entry: Entry, stamp: Stamp, kind: Drift, text: str, changes: tuple[Change, ...]) -> Drifted:
    return Drifted(kind, key_of(entry) or "", entry.epoch, entry.turn, stamp.lead_id, text, _BY_HAND, changes)
