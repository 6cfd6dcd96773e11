"""A glance: roster, rules and hours in one call, held against what was last read whole.

A composite request takes five queries, so groups come with their members' rows. What these rows cannot tell (queues,
frozen users, rights, groups without members) stays as it was read; where that may not do, the answer is to read whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from lead_router.salesforce import queries, records
from lead_router.salesforce.configuration import Found
from lead_router.salesforce.names import MemberFields, Objects, Relations, Standard
from lead_router.salesforce.people import People, told
from lead_router.salesforce.records import Row
from lead_router.salesforce.rest import Subrequest


@dataclass(frozen=True, slots=True)
class Whole:
    """What was last read whole: everything of one org."""

    org_id: str
    found: Found
    known: People


def members_with_groups() -> str:
    """All members, each with all of its group."""
    group = (f"{Relations.MEMBER_GROUP}.{name}" for name in (Standard.ID, *queries.GROUP_FIELDS))
    tail = f"ORDER BY {MemberFields.GROUP}, {Standard.ID}"
    return queries.select((*queries.MEMBER_FIELDS, *group), Objects.MEMBER, tail)


def parts(at: datetime, holidays_since: datetime) -> list[Subrequest]:
    """Five queries, as many as one call takes."""
    return [
        queries.part("rules", queries.rules()),
        queries.part("members", members_with_groups()),
        queries.part("hours", queries.business_hours()),
        queries.part("holidays", queries.holidays(holidays_since)),
        queries.part("absences", queries.absences(at)),
    ]


def glanced(rows: Mapping[str, Sequence[Row]], whole: Whole) -> Found | None:
    """What is found now; None where a member's user is new, and where a group has lost its last member, or is gone.

    Groups keep their order: another one would be a change.
    """
    listed = {row[MemberFields.GROUP]: row[Relations.MEMBER_GROUP] for row in rows["members"]}
    manned = records.groups(listed.values(), rows["members"])
    before = {group.id: group for group in whole.found.groups}
    users = {member.user_id for group in before.values() for member in group.members}
    if any(group.members and group.id not in manned for group in before.values()):
        return None
    if any(member.user_id not in users for group in manned.values() for member in group.members):
        return None
    groups = tuple(told(group, whole.known) for group in {**before, **manned}.values())
    return replace(
        whole.found,
        rules=rows["rules"],
        groups=groups,
        members={group.id: group.members for group in groups},
        hours=rows["hours"],
        holidays=rows["holidays"],
        absences=rows["absences"],
    )
