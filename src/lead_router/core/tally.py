"""Tally: a group's ledger rows, counted as they come, in any order; its size grows with epochs and members alone.

Of each turn a bit is kept: a million turns are 125 kB. Rows beyond the turn at which the group was read may only be
newer than that: they are counted apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from lead_router.core.drift import Entry, Sum

NAMED_MAX = 20  # records of one kind that are named one by one
SPANS_MAX = 100  # spans of missing turns of one epoch that are told apart
_BITS = 4096  # turns per number
_FULL = (1 << _BITS) - 1
_KEY = re.compile(r"(?P<group>.+)\.(?P<epoch>\d{1,18})\.(?P<turn>\d{1,18})")

Place = tuple[int, int]
"""Epoch and turn."""


@dataclass(slots=True)
class Account:
    """A member's rows: how many, in the group's own epoch how many, and the last of them."""

    rows: int = 0
    in_epoch: int = 0
    last: Place | None = None


@dataclass(slots=True)
class Epoch:
    """The turns of an epoch that have rows. `kept_from` is the first of them that must still be there, if one is."""

    rows: int = 0
    first: int = 0
    last: int = 0
    kept_from: int | None = None
    bits: dict[int, int] = field(default_factory=dict)

    def note(self, turn: int) -> bool:
        """Whether this is the turn's first row."""
        place, bit = divmod(turn, _BITS)
        known = self.bits.get(place, 0)
        self.bits[place] = known | 1 << bit
        return not known >> bit & 1

    def holds(self, turn: int) -> bool:
        """Whether the turn has a row that was read."""
        place, bit = divmod(turn, _BITS)
        return bool(self.bits.get(place, 0) >> bit & 1)

    def widen(self, rows: int, first: int, last: int) -> None:
        """So many rows more, of these turns or of some between them."""
        self.first = min(self.first, first) if self.rows else first
        self.last = max(self.last, last)
        self.rows += rows

    def spans(self, until: int) -> list[Place]:
        """Turns without a row, from the first with one up to `until`: the first and last of each span of them."""
        found: list[Place] = []
        due = self.first
        for place in sorted(self.bits):
            base, known = place * _BITS, self.bits[place]
            for turn in (base,) if known == _FULL else (base + bit for bit in range(_BITS) if known >> bit & 1):
                if turn > due and len(found) < SPANS_MAX:
                    found.append((due, turn - 1))
                due = turn + 1
            due = base + _BITS if known == _FULL else due
        return [*found, (due, until)] if due <= until else found


