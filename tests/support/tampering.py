"""What no rule of the org lets through: fields set and rows erased past everything, as by tools while rules are off."""

from __future__ import annotations

from typing import Any

from org_simulator.org import Org


def tamper(org: Org, record_id: str, **fields: Any) -> None:
    """The record has these fields; no rule, lock, stamp or event tells of it."""
    sobject = org.sobject_of(record_id[:3])
    assert sobject is not None
    table = org.store.tables[sobject.lower()]
    with org.store.mutex:
        table.put(record_id, {**table.rows[record_id], **fields})


def erase(org: Org, record_id: str) -> None:
    """The record is deleted by an administrator."""
    sobject = org.sobject_of(record_id[:3])
    assert sobject is not None
    with org.transaction(org.admin_user_id) as opened:
        opened.delete(sobject, record_id)
