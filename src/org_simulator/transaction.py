from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from org_simulator.changes import Row


class Transaction:
    """Work that is committed whole or not at all. Sees its own writes and what others committed; reads never wait."""

    user_id: str
    transaction_key: str
    auto_assign: bool
    """Whether lead assignment rules run; may be set between saves (a composite subrequest has its own header)."""
    origin: str

    def insert(self, sobject: str, fields: Mapping[str, Any]) -> str:
        """Save a new record; answers its id."""
        raise NotImplementedError

    def update(self, sobject: str, record_id: str, fields: Mapping[str, Any]) -> None:
        """Save changes of a record; NOT_FOUND (404), ENTITY_IS_DELETED (404) and all that a save may refuse."""
        raise NotImplementedError

    def delete(self, sobject: str, record_id: str) -> None:
        """Move a record to the recycle bin."""
        raise NotImplementedError

    def undelete(self, sobject: str, record_id: str) -> None:
        """Take a record out of the recycle bin."""
        raise NotImplementedError

    def preload(self, sobject: str, record_ids: Iterable[str]) -> None:
        """Say which records the next saves will change: under `stale_load` their originals are read now."""
        raise NotImplementedError

    def row(self, sobject: str, record_id: str) -> Row | None:
        """The record (15- or 18-character id), unless absent or deleted."""
        raise NotImplementedError

    def rows(self, sobject: str, *, deleted: bool = False) -> Iterator[Row]:
        """All records as of now, by creation; `deleted` adds those in the recycle bin (IsDeleted true)."""
        raise NotImplementedError

    def rows_by(self, sobject: str, field: str, values: Iterable[str]) -> Iterator[Row] | None:
        """Records whose `field` is one of `values`, by index; None where the field has no index (scan then)."""
        raise NotImplementedError

    def find(self, sobject: str, field: str, value: str) -> str | None:
        """The id of the record whose unique or external-id field has this value."""
        raise NotImplementedError

    def savepoint(self) -> object:
        """A point to go back to; locks are kept."""
        raise NotImplementedError

    def rollback_to(self, savepoint: object) -> None:
        """Undo all saves since the savepoint; locks are kept."""
        raise NotImplementedError

    def on_commit(self, callback: Callable[[], None]) -> None:
        """Call after this transaction is committed, in commit order; never if it is rolled back."""
        raise NotImplementedError
