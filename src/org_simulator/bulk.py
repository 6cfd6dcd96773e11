"""Saves of several records of one object, and the org's automation (its triggers) around them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from org_simulator.failures import Failure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from org_simulator.transaction import Transaction

LOCKED = "UNABLE_TO_LOCK_ROW"

Item: TypeAlias = "tuple[str | None, Mapping[str, Any]]"
"""A record to save: its id, None for a new one, and its fields."""


def automated(tx: Transaction, sobject: str) -> bool:
    """Whether triggers run when this transaction saves such a record."""
    automation = tx.org.automation
    return tx.triggers and automation is not None and bool(automation.watches(sobject))


def save_one(tx: Transaction, verb: str, sobject: str, record_id: str | None, fields: Mapping[str, Any]) -> str:
    """One record through the automation; answers its id, raises its failure."""
    [result] = tx.org.automation.save(tx, verb, sobject, [(record_id, fields)], together=True)
    if isinstance(result, Failure):
        raise result
    return str(result)


def save_all(tx: Transaction, verb: str, sobject: str, items: Sequence[Item], *, together: bool) -> list[str | Failure]:
    """Insert, update or delete up to 200 records, which triggers see together; id or failure by position.

    Without triggers a refused save leaves no trace, and under `together` a lock that could not be had is the last try.
    """
    if automated(tx, sobject):
        found: list[str | Failure] = tx.org.automation.save(tx, verb, sobject, items, together=together)
        return found
    results: list[str | Failure] = []
    for record_id, fields in items:
        try:
            results.append(_save(tx, verb, sobject, record_id, fields))
        except Failure as failure:
            results.append(failure)
            if together and (failure.code == LOCKED or tx.org.switches.only_first_error_reported):
                break
    return results


def _save(tx: Transaction, verb: str, sobject: str, record_id: str | None, fields: Mapping[str, Any]) -> str:
    if verb == "insert":
        return tx.insert(sobject, fields)
    if verb == "update":
        tx.update(sobject, record_id or "", fields)
    else:
        tx.delete(sobject, record_id or "")
    return record_id or ""
