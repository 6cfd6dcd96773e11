"""Shares: each member's turns of a period beside the fair share, who is next, and who is off duty and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from lead_router.app.naming import names_of
from lead_router.app.wiring import Wired
from lead_router.core.duty import Moment, Off, available_at, moment_of, off_duty
from lead_router.core.fairness import off_fair
from lead_router.core.model import Configuration, Group, Member, Mode
from lead_router.core.rotation import who_is_next
from lead_router.core.zones import said
from lead_router.salesforce import queries
from lead_router.salesforce.names import LedgerFields, Objects, Standard

FAR = 1_000_000
FORESEEN = 3
"""Turns that are foreseen, for each member of a group: who has little weight comes late."""


@dataclass(frozen=True, slots=True)
class MemberShare:
    """A member, or with `weight` None someone who had turns of the group and is no member any more.

    `fair` is the weight's part of the group's turns, None where there is no weight to tell it by; `gap` is by how many
    leads they are ahead of their fair share as monitoring is told it, None of whom that tells nothing. `place` counts
    from 1 those whose turn comes no later, None where it is far, the group is off, or they are off duty: `off` says
    why, `back_at` when that ends by itself.
    """

    user_id: str
    name: str
    weight: int | None
    turns: int
    fair: float | None
    place: int | None
    off: str | None = None
    back_at: datetime | None = None
    gap: float | None = None


@dataclass(frozen=True, slots=True)
class GroupShare:
    """A group's members, those on duty in the order of their turns first; `turns` of the period, all of them."""

    key: str
    name: str
    mode: Mode
    turns: int
    members: tuple[MemberShare, ...]


@dataclass(frozen=True, slots=True)
class Shares:
    """All groups by key, as of `at`, with the turns of the `days` before; fair by the weights of now."""

    at: datetime
    days: int
    groups: tuple[GroupShare, ...]


def shares_of(wired: Wired, configuration: Configuration, *, days: int) -> Shares:
    """Two or three calls. Nobody's absence is counted out of the fair share: who was away has less."""
    snapshot = wired.org.snapshot(configuration, (), ())
    moment = moment_of(configuration, snapshot.taken_at, snapshot.open_leads, snapshot.unfit)
    turns = _turns(wired, snapshot.taken_at - timedelta(days=days))
    names = names_of(wired.rest, configuration, {user for _, user in turns})
    return Shares(
        snapshot.taken_at,
        days,
        tuple(
            _group(
                group,
                {user: many for (at, user), many in turns.items() if at == group.id},
                names,
                moment,
                off_fair(group, configuration, snapshot.taken_at),
            )
            for group in sorted(snapshot.groups.values(), key=lambda group: group.key)
        ),
    )


def _turns(wired: Wired, since: datetime) -> Counter[tuple[str, str]]:
    """Turns by group and user. Rows are counted by Salesforce, at most 2,000 of them: as many pairs as that."""
    columns = (LedgerFields.GROUP, LedgerFields.ASSIGNED_TO)
    counted = f"COUNT({Standard.ID}) {queries.COUNTED}"
    tail = (
        f"WHERE {LedgerFields.TURN} != null AND {Standard.CREATED_AT} >= {queries.instant(since)} "
        f"GROUP BY {','.join(columns)}"
    )
    rows = wired.rest.query(queries.select((*columns, counted), Objects.LEDGER, tail))
    return Counter({(str(row[columns[0]]), str(row[columns[1]])): int(row[queries.COUNTED]) for row in rows})


def _group(
    group: Group,
    turns: Mapping[str, int],
    names: Mapping[str, str],
    moment: Moment,
    apart: Mapping[str, float],
) -> GroupShare:
    total = sum(turns.values())
    weights = sum(member.weight for member in group.members if _counts(member))
    coming = () if group.mode is Mode.OFF else who_is_next(group, FORESEEN * len(group.members), moment)
    places = {one: place for place, one in enumerate(dict.fromkeys(one.id for one in coming), start=1)}
    members = [
        replace(
            _member(one, group, turns.get(one.user_id, 0), total, weights, moment),
            place=places.get(one.id),
            gap=apart.get(one.id),
        )
        for one in group.members
    ]
    former = turns.keys() - {one.user_id for one in group.members}
    left = [MemberShare(one, names.get(one, one), None, turns[one], None, None, "no member any more") for one in former]
    ordered = sorted([*members, *left], key=_order)
    return GroupShare(group.key, group.name, group.mode, total, tuple(ordered))


def _order(one: MemberShare) -> tuple[bool, int, bool, str]:
    return one.off is not None, one.place or FAR, one.weight is None, one.name


def _member(member: Member, group: Group, turns: int, total: int, weights: int, moment: Moment) -> MemberShare:
    off = off_duty(member, group, moment)
    fair = total * member.weight / weights if weights and _counts(member) else None
    return MemberShare(
        user_id=member.user_id,
        name=member.name,
        weight=member.weight,
        turns=turns,
        fair=fair,
        place=None,
        off=None if off is None else _in_utc(off, member, moment),
        back_at=None if off is None else available_at(member, group, moment),
    )


def _in_utc(off: Off, member: Member, moment: Moment) -> str:
    """Why the member is off duty, with its end in UTC, as all beside it, and by the member's clock after."""
    if off.until is None:
        return off.text
    local = said(member.zone, off.until, moment.at)
    return off.text.replace(local, f"{off.until.astimezone(UTC):%Y-%m-%d %H:%MZ} ({local})")


def _counts(member: Member) -> bool:
    """Whether an admin lets the member take turns at all; who is away for a while still has a share."""
    return member.active and member.user_active and member.weight > 0
