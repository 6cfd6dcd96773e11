"""Which rules give leads out while no group does yet."""

from __future__ import annotations

from collections.abc import Iterable

from lead_router.core.model import Configuration, Group, Mode, ToOwner
from lead_router.ports import Finding


def ungated(configuration: Configuration, groups: Iterable[Group]) -> list[Finding]:
    """A warning of active rules that name a user or a queue while there are groups and none of them is live.

    Such a target has no mode: a start that was meant to change nothing would move its leads at once.
    """
    modes = {group.mode for group in groups}
    names = [f"'{rule.name}'" for rule in configuration.rules if isinstance(rule.target, ToOwner)]
    if not modes or Mode.LIVE in modes or not names:
        return []
    told = (
        f"{', '.join(names)}: the target is a user or queue, which has no mode; leads go there, though no group is Live"
    )
    remedy = "uncheck Active on these rules until the first group goes Live, unless this is meant"
    return [Finding("rules without a group", ok=False, detail=told, remedy=remedy, warning=True)]
