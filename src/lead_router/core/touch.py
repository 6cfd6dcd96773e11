"""Whether somebody else changed a lead: what a person edited is worth another try."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from lead_router.core.ids import to18
from lead_router.core.keys import CHANGED
from lead_router.core.soql.values import instant

CHANGED_BY = "LastModifiedById"


def touched_since(fields: Mapping[str, Any], at: datetime, *, by_others_than: str) -> bool:
    """Whether the lead was last changed after `at`, and not by the user of this id."""
    changed, who = instant(fields.get(CHANGED)), fields.get(CHANGED_BY)
    if changed is None or not isinstance(who, str):
        return False
    return changed > at and to18(who) != to18(by_others_than)
