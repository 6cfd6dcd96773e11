"""The books: the ledger beside what stands for it on groups, members and leads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from lead_router.core.drift import Change, Entry, Stamp, Sum
from lead_router.core.model import Group


@dataclass(frozen=True, slots=True)
class Look:
    """Groups with their members, by id, as they were at one moment each; those that moved meanwhile are not among them.

    `stands` are all groups' epochs and turns, by id, at the end of the look, `keys` their keys. `sums` are of the same
    moment as the groups; None where they were not asked for.
    """

    groups: Mapping[str, Group]
    stands: Mapping[str, tuple[int, int]]
    keys: Mapping[str, str]
    sums: tuple[Sum, ...] | None = None


@dataclass(frozen=True, slots=True)
class Mended:
    """What became of a repair: records that were written, and those that were not, each with the reason."""

    written: tuple[str, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)


class Books(Protocol):
    """Reads, in pages and in few calls, and one careful write. Every verb may raise Transient."""

    def look(self, *, sums: bool = False) -> Look:
        """Groups, members, and how many rows each member has, in one call."""
        ...

    def rows(self, group_id: str | None = None, *, since: datetime | None = None) -> Iterator[Sequence[Entry]]:
        """All rows of the ledger, of one group or made since an instant, a page per call, in no order."""
        ...

    def stamps(self, lead_ids: Sequence[str]) -> Mapping[str, Stamp]:
        """What leads say, by id; deleted ones do not come."""
        ...

    def routed(self, idempotency_keys: Sequence[str]) -> Mapping[str, datetime]:
        """When their rows were made, of those of the keys that have one."""
        ...

    def rounds(self, lead_keys: Sequence[str]) -> frozenset[str]:
        """Those of the leads' rounds that have a row."""
        ...

    def mend(self, group: Group, changes: Sequence[Change]) -> Mended:
        """Write changes of the group, as it was read, and of its members, all or none; none if it moved since."""
        ...

    def mend_leads(self, changes: Sequence[Change]) -> Mended:
        """Write leads' rounds and stamps, each by itself, only into a higher round than it is in."""
        ...
