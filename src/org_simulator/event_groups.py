"""Which changes of one transaction share an event, and which get none of their own."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from org_simulator.changes import UPDATE
from org_simulator.event_bodies import body, changed_fields

if TYPE_CHECKING:
    from org_simulator.changes import RowChange

CHANGES_MAX = 100_000  # changes of one transaction that get events of their own
MERGE_WITHIN = timedelta(seconds=1)
_STAMPS = frozenset({"CreatedDate", "LastModifiedDate"})


def within_limit(changes: Sequence[RowChange]) -> tuple[list[RowChange], list[RowChange]]:
    """Changes that get events, and those beyond the limit; an update counts its changed fields, all else counts 1."""
    if sum(len(change.after or ()) + 1 for change in changes) <= CHANGES_MAX:
        return list(changes), []  # far below, without a look at each field
    total = 0
    for index, change in enumerate(changes):
        total += _weight(change)
        if total > CHANGES_MAX:
            return list(changes[:index]), list(changes[index:])
    return list(changes), []


def merged(changes: Sequence[RowChange]) -> list[list[RowChange]]:
    """Groups of one transaction: same change, object, second and values; a record changed again opens new groups."""
    groups: list[list[RowChange]] = []
    open_groups: dict[tuple[str, str, str], list[RowChange]] = {}
    touched: set[str] = set()
    for change in changes:
        if change.id in touched:
            open_groups, touched = {}, set()
        touched.add(change.id)
        values = {name: value for name, value in body(change).items() if name not in _STAMPS}
        key = (change.sobject, change.kind, json.dumps(values, sort_keys=True))
        group = open_groups.get(key)
        if group is None or change.at - group[0].at >= MERGE_WITHIN:
            group = open_groups[key] = []
            groups.append(group)
        group.append(change)
    return groups


def _weight(change: RowChange) -> int:
    return len(changed_fields(change)) if change.kind == UPDATE else 1
