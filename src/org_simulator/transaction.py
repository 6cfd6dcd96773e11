from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from org_simulator import bulk, failures, removing, saving
from org_simulator.changes import RowChange
from org_simulator.ids import SHORT_LENGTH, is_id, to18
from org_simulator.store import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from types import TracebackType

    from org_simulator.changes import Row
    from org_simulator.org import Org


@dataclass(frozen=True, slots=True)
class Savepoint:
    """How much had been done: writes, and saves among them."""

    writes: int
    saves: int


@dataclass(frozen=True, slots=True)
class _Save:
    sobject: str
    id: str
    kind: str
    before: Row | None
    after: Row | None
    origin: str


class Transaction:
    """Work that is committed whole or not at all. Sees its own writes and what others committed; reads never wait.

    Of one thread. Each save either happens or leaves no trace but its locks. Every verb raises Failure.
    """

    def __init__(self, org: Org, user_id: str, *, auto_assign: bool, origin: str, system: bool = False) -> None:
        self.org = org
        self.user_id = user_id
        self.auto_assign = auto_assign
        """Whether lead assignment rules run; may be set between saves (a composite subrequest has its own header)."""
        self.origin = origin
        """`changeOrigin` of the saves that follow."""
        self.system = system
        """The org's own work: read-only fields may be written, validation and assignment rules do not run."""
        self.triggers = True
        """Whether triggers run; off for what the platform does without them, such as conversion."""
        self.session: Any = None
        """What the org's automation keeps for the length of this transaction."""
        self.transaction_key = str(uuid.UUID(int=org.dice.getrandbits(128), version=4))
        self._store = org.store
        self._own: dict[str, Table] = {}
        self._undo: list[tuple[Table, str, Row | None]] = []
        self._saves: list[_Save] = []
        self._callbacks: list[Callable[[], None]] = []
        self._originals: dict[str, Row | None] = {}
        self._ended = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _fault: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if self._ended:
            return
        if kind is None:
            self.commit()
        else:
            self.rollback()

    # ---- saves ------------------------------------------------------------------------------------------------------

    def insert(self, sobject: str, fields: Mapping[str, Any]) -> str:
        """Save a new record; answers its id."""
        if bulk.automated(self, sobject):
            return bulk.save_one(self, "insert", sobject, None, fields)
        with self._store.mutex:
            return saving.insert(self, self.table(sobject).sobject, fields)

    def update(self, sobject: str, record_id: str, fields: Mapping[str, Any]) -> None:
        """Save changes of a record; NOT_FOUND (404), ENTITY_IS_DELETED (404) and all that a save may refuse."""
        if bulk.automated(self, sobject):
            bulk.save_one(self, "update", sobject, record_id, fields)
            return
        with self._store.mutex:
            saving.update(self, self.table(sobject).sobject, self.checked_id(sobject, record_id), fields)

    def delete(self, sobject: str, record_id: str) -> None:
        """Move a record to the recycle bin, with its details; INVALID_CROSS_REFERENCE_KEY (404) if there is none."""
        if bulk.automated(self, sobject):
            bulk.save_one(self, "delete", sobject, record_id, {})
            return
        with self._store.mutex:
            removing.delete(self, self.table(sobject).sobject, self.checked_id(sobject, record_id))

    def undelete(self, sobject: str, record_id: str) -> None:
        """Take a record out of the recycle bin."""
        if bulk.automated(self, sobject):
            bulk.save_one(self, "undelete", sobject, record_id, {})
            return
        with self._store.mutex:
            removing.undelete(self, self.table(sobject).sobject, self.checked_id(sobject, record_id))

    def preload(self, sobject: str, record_ids: Iterable[str]) -> None:
        """Say which records the next saves will change: under `stale_load` their originals are read now."""
        if not self.org.switches.stale_load:
            return
        with self._store.mutex:
            for record_id in record_ids:
                if is_id(record_id):
                    self._originals[to18(record_id)] = self.any_row(sobject, to18(record_id))

    # ---- reads ------------------------------------------------------------------------------------------------------

    def row(self, sobject: str, record_id: str) -> Row | None:
        """The record (15- or 18-character id), unless absent or deleted."""
        if not is_id(record_id):
            return None
        with self._store.mutex:
            found = self.any_row(sobject, to18(record_id))
        return None if found is None or found["IsDeleted"] else found

    def rows(self, sobject: str, *, deleted: bool = False) -> Iterator[Row]:
        """All records as of now, by creation; `deleted` adds those in the recycle bin (IsDeleted true)."""
        with self._store.mutex:
            table = self.table(sobject)
            found = list(table.rows.values())
            own = self._own.get(sobject.lower())
            if own is not None and own.rows:
                changed, committed = own.rows, table.rows
                found = [changed.get(row["Id"], row) for row in found]
                found += [row for record_id, row in changed.items() if record_id not in committed]
        return iter(found if deleted else [row for row in found if not row["IsDeleted"]])

    def rows_by(self, sobject: str, field: str, values: Iterable[str]) -> Iterator[Row] | None:
        """Records whose `field` is one of `values` (ids in 18 characters), by index; None where there is no index."""
        with self._store.mutex:
            name = field.lower()
            if name == "id":
                found = [self.any_row(sobject, value) for value in values]
            elif name in self.table(sobject).indexes:
                ids = dict.fromkeys(record_id for value in values for record_id in self.holders(sobject, name, value))
                found = [self.any_row(sobject, record_id) for record_id in ids]
            else:
                return None
        return iter([row for row in found if row is not None and not row["IsDeleted"]])

    def find(self, sobject: str, field: str, value: str) -> str | None:
        """The id of the record whose unique or external-id field has this value."""
        found = self.rows_by(sobject, field, [value])
        first = None if found is None else next(found, None)
        return None if first is None else str(first["Id"])

    # ---- ends -------------------------------------------------------------------------------------------------------

    def savepoint(self) -> Savepoint:
        """A point to go back to; locks are kept."""
        return Savepoint(len(self._undo), len(self._saves))

    def rollback_to(self, savepoint: Savepoint) -> None:
        """Undo all saves since the savepoint; locks are kept."""
        with self._store.mutex:
            while len(self._undo) > savepoint.writes:
                table, record_id, before = self._undo.pop()
                table.put(record_id, before)
            del self._saves[savepoint.saves :]

    def on_commit(self, callback: Callable[[], None]) -> None:
        """Call after this transaction is committed, in commit order; never if it is rolled back."""
        self._callbacks.append(callback)

    def commit(self) -> None:
        """Make everything visible at once, let go of the locks, tell the listeners. Ends the transaction."""
        with self._store.mutex:
            self._ended = True
            for name, own in self._own.items():
                table = self._store.tables[name]
                for record_id, row in own.rows.items():
                    table.put(record_id, row)
            changes = self._changes()
            self._store.locks.release_all(self)
            if changes:
                for listener in self.org.listeners:
                    listener(changes)
            for callback in self._callbacks:
                callback()

    def rollback(self) -> None:
        """Forget everything. Ends the transaction."""
        with self._store.mutex:
            self._ended = True
            self._store.locks.release_all(self)

    def _changes(self) -> list[RowChange]:
        if not self._saves:
            return []
        self._store.commit_number += self.org.dice.randrange(1, 100)
        at = self.org.clock.now()
        return [
            RowChange(
                sobject=save.sobject,
                id=save.id,
                kind=save.kind,
                before=save.before,
                after=save.after,
                at=at,
                user_id=self.user_id,
                origin=save.origin,
                transaction_key=self.transaction_key,
                sequence=place,
                commit_number=self._store.commit_number,
            )
            for place, save in enumerate(self._saves, start=1)
        ]

    # ---- what saving stands on; the store's mutex is held ------------------------------------------------------------

    def table(self, sobject: str) -> Table:
        """The committed records of an object; INVALID_TYPE if there is no such object."""
        found = self._store.tables.get(sobject.lower())
        if found is None:
            raise failures.invalid_type(sobject)
        return found

    def checked_id(self, sobject: str, record_id: str) -> str:
        """The 18-character id; MALFORMED_ID if it is not one of this object."""
        described = self.table(sobject).sobject
        if not is_id(record_id) or not record_id.startswith(described.prefix):
            raise failures.malformed_id(f"{described.label} ID", record_id)
        return to18(record_id) if len(record_id) == SHORT_LENGTH else record_id

    def any_row(self, sobject: str, record_id: str) -> Row | None:
        """The record as this transaction sees it, deleted or not."""
        own = self._own.get(sobject.lower())
        if own is not None and (row := own.rows.get(record_id)) is not None:
            return row
        return self.table(sobject).rows.get(record_id)

    def holders(self, sobject: str, field: str, value: Any) -> list[str]:
        """Ids of records that have this value in an indexed field, as this transaction sees them, deleted or not."""
        name = field.lower()
        committed = self.table(sobject).indexes[name].ids(value)
        own = self._own.get(sobject.lower())
        if own is None:
            return list(committed)
        return [record_id for record_id in committed if record_id not in own.rows] + list(own.indexes[name].ids(value))

    def original(self, sobject: str, record_id: str) -> Row | None:
        """What a save takes for the original when it is loaded before the lock: preloaded, else as of now."""
        if record_id in self._originals:
            return self._originals.pop(record_id)
        return self.any_row(sobject, record_id)

    def keep_original(self, record_id: str, row: Row) -> None:
        """Let the save that follows take this for the original that was loaded before the lock."""
        if self.org.switches.stale_load:
            self._originals[record_id] = row

    def lock(self, *record_ids: str) -> None:
        """Hold these rows to the end of the transaction; UNABLE_TO_LOCK_ROW after the limit."""
        for record_id in record_ids:
            if not self._store.locks.acquire(self, record_id):
                raise failures.row_locked([record_id], self.org.switches.lock_error_http_status)

    def reserve(self, sobject: str, field: str, key: str, record_id: str) -> None:
        """Hold a unique value to the end of the transaction, waiting for another that holds it."""
        if not self._store.locks.acquire(self, (sobject, field, key)):
            raise failures.row_locked([record_id], self.org.switches.lock_error_http_status)

    def write(self, sobject: str, record_id: str, row: Row, kind: str | None) -> None:
        """Put a row; `kind` None leaves no change behind."""
        own = self._own.get(sobject.lower())
        if own is None:
            own = self._own[sobject.lower()] = Table(self.table(sobject).sobject)
        before = self.any_row(sobject, record_id)
        self._undo.append((own, record_id, own.rows.get(record_id)))
        own.put(record_id, row)
        if kind is not None:
            after = None if row["IsDeleted"] else row
            self._saves.append(_Save(own.sobject.name, record_id, kind, before, after, self.origin))
