"""The past of an org as nouns: each lead with its owners in order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lead_router.core.roster import Hours
from lead_router.ports.history import Person


@dataclass(frozen=True, slots=True)
class Step:
    """A change of owner, in seconds since 1970."""

    at: float
    old: str
    new: str
    by: str


@dataclass(frozen=True, slots=True)
class Story:
    """A lead from its creation on. `first` owned it at once, `owner` has it now; `steps` are in order of time."""

    id: str
    created: float
    first: str
    creator: str
    source: str
    buyer: tuple[int, int]
    converted: bool
    owner: str
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Past:
    """All leads of a span of time, by creation, and who is who. `since` and `until` in seconds since 1970.

    `told` says what was guessed or left out; without `history` only first and present owner are known, as one.
    """

    stories: tuple[Story, ...]
    people: Mapping[str, Person]
    since: float
    until: float
    hours: Hours
    history: bool
    told: tuple[str, ...]
    placed: bool = True
    """Whether the time zone of `hours` is told; else it is UTC, and no hour of the day can be judged."""

    def name(self, owner: str) -> str:
        """The name of a user or queue; the id where no name is known."""
        known = self.people.get(owner)
        return known.name if known is not None and known.name else owner or "not told"
