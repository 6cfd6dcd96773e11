"""The file of scoring: criteria with their points, read strictly."""

from __future__ import annotations

from pathlib import Path

from lead_router.core.scoring import Points, Scoring
from lead_router.core.soql import compile_where
from lead_router.errors import BadCriteria, Misconfigured
from lead_router.rulefiles import strict
from lead_router.rulefiles.opened import opened
from lead_router.rulefiles.strict import Part, Row

POINTS_MAX = 1_000_000
CRITERIA_MAX = 500

_NAME_KEYS = ("name", "field")
_POINTS_KEYS = ("name", "criteria", "points")


def read_scoring(path: Path) -> Scoring:
    """The scoring of a file; raises Misconfigured naming file, line and remedy of the first fault."""
    row = strict.entries(opened(path, "a file of scoring"), (*_NAME_KEYS, "criteria"), "a file of scoring")
    field = strict.api_name(row.entries["field"], "field") if "field" in row.entries else None
    name = strict.api_name(row.entries["name"], "name") if "name" in row.entries else field
    if name is None:
        raise Misconfigured(
            f"{row.at}: give the score a name for rules to use, or the lead field that it is written to"
        )
    criteria = tuple(
        _points(one) for one in strict.items(strict.needed(row, "criteria", "a file of scoring"), "'criteria'")
    )
    if not 0 < len(criteria) <= CRITERIA_MAX:
        raise Misconfigured(f"{row.at}: scoring has 1 to {CRITERIA_MAX} criteria, not {len(criteria)}")
    return Scoring(name, field, criteria, path.name)


def _points(part: Part) -> Points:
    row: Row = strict.entries(part, _POINTS_KEYS, "a criterion")
    clause = strict.needed(row, "criteria", "a criterion")
    points = strict.whole(strict.needed(row, "points", "a criterion"), "points")
    if not -POINTS_MAX <= points <= POINTS_MAX:
        raise Misconfigured(f"{row.entries['points'].at}: points are at most {POINTS_MAX:,}")
    criteria = strict.text(clause, "criteria").strip()
    try:
        compile_where(criteria)
    except BadCriteria as fault:
        raise Misconfigured(f"{clause.at}: criteria, character {fault.at + 1}: {fault}") from None
    name = strict.text(row.entries["name"], "name").strip() if "name" in row.entries else ""
    return Points(name or criteria or "every lead", criteria, points, str(row.at))
