"""What is asked and known of users beside their member rows: who is frozen, and who may read leads. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from lead_router.core.model import Group, Match, Member
from lead_router.salesforce import queries
from lead_router.salesforce.names import RightsFields, Standard
from lead_router.salesforce.records import Row
from lead_router.salesforce.rest import Subrequest


@dataclass(frozen=True, slots=True)
class People:
    """`frozen` users, and by user id whether they may read leads. Who is not told of is neither frozen nor barred."""

    frozen: frozenset[str] = frozenset()
    readers: Mapping[str, bool] = field(default_factory=dict)

    def reads(self, user_id: str) -> bool:
        """Whether the user may read leads, as far as is known."""
        return self.readers.get(user_id, True)


def asking(users: Sequence[str]) -> list[Subrequest]:
    """The queries for those of the users that may read leads."""
    return [
        queries.part(f"readers{number}", queries.readers(few))
        for number, few in enumerate(queries.chunks(users, queries.USERS_MAX))
    ]


def together(rows: Mapping[str, Sequence[Row]], parts: Sequence[Subrequest]) -> list[Row] | None:
    """The rows of all the parts; None where one was not answered."""
    if any(part.reference not in rows for part in parts):
        return None
    return [row for part in parts for row in rows[part.reference]]


def people(frozen: Iterable[Row] | None, asked: Iterable[str], readers: Iterable[Row] | None) -> People:
    """From the answers to both queries; None for an answer that Salesforce refused to give."""
    return People(
        frozen=frozenset(str(row[Standard.USER]) for row in frozen or ()),
        readers=reading(asked, readers),
    )


def reading(asked: Iterable[str], readers: Iterable[Row] | None) -> dict[str, bool]:
    """By user id, of those asked for, whether they are among the readers; none where these are not known."""
    if readers is None:
        return {}
    found = {str(row[RightsFields.ASSIGNEE]) for row in readers}
    return {user_id: user_id in found for user_id in asked}


def told(group: Group, known: People) -> Group:
    """The group with what is known of its people."""
    members = tuple(_member(member, known) for member in group.members)
    manager_active = group.manager_active and group.manager_id not in known.frozen
    return replace(group, members=members, manager_active=manager_active)


def told_match(match: Match, known: People) -> Match:
    """The match with what is known of its owner."""
    return replace(match, frozen=match.owner_id in known.frozen, reads_leads=known.reads(match.owner_id))


def _member(member: Member, known: People) -> Member:
    return replace(member, frozen=member.user_id in known.frozen, reads_leads=known.reads(member.user_id))
