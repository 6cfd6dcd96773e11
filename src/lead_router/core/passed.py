"""Passed over: for which kinds of reason members could not have a lead, in one word or two each, to be counted by.

A reason tells times and numbers, so that no two are alike; its first words tell its kind. `RoutingWording.cls` holds
the same table for the router inside Salesforce.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from lead_router.core.eligible import Standing
from lead_router.core.wording import reason_of

OTHER = "Other"
KINDS: Mapping[str, str] = {
    "absent until": "Absent",
    "outside hours": "Off hours",
    "business hours are not known": "Off hours",
    "cap ": "Daily cap",
    "has a cap a day": "Daily cap",
    "open leads": "Open-lead cap",
    "paused": "Paused",
    "user inactive": "Inactive",
    "user frozen": "Inactive",
    "member inactive": "Inactive",
    "user cannot read leads": "No access",
    "user refused as an owner": "No access",
    "does not accept this lead": "Not accepted",
    "criteria of accepted leads": "Not accepted",
    "had this lead before": "Had it before",
}
"""Kinds by how their reasons begin, in the order in which they are told."""

ORDER = (*dict.fromkeys(KINDS.values()), OTHER)


def kinds_of(found: Iterable[Standing]) -> tuple[str, ...]:
    """The kinds for which members among these were passed over, each once, in the order of the table."""
    there = {kind_of(reason) for reason in map(reason_of, found) if reason is not None}
    return tuple(kind for kind in ORDER if kind in there)


@lru_cache(maxsize=4096)  # members of one group share most reasons
def kind_of(reason: str) -> str:
    """The kind of a reason, by its first words."""
    return next((kind for start, kind in KINDS.items() if reason.startswith(start)), OTHER)
