"""Whether somebody else changed a lead: what a person edited is worth another try.

Told by LastModifiedDate. SystemModstamp moves as well where nobody changed the lead, as when one of its tasks is
completed ("Difference between SystemModStamp and LastModifiedDate", Salesforce Help 000387261), and no event tells it.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from lead_router.core.ids import to18
from lead_router.core.soql.values import instant

CHANGED_BY = "LastModifiedById"
MODIFIED = "LastModifiedDate"

APART: Final = timedelta(minutes=5)
"""How far the job database's clock may be ahead of Salesforce's, which tells of a change in whole seconds."""


def touched_since(fields: Mapping[str, Any], at: datetime, *, by_others_than: str) -> bool:
    """Whether the lead was last changed after `at`, and not by the user of this id."""
    changed = touched_at(fields, by_others_than=by_others_than)
    return changed is not None and changed > at


def mended_since(fields: Mapping[str, Any], died_at: datetime, *, failed: bool, by_others_than: str) -> bool:
    """Whether somebody changed the lead after its job died at `died_at`, by the job database's clock.

    Where the lead shows `failed`, the user of that id was the last who changed it as the job died: a change by others
    came later, whatever the clocks say. Only within APART, or a lead whose note was refused would be tried for ever.
    """
    since = died_at - APART if failed else died_at
    return touched_since(fields, since, by_others_than=by_others_than)


def last_told_at(fields: Mapping[str, Any], created_at: datetime, *, by_others_than: str) -> datetime:
    """When somebody last did something to the lead of which an event must tell: created it, or changed it since."""
    changed = touched_at(fields, by_others_than=by_others_than)
    return created_at if changed is None else max(created_at, changed)


def touched_at(fields: Mapping[str, Any], *, by_others_than: str) -> datetime | None:
    """When the lead was last changed; None where that is not known, or was done by the user of this id."""
    changed, who = instant(fields.get(MODIFIED)), fields.get(CHANGED_BY)
    known = isinstance(who, str) and to18(who) != to18(by_others_than)
    return changed if known else None
