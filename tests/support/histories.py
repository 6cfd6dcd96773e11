"""Histories of one group: turns with absences, skills, weights, joiners, leavers, resets and leads taken by hand."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace

from lead_router.core.drift import Entry
from lead_router.core.ids import to18
from lead_router.core.keys import lead_key, turn_key
from lead_router.core.model import Group, Turn
from lead_router.core.rotation import take_turn
from lead_router.core.taken import by_hand
from support.rotation_play import group, member

WEIGHTS = (0, 1, 1, 1, 2, 3, 7, 100)


@dataclass
class History:
    """A group that lives on, its ledger, and how it looked after each event. What happens is chosen by `dice`.

    Where there are `leavers`, rows may name nobody.
    """

    dice: random.Random
    epoch: int = 0
    leavers: bool = True
    rows: list[Entry] = field(default_factory=list)
    seen: list[Group] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.names = 0
        self.group = group(epoch=self.epoch)
        for _ in range(self.dice.randint(1, 6)):
            self._joins()
        self.duty = {one.id for one in self.group.members}

    def live(self, events: int) -> History:
        """So many events more."""
        for _ in range(events):
            chance = self.dice.random()
            if chance < 0.75:
                self._lead()
            elif chance < 0.85:
                self.duty ^= {self.dice.choice([one.id for one in self.group.members] or ["nobody"])}
            elif chance < 0.92:
                self._weighs()
            elif chance < 0.95:
                self._joins()
            elif chance < 0.97:
                self._leaves()
            elif chance < 0.985:
                self._resets()
            self.seen.append(self.group)
        return self

    def _lead(self) -> None:
        ids = [one.id for one in self.group.members]
        eligible = {one for one in ids if self.dice.random() < 0.8}
        takers = [one for one in self.group.members if one.weight > 0]
        if takers and self.dice.random() < 0.1:
            self._took(by_hand(self.group, self.duty, self.dice.choice(takers)), "Manual")
            return
        turn = take_turn(self.group, self.duty, eligible)
        if turn is not None:
            self._took(turn, "Assigned")

    def _took(self, turn: Turn, outcome: str) -> None:
        self.group = turn.group
        number = len(self.rows) + 1
        lead_id = to18(f"00Q{number:012d}")
        self.rows.append(
            Entry(
                id=f"a{number:06d}",
                group_id=self.group.id,
                member_id=turn.member.id,
                lead_id=lead_id,
                lead_key=lead_key(lead_id, 1),
                round=1,
                idempotency_key=f"00D.{lead_id}.create",
                outcome=outcome,
                epoch=self.group.epoch,
                turn=turn.number,
                turn_key=turn_key(self.group.key, self.group.epoch, turn.number),
            )
        )

    def _weighs(self) -> None:
        if self.group.members:
            chosen = self.dice.choice(self.group.members)
            self._change(chosen.id, weight=self.dice.choice(WEIGHTS))

    def _joins(self) -> None:
        self.names += 1
        newcomer = member(f"m{self.names:02d}", self.dice.choice(WEIGHTS[1:]))
        self.group = replace(self.group, members=(*self.group.members, newcomer))

    def _leaves(self) -> None:
        """The member is deleted; rows of theirs name nobody then."""
        if self.leavers and len(self.group.members) > 1:
            gone = self.dice.choice(self.group.members).id
            self.group = replace(self.group, members=tuple(one for one in self.group.members if one.id != gone))
            self.rows = [replace(row, member_id=None) if row.member_id == gone else row for row in self.rows]

    def _resets(self) -> None:
        """Epoch raised and turn 0; some clear the members' places and last turns, and the clock, too."""
        self.group = replace(self.group, epoch=self.group.epoch + self.dice.choice((1, 1, 3)), turn=0)
        if self.dice.random() < 0.5:
            cleared = tuple(replace(one, next_turn=None, last_turn=None) for one in self.group.members)
            self.group = replace(self.group, clock=0, members=cleared)

    def _change(self, member_id: str, **fields: object) -> None:
        self.group = changed(self.group, member_id, **fields)


def changed(of: Group, member_id: str, **fields: object) -> Group:
    """The group with these fields of one member."""
    members = tuple(replace(one, **fields) if one.id == member_id else one for one in of.members)  # type: ignore[arg-type]
    return replace(of, members=members)
