"""Gaps: turns without a row, and rows that are not as they were written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lead_router.core.counted import counted
from lead_router.core.drift import Drift, Drifted
from lead_router.core.model import Group
from lead_router.core.rotation import SECOND
from lead_router.core.tally import Account, Epoch, Place, Tally

_DELETED = "rows of the ledger were deleted"
_EDITED = "a row of the ledger was edited by hand"
_AGAIN = "the group's key was changed back to a former one, or a row was edited or copied"


@dataclass(frozen=True, slots=True)
class Gaps:
    """What a group's ledger lacks. `unnamed` turns may have been anybody's: without a row, or of a row without member.

    `archived`: older rows were taken away, nobody knows how many, so that numbers of rows are no more than the least.
    `most` is the farthest place that the turns can have led to; None where that is not known. `unread` is the highest
    epoch of whose missing turns only the number is known, -1 where there is none.
    """

    findings: tuple[Drifted, ...]
    notes: tuple[str, ...]
    unnamed: int
    archived: bool
    most: int | None
    spans: Mapping[int, list[Place]]
    nameless: Mapping[int, Epoch]
    unread: int

    def may_be_own(self, epoch: int, turn: int, *, after: int) -> bool:
        """Whether the turn of that epoch behind `after`, or of a later epoch, may have been anybody's."""
        if self.unread >= epoch:
            return True
        for one, spans in self.spans.items():
            counts = one > epoch or (one == epoch and turn > after)
            if counts and any(first <= turn <= last for first, last in spans):
                return True
        return any(one >= epoch and known.holds(turn) for one, known in self.nameless.items())

    def unsure_after(self, epoch: int, turn: int) -> bool:
        """Whether anybody may have had a later turn of that epoch."""
        nobodys = self.nameless.get(epoch, Epoch())
        spans = self.spans.get(epoch, ())
        return self.unread >= epoch or nobodys.last > turn or any(last > turn for _, last in spans)


def gaps(group: Group, tally: Tally) -> Gaps:
    """What the tally of a group lacks up to the group's turn.

    The first turns of the oldest epoch may be missing as a whole: whoever archives rows takes the oldest first. So may
    all turns that are older than `tally.since`, and whole epochs of before, as members' numbers of leads tell.
    """
    oldest = min(tally.epochs, default=group.epoch)
    spans: dict[int, list[Place]] = {}
    findings = [*_edited(group, tally), *_twice(group, tally)]
    notes: list[str] = []
    archived = tally.since is not None
    for epoch in sorted({*tally.epochs, *([group.epoch] if group.turn else [])}):
        known = tally.epochs.get(epoch, Epoch())
        until = group.turn if epoch == group.epoch else known.last
        for first, last in _missing(tally, known, until):
            spans.setdefault(epoch, []).append((first, last))
            eldest = first == 1 and epoch == oldest
            archived |= eldest
            if eldest or _older(tally, known, last):
                notes.append(f"{_turns(first, last)} of epoch {epoch} of group '{group.key}': older rows were archived")
            else:
                findings.append(_lost(group, epoch, (first, last)))
    unread = list(_miscounted(group, tally))
    unnamed = tally.nameless_rows + sum(last - first + 1 for several in spans.values() for first, last in several)
    unnamed += sum(one.last - one.first + 1 - one.rows for one in tally.epochs.values()) if unread else 0
    if oldest > 0 and not archived and _elders(group, tally.accounts, unnamed):
        archived = True
        notes.append(f"members of group '{group.key}' had more leads than rows tell: former epochs were archived")
    farthest = SECOND * sum(one.rows for one in tally.epochs.values())
    sure = tally.whole and not archived and not unnamed and not findings and group.clock <= farthest
    return Gaps(
        findings=(*findings, *unread),
        notes=tuple(notes),
        unnamed=unnamed,
        archived=archived,
        most=farthest if sure else None,
        spans=spans,
        nameless=tally.nameless,
        unread=max((one.epoch or 0 for one in unread), default=-1),
    )


def _missing(tally: Tally, known: Epoch, until: int) -> list[Place]:
    if not known.rows:
        return [(1, until)]
    head = [(1, known.first - 1)] if known.first > 1 else []
    tail = [(known.last + 1, until)] if until > known.last else []
    return [*head, *(known.spans(until) if tally.whole else tail)]


def _older(tally: Tally, known: Epoch, last: int) -> bool:
    """Whether the turn was taken before the time from which all rows must be there."""
    return tally.since is not None and (known.kept_from is None or last < known.kept_from)


def _elders(group: Group, accounts: Mapping[str, Account], unnamed: int) -> bool:
    """Whether so many members count more leads than they have rows that no hand did it."""
    beyond = [one for one in group.members if one.leads_received > accounts.get(one.id, Account()).rows + unnamed]
    return len(beyond) > 1 and 2 * len(beyond) >= len(group.members)


def _miscounted(group: Group, tally: Tally) -> Iterator[Drifted]:
    """Epochs that cannot be whole, where only numbers of rows are known."""
    for epoch, known in () if tally.whole else tally.epochs.items():
        turns = known.last - known.first + 1
        text = f"{counted(known.rows, 'row')} for {_turns(known.first, known.last)} of epoch {epoch}"
        if known.rows < turns:
            yield Drifted(Drift.MISSING, group.key, epoch, known.first, group.id, text, _DELETED)
        elif known.rows > turns:
            yield Drifted(Drift.TWICE, group.key, epoch, known.first, group.id, text, _AGAIN)


def _lost(group: Group, epoch: int, span: Place) -> Drifted:
    first, last = span
    text = f"{_turns(first, last)} {'has no row' if first == last else 'have no rows'}"
    current = epoch == group.epoch
    whose = next(
        (one.id for one in group.members if current and one.last_turn is not None and first <= one.last_turn <= last),
        None,
    )
    cause = (
        _DELETED if whose or not current or last < group.turn else f"{_DELETED}, or the group's turn was raised by hand"
    )
    told = f"; member {whose} says that one of them was theirs" if whose else ""
    return Drifted(Drift.MISSING, group.key, epoch, first, group.id, text, f"{cause}{told}")


def _turns(first: int, last: int) -> str:
    return f"turn {first}" if first == last else f"turns {first} to {last}"


def _edited(group: Group, tally: Tally) -> Iterator[Drifted]:
    for (epoch, turn), row in tally.edited:
        text = f"its fields say epoch {row.epoch}, turn {row.turn}, its key {row.turn_key or 'nothing'}"
        yield Drifted(Drift.EDITED, group.key, epoch, turn, row.id, text, _EDITED)


def _twice(group: Group, tally: Tally) -> Iterator[Drifted]:
    for (epoch, turn), row in tally.twice:
        yield Drifted(Drift.TWICE, group.key, epoch, turn, row.id, f"turn {turn} has more rows than one", _AGAIN)
