"""Fallbacks: where a group's leads go when none of its members can take them."""

from __future__ import annotations

from collections.abc import Mapping

from lead_router.core.model import Group
from lead_router.errors import Misconfigured


def check(fallbacks: Mapping[str, str], keys: Mapping[str, str]) -> None:
    """Raises Misconfigured, by the groups' keys, for fallback groups (by id) that lead back to a group before them."""
    for start in fallbacks:
        path = [start]
        while (after := fallbacks.get(path[-1])) is not None:
            path.append(after)
            if after in path[:-1]:
                names = [f"'{keys.get(one, one)}'" for one in path[path.index(after) :]]
                raise Misconfigured(f"fallback groups go round: {' to '.join(names)}; take one fallback away")


def chain(group: Group, groups: Mapping[str, Group]) -> tuple[Group, ...]:
    """The group, its fallback group, that one's, and so on; ends before a group that is gone or came before."""
    found = [group]
    while (after := groups.get(found[-1].fallback_group or "")) is not None and after.id not in {
        one.id for one in found
    }:
        found.append(after)
    return tuple(found)
