"""Whose id is it: names of owners, for whom reads what was decided."""

from __future__ import annotations

from collections.abc import Iterable

from lead_router.core.ids import is_user
from lead_router.core.model import Configuration, Match, ToOwner
from lead_router.errors import ContractMismatch, Rejected
from lead_router.salesforce import queries
from lead_router.salesforce.names import Standard
from lead_router.salesforce.rest import Rest


def group_told(key: str, name: str | None) -> str:
    """A group as people know it, its name, with the key by which files, metrics and commands know it."""
    return key if name is None or name == key else f"{name} ({key})"


def groups_told(configuration: Configuration) -> dict[str, str]:
    """The same for all groups, by key."""
    return {group.key: group_told(group.key, group.name) for group in configuration.roster}


def names_known(configuration: Configuration, matches: Iterable[Match] = ()) -> dict[str, str]:
    """Names by id, as far as configuration and matches tell: queues, members, whom rules name, owners of matches."""
    found = {match.owner_id: match.name for match in matches}
    found |= {queue_id: name for name, queue_id in configuration.queues.items()}
    found |= {
        rule.target.owner_id: rule.target.name for rule in configuration.rules if isinstance(rule.target, ToOwner)
    }
    found |= {member.user_id: member.name for group in configuration.roster for member in group.members}
    return {owner_id: name for owner_id, name in found.items() if name}


def names_of(
    rest: Rest, configuration: Configuration, ids: Iterable[str | None], matches: Iterable[Match] = ()
) -> dict[str, str]:
    """The same and these ids': users that nothing here names are asked for; who cannot be seen has no name."""
    found = names_known(configuration, matches)
    unknown = sorted({one for one in ids if one and is_user(one)} - found.keys())
    for some in queries.chunks(unknown, queries.USERS_MAX):
        try:
            rows = rest.query(queries.user_names(some))
        except (ContractMismatch, Rejected):
            return found
        found |= {str(row[Standard.ID]): str(row[Standard.NAME]) for row in rows}
    return found
