"""What an export lacks, what cannot be judged for it, and how to export it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

NO_HISTORY = (
    "there is no LeadHistory.csv in {folder}, so who waited, who had two owners, lost turns and pollers cannot be "
    "told: export LeadHistory with Id, LeadId, Field, OldValue, NewValue, CreatedDate and CreatedById "
    "(Data Loader), or the report type Lead History"
)
NO_USER = (
    "there is no User.csv in {folder}, so leads with inactive users cannot be told, ids have no names, and who is a "
    "machine is judged by writes alone: export User with Id, Name, IsActive, UserType, Profile.UserLicense.Name and "
    "LastLoginDate, inactive users too"
)
NO_GROUP = (
    "there is no Group.csv or Queue.csv in {folder}, so queues are known by ids that begin with 00G alone{named}: "
    "export Group with Id, Name and Type"
)
NAMED = ", and an owner that is only a name may be a queue and count as a rep"
TURNED = (
    "dates such as 3/4/2026 in {file} are taken for March 4, and none of them says otherwise: add --day-first if the "
    "day comes first"
)

COLUMNS: Mapping[str, Sequence[tuple[tuple[str, ...], str]]] = {
    "Lead": (
        (("source",), "no LeadSource: waits, pollers, shares and rival machines are told of all leads together"),
        (("email", "phone"), "no Email and no Phone: buyers with two records cannot be told"),
        (("converted",), "no IsConverted: converted leads count as open ones with users who are gone"),
        (("creator_id", "creator"), "no CreatedById: who gave out leads at their creation cannot be told"),
    ),
    "LeadHistory": (
        (
            ("by_id", "by"),
            "no CreatedById: who wrote owners, machine or person, cannot be told; doubles count all writers",
        ),
    ),
    "User": (
        (("active",), "no IsActive: leads with inactive users cannot be told"),
        (("type", "licence"), "no UserType and no licence: who is a machine is judged by writes alone"),
        (("seen",), "no LastLoginDate: which leads came to inactive users after their last log-in cannot be told"),
    ),
}
"""Of each file sets of columns, with what is told where none of a set is there."""


def columns_lacking(kind: str, path: Path, there: Iterable[str]) -> list[str]:
    """What is told of a file with these columns, by the reader's names for them."""
    known = set(there)
    return [f"{path.name} has {told}" for names, told in COLUMNS[kind] if not known & set(names)]