@dataclass(slots=True)
class Tally:
    """One group's rows up to `turn` of `epoch`, where the group stood as it was read, and what lies beyond.

    `edited` are rows whose key tells of another turn than their fields, `twice` second rows of a turn, each with its
    place; `nameless` are the places of rows that name no member, being deleted since, and `nameless_rows` their number.
    """

    epoch: int
    turn: int
    since: datetime | None = None
    epochs: dict[int, Epoch] = field(default_factory=dict)
    accounts: dict[str, Account] = field(default_factory=dict)
    beyond: dict[str, Account] = field(default_factory=dict)
    beyond_turns: Epoch = field(default_factory=Epoch)
    beyond_last: Place | None = None
    edited: list[tuple[Place, Entry]] = field(default_factory=list)
    twice: list[tuple[Place, Entry]] = field(default_factory=list)
    nameless: dict[int, Epoch] = field(default_factory=dict)
    nameless_rows: int = 0
    whole: bool = True  # every row was read; else sums alone are known

    def add(self, entry: Entry) -> None:
        """One row of this group; one without a turn is passed over."""
        place = _place(entry)
        if place is None:
            return
        epoch, turn = place
        if entry.turn_key is None or (entry.epoch, entry.turn) != place:
            _keep(self.edited, (place, entry))
        if place > (self.epoch, self.turn):
            self._beyond(entry.member_id, place, 1)
            self.beyond_turns.note(turn)
            self.beyond_turns.widen(1, turn, turn)
            return
        known = self.epochs.setdefault(epoch, Epoch())
        if not known.note(turn):
            _keep(self.twice, (place, entry))
        known.widen(1, turn, turn)
        kept = self.since is None or entry.created_at is None or entry.created_at >= self.since
        if kept and (known.kept_from is None or turn < known.kept_from):
            known.kept_from = turn
        if entry.member_id is None:
            nobodys = self.nameless.setdefault(epoch, Epoch())
            nobodys.note(turn)
            nobodys.widen(1, turn, turn)
            self.nameless_rows += 1
        else:
            _count(self.accounts, entry.member_id, place, 1, own=epoch == self.epoch)

    def add_sum(self, one: Sum) -> None:
        """The rows of one member in one epoch; which turns they are of is not known but for the first and the last."""
        self.whole = False
        place = (one.epoch, one.last)
        if place > (self.epoch, self.turn):
            self._beyond(one.member_id, place, one.rows)
            self.beyond_turns.widen(one.rows, one.first, one.last)
            return
        known = self.epochs.setdefault(one.epoch, Epoch())
        known.widen(one.rows, one.first, one.last)
        known.kept_from = known.first
        if one.member_id is None:
            self.nameless.setdefault(one.epoch, Epoch()).widen(one.rows, one.first, one.last)
            self.nameless_rows += one.rows
        else:
            _count(self.accounts, one.member_id, place, one.rows, own=one.epoch == self.epoch)

    def include_beyond(self) -> None:
        """The rows beyond, of the same epoch, are no newer than the group: it stands behind its own ledger."""
        known = self.epochs.setdefault(self.epoch, Epoch())
        more = self.beyond_turns
        known.widen(more.rows, more.first, more.last)
        known.kept_from = more.first if known.kept_from is None else min(known.kept_from, more.first)
        for place, bits in more.bits.items():
            known.bits[place] = known.bits.get(place, 0) | bits
        for member_id, account in self.beyond.items():
            if account.last is not None:
                own = account.last[0] == self.epoch
                _count(self.accounts, member_id, account.last, account.rows, own=own)
        self.beyond, self.beyond_turns = {}, Epoch()

    def forget_beyond(self) -> None:
        """The rows beyond are newer than the group was as it was read."""
        self.beyond, self.beyond_turns, self.beyond_last = {}, Epoch(), None

    def _beyond(self, member_id: str | None, place: Place, rows: int) -> None:
        self.beyond_last = max(self.beyond_last or place, place)
        if member_id is not None:
            _count(self.beyond, member_id, place, rows, own=True)


def tallied(epoch: int, turn: int, entries: Iterable[Entry], since: datetime | None = None) -> Tally:
    """The tally of a group that stands at that turn, of these rows."""
    tally = Tally(epoch, turn, since)
    for entry in entries:
        tally.add(entry)
    return tally


def _place(entry: Entry) -> Place | None:
    """The key is what Salesforce keeps unique, and what the router never changes: where fields differ, it is right."""
    found = _KEY.fullmatch(entry.turn_key or "")
    if found is not None:
        return int(found["epoch"]), int(found["turn"])
    return None if entry.turn is None else (entry.epoch or 0, entry.turn)


def key_of(entry: Entry) -> str | None:
    """The key that the group had as the turn was taken; None where no turn was."""
    found = _KEY.fullmatch(entry.turn_key or "")
    return found["group"] if found is not None else None


def _count(accounts: dict[str, Account], member_id: str, place: Place, rows: int, *, own: bool) -> None:
    account = accounts.setdefault(member_id, Account())
    account.rows += rows
    account.in_epoch += rows if own else 0
    account.last = max(account.last or place, place)


def _keep(several: list[tuple[Place, Entry]], one: tuple[Place, Entry]) -> None:
    if len(several) < NAMED_MAX:
        several.append(one)
