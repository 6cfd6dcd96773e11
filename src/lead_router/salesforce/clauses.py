"""Clauses that operators set: which leads are open, and which nobody has touched. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lead_router.core.model import FirstTouch, Group, Rollout, Switch
from lead_router.core.soql import Criteria, compile_where
from lead_router.errors import BadCriteria


def criteria_of(what: str, clause: str, types: Mapping[str, str]) -> Criteria:
    """The clause, ready to be asked; raises BadCriteria that says of what it is."""
    try:
        return compile_where(clause, types or None)
    except BadCriteria as fault:
        raise BadCriteria(f"the definition of {what}, character {fault.at + 1}: {fault}", at=fault.at) from None


def untouched(
    rollout: Rollout, terms: FirstTouch, groups: Iterable[Group], types: Mapping[str, str], warnings: list[str]
) -> frozenset[str]:
    """The fields that tell an untouched lead, where a clock asks; of groups whose clock cannot run, a warning."""
    if rollout.first_touch is Switch.OFF:
        return frozenset()
    idle = (group for group in groups if group.accept_within is not None and group.accept_within < 1)
    told = "Accept Within must be a minute or more: no clock runs"
    warnings += [f"group '{group.key}' ({group.id}): {told}" for group in idle]
    return criteria_of("untouched leads", terms.untouched, types).fields
