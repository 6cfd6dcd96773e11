"""Scoring: points for each criterion that a lead meets. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, TypeAlias

from lead_router.core.soql import Criteria, compile_where
from lead_router.errors import BadCriteria

FieldTypes: TypeAlias = frozenset[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Points:
    """A criterion, which is a SOQL WHERE clause, and its points; `at` says where it is written."""

    name: str
    criteria: str
    points: int
    at: str = ""


@dataclass(frozen=True, slots=True)
class Scoring:
    """Criteria in their order, whose points are summed up to a score.

    Rules use it under `name`, and under that of the lead `field` that it is written to, if there is one.
    """

    name: str
    field: str | None
    criteria: tuple[Points, ...]
    source: str = ""

    @property
    def names(self) -> frozenset[str]:
        """What rules may call it."""
        return frozenset({self.name, self.field or self.name})


@dataclass(frozen=True, slots=True)
class Score:
    """A lead's points, and which criteria gave them."""

    points: int
    met: tuple[Points, ...]


def score(scoring: Scoring, fields: Mapping[str, Any], at: datetime, types: FieldTypes) -> Score:
    """What a lead with these fields is worth at that moment; raises BadCriteria as `compiled` does."""
    met = tuple(one for one, criteria in compiled(scoring, types) if criteria.matches(fields, at))
    return Score(sum(one.points for one in met), met)


def told(found: Score) -> str:
    """The score and its reasons as a sentence; it names criteria and no value of the lead."""
    reasons = ", ".join(f"{one.name} {one.points:+d}" for one in found.met)
    return f"Score {found.points}: {reasons}." if reasons else f"Score {found.points}."


@lru_cache(maxsize=16)
def compiled(scoring: Scoring, types: FieldTypes) -> tuple[tuple[Points, Criteria], ...]:
    """The criteria, ready to be asked; raises BadCriteria naming the place of one that cannot be read."""
    made = []
    own = {name.lower() for name in scoring.names}
    for one in scoring.criteria:
        try:
            criteria = compile_where(one.criteria, dict(types) or None)
        except BadCriteria as fault:
            told = f"{one.at}: criteria of '{one.name}', character {fault.at + 1}: {fault}"
            raise BadCriteria(told, at=fault.at) from None
        if any(path.lower() in own for path in criteria.fields):
            raise BadCriteria(f"{one.at}: criteria of '{one.name}' ask for the score itself: use other fields")
        made.append((one, criteria))
    return tuple(made)


def fields_of(scoring: Scoring, types: FieldTypes) -> frozenset[str]:
    """The lead fields that its criteria ask for."""
    return frozenset().union(*(criteria.fields for _, criteria in compiled(scoring, types)))
