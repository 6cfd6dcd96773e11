"""Rebuild: a rotation as its ledger proves it, compared with the live group; every turn left a row.

Who was on duty at a turn, and with which weight, no row tells, so places in virtual time cannot be replayed. Judged is
what holds whatever the duty was: the turns of an epoch are 1 to n, each once; the group stands at the last; a member's
last turn and number of leads are those of their rows; each own turn moved their place on by a stride, no shorter than
that of the highest weight and no longer than SECOND; and no clock is ahead of where the last turn started. Given the
group as it was seen before, free of drift, places are judged exactly: without an own turn in between none moves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from lead_router.core.counted import counted
from lead_router.core.drift import Change, Drift, Drifted, Field, Verdict
from lead_router.core.gaps import Gaps, gaps
from lead_router.core.model import Group, Member
from lead_router.core.rotation import SECOND, stride
from lead_router.core.tally import Account, Tally

WEIGHT_MAX = 100  # of a member, as the rule Weight_Range has it
SHORTEST = SECOND // WEIGHT_MAX

_BY_HAND = "somebody, or another program, wrote the field"
_COPIED = "the member was typed, imported or copied from another one"
_SET_BACK = "was lowered while the rule that guards it was off, or the group was restored from a copy"


@dataclass(frozen=True, slots=True)
class _Seen:
    """A member beside their rows, and the group and member as they were seen before, None where they were not."""

    group: Group
    member: Member
    account: Account
    gaps: Gaps
    former: Group | None
    was: Member | None

    @property
    def turn(self) -> int | None:
        """The member's last turn in the group's epoch."""
        last = self.account.last
        return last[1] if last is not None and last[0] == self.group.epoch else None

    @property
    def rested(self) -> bool:
        """Whether the member was seen before, and had no turn since."""
        if self.former is None or self.was is None or (self.turn or 0) > self.former.turn:
            return False
        return not self.gaps.unsure_after(self.group.epoch, self.former.turn)


def judged(group: Group, tally: Tally, former: Group | None = None) -> Verdict:
    """What of the group, as it was read, its ledger disproves, and what was noticed beside.

    `former` is the same group as it was seen before, without drift; it is of no use once the epoch was raised. Rows
    beyond the group's turn are taken for what they seem: it stands behind its ledger.
    """
    if tally.beyond_last is not None and tally.beyond_last[0] > group.epoch:
        return Verdict((_epoch_behind(group, tally.beyond_last[0]),))
    behind = list(_turn_behind(group, tally))
    if tally.beyond_last is not None:
        tally.include_beyond()
        group = replace(group, turn=tally.beyond_last[1])
    if former is not None and (former.epoch != group.epoch or former.turn > group.turn):
        former = None
    found = gaps(group, tally)
    findings = [*behind, *found.findings]
    before = {} if former is None else {one.id: one for one in former.members}
    for member in group.members:
        account = tally.accounts.get(member.id, Account())
        seen = _Seen(group, member, account, found, former, before.get(member.id))
        findings += [*_received(seen), *_last_turn(seen), *_next_turn(seen)]
    findings += _clock(group, former, findings)
    return Verdict(tuple(sorted(findings, key=_order)), found.notes)


def _order(one: Drifted) -> tuple[bool, int, int, str, str]:
    return one.turn is None, one.epoch or 0, one.turn or 0, one.kind, one.record


def _epoch_behind(group: Group, epoch: int) -> Drifted:
    text = f"the group is in epoch {group.epoch}, the ledger in {epoch}"
    return Drifted(Drift.EPOCH, group.key, epoch, 1, group.id, text, f"the epoch {_SET_BACK}")


def _turn_behind(group: Group, tally: Tally) -> Iterator[Drifted]:
    if tally.beyond_last is None:
        return
    _, turn = tally.beyond_last
    text = f"the group stands at turn {group.turn}, the ledger at {turn}: its next turns are taken"
    change = Change(group.id, Field.TURN, group.turn, turn)
    first = group.turn + 1
    yield Drifted(Drift.TURN, group.key, group.epoch, first, group.id, text, f"the turn {_SET_BACK}", (change,))


def _received(seen: _Seen) -> Iterator[Drifted]:
    told, rows, found = seen.member.leads_received, seen.account.rows, seen.gaps
    text, right = "", rows
    if told < rows or (told > rows + found.unnamed and not found.archived):
        text = f"it counts {counted(told, 'lead')}, the ledger {rows:,}"
    elif seen.rested and seen.was is not None and told != seen.was.leads_received:
        right = seen.was.leads_received
        text = f"it counts {counted(told, 'lead')}; it counted {right:,} before, and no turn of theirs came since"
    if text:
        sure = told < rows or right != rows or (not found.unnamed and not found.archived)
        change = Change(seen.member.id, Field.RECEIVED, told, right)
        yield _of(seen, Drift.RECEIVED, text, (change,) if sure else ())


def _last_turn(seen: _Seen) -> Iterator[Drifted]:
    told, last = seen.member.last_turn, seen.account.last
    own = None if last is None else last[1]
    if told == own or _may_be(seen, told):
        return
    text = f"it says that their last turn was {_told(told)}, by the ledger it was {_told(own)}"
    yield _of(seen, Drift.LAST_TURN, text, (Change(seen.member.id, Field.LAST_TURN, told, own),))


def _may_be(seen: _Seen, told: int | None) -> bool:
    """Whether a last turn that no row of the member tells of may be right all the same."""
    last, found, epoch = seen.account.last, seen.gaps, seen.group.epoch
    if last is None:
        return not told or found.archived or found.may_be_own(0, told, after=0)
    if not told:
        return last[0] < epoch  # cleared as the epoch was raised
    return found.may_be_own(last[0], told, after=last[1])


def _next_turn(seen: _Seen) -> Iterator[Drifted]:
    wrong = _wrong_place(seen)
    if wrong is not None:
        why, right = wrong
        text = f"its next turn is {_told(seen.member.next_turn)}: {why}"
        change = Change(seen.member.id, Field.NEXT_TURN, seen.member.next_turn, right)
        yield _of(seen, Drift.NEXT_TURN, text, (change,))


def _wrong_place(seen: _Seen) -> tuple[str, int | None] | None:
    """Why the place cannot be right, and which would do: one turn behind the clock, where no better one is known."""
    place, account, group = seen.member.next_turn, seen.account, seen.group
    least = account.in_epoch * SHORTEST
    after_one = max(group.clock + stride(replace(seen.member, weight=max(seen.member.weight, 1))), least)
    if seen.rested and seen.was is not None:
        return _moved(seen, seen.was)
    if account.in_epoch and (place is None or place < least):
        return f"after {counted(account.in_epoch, 'turn')} of this epoch it is at least {least}", after_one
    if place is None:
        return None
    if account.last is None:
        sure = not seen.gaps.unnamed and not seen.gaps.archived
        return ("who never had a turn has none", None) if sure else None
    return _beyond(seen, place, after_one) or _since(seen, place, after_one)


def _beyond(seen: _Seen, place: int, after_one: int) -> tuple[str, int | None] | None:
    most, clock = seen.gaps.most, seen.group.clock
    if most is not None and place > most:
        return f"all turns ever taken lead to {most} at the most", after_one
    if seen.turn == seen.group.turn and place < clock + SHORTEST:
        return f"it had the last turn, which started at the clock, {clock}, or later", after_one
    return None


def _since(seen: _Seen, place: int, after_one: int) -> tuple[str, int | None] | None:
    if seen.former is None or seen.was is None or (seen.turn or 0) <= seen.former.turn:
        return None
    turns = seen.group.turn - seen.former.turn
    most = _farthest(seen.former) + turns * SECOND
    least = max(seen.was.next_turn or 0, seen.former.clock) + SHORTEST
    if not least <= place <= most:
        return f"the turns since turn {seen.former.turn} lead from {least} to {most}", after_one
    return None


def _moved(seen: _Seen, was: Member) -> tuple[str, int | None] | None:
    if was.next_turn == seen.member.next_turn:
        return None
    return f"it was {_told(was.next_turn)} before, and no turn of theirs came since", was.next_turn


def _clock(group: Group, former: Group | None, known: Sequence[Drifted]) -> Iterator[Drifted]:
    if former is None or any(one.kind is Drift.NEXT_TURN for one in known):
        return
    rested = group.turn == former.turn
    if group.clock < former.clock or (rested and group.clock != former.clock):
        text = f"its clock is {group.clock}; at turn {former.turn} it was {former.clock}"
        change = Change(group.id, Field.CLOCK, group.clock, former.clock)
        forward = (change,) if group.clock < former.clock else ()
        yield Drifted(Drift.CLOCK, group.key, group.epoch, group.turn, group.id, text, _BY_HAND, forward)


def _farthest(group: Group) -> int:
    return max([group.clock, *(one.next_turn or 0 for one in group.members)])


def _of(seen: _Seen, kind: Drift, text: str, changes: tuple[Change, ...]) -> Drifted:
    """A finding on a member, from their last turn on."""
    last = seen.account.last
    epoch, turn = (seen.group.epoch, None) if last is None else last
    cause = _COPIED if last is None else _BY_HAND
    return Drifted(kind, seen.group.key, epoch, turn, seen.member.id, text, cause, changes)


def _told(value: int | None) -> str:
    return "blank" if value is None else str(value)
