from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from org_simulator.ids import make_id
from org_simulator.locks import Locks

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

    from org_simulator.changes import Row
    from org_simulator.clock import Clock
    from org_simulator.schema import Field, Schema, SObject

FIRST_ID_MIN = 1_000_000
FIRST_ID_MAX = 10_000_000
"""Counting of ids starts between these, below are fixed ids: no two orgs share ids, as in life."""


class Index:
    """Which records have a value in one field. Blanks are not indexed, nor do they count as duplicates."""

    def __init__(self, field: Field) -> None:
        self.field = field
        self._folds = not (field.case_sensitive or field.type == "reference")
        self._ids: dict[str, dict[str, None]] = {}

    def key(self, value: object) -> str | None:
        """The value as the index compares it; None for a blank."""
        if value is None:
            return None
        text = str(value)
        return text.lower() if self._folds else text

    def ids(self, value: object) -> Iterator[str]:
        """Ids with this value, by time of writing."""
        key = self.key(value)
        return iter(() if key is None else tuple(self._ids.get(key, ())))

    def move(self, record_id: str, before: object, after: object) -> None:
        """A record's value was `before` and is `after`."""
        if before == after:
            return
        old, new = self.key(before), self.key(after)
        if old is not None and (holders := self._ids.get(old)) is not None:
            holders.pop(record_id, None)
            if not holders:
                del self._ids[old]
        if new is not None:
            self._ids.setdefault(new, {})[record_id] = None


def _indexed(field: Field) -> bool:
    own_reference = field.type == "reference" and field.name not in {"CreatedById", "LastModifiedById"}
    return field.unique or field.external_id or own_reference


class Table:
    """Records of one object by id, and their indexes by lower-cased field name. Rows are replaced, never changed."""

    def __init__(self, sobject: SObject) -> None:
        self.sobject = sobject
        self.rows: dict[str, Row] = {}
        self.indexes = {name: Index(field) for name, field in sobject.fields.items() if _indexed(field)}
        self.unique = {name: index for name, index in self.indexes.items() if index.field.unique}

    def put(self, record_id: str, row: Row | None) -> None:
        """Store a record, or forget it (None)."""
        before = self.rows.get(record_id)
        for index in self.indexes.values():
            name = index.field.name
            index.move(record_id, None if before is None else before.get(name), None if row is None else row.get(name))
        if row is None:
            self.rows.pop(record_id, None)
        else:
            self.rows[record_id] = row


class Store:
    """Everything that is committed, the locks, and the counters. `mutex` guards all of it and is held only briefly."""

    def __init__(self, schema: Schema, clock: Clock, dice: random.Random, *, detect_deadlocks: bool) -> None:
        self.mutex = threading.RLock()
        self.changed = threading.Condition(self.mutex)
        self.locks = Locks(self.changed, clock, detect_deadlocks=detect_deadlocks)
        self.tables = {name: Table(sobject) for name, sobject in schema.objects.items()}
        self.commit_number = dice.randrange(10**12)
        self._dice = dice
        self._ids: dict[str, int] = {}
        self._auto_numbers: dict[str, int] = {}

    def new_id(self, prefix: str) -> str:
        """An id that no record has had."""
        with self.mutex:
            if prefix not in self._ids:
                self._ids[prefix] = self._dice.randrange(FIRST_ID_MIN, FIRST_ID_MAX)
            self._ids[prefix] += 1
            return make_id(prefix, self._ids[prefix])

    def auto_number(self, sobject: SObject, display: str) -> str:
        """The next auto number, `RRM-{000000}` reads RRM-000001; a rollback leaves a hole."""
        number = self._auto_numbers[sobject.name] = self._auto_numbers.get(sobject.name, 0) + 1
        before, _, rest = display.partition("{")
        zeros, _, after = rest.partition("}")
        return f"{before}{number:0{len(zeros)}d}{after}"
