"""The nouns of rules: where a rule sends leads. Frozen, without verbs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias


class MatchOn(StrEnum):
    """Whose owner a matched lead goes to."""

    ACCOUNT = "Account"
    CONTACT = "Contact"
    LEAD = "Lead"


class MatchBy(StrEnum):
    """What makes a record match a lead."""

    EMAIL = "Email"
    DOMAIN = "Domain"


@dataclass(frozen=True, slots=True)
class ToGroup:
    """A rule's target: the next member of a group, by the group's id."""

    group_id: str


@dataclass(frozen=True, slots=True)
class ToOwner:
    """A rule's target: one user or queue, by id."""

    owner_id: str
    name: str


@dataclass(frozen=True, slots=True)
class ToMatched:
    """A rule's target: the owner of a record that matches the lead, of the kinds `on`, the first of them first.

    Where nothing matches, the next rules are asked; where the owner is off duty, `falls_through` decides between the
    next rules and waiting for that owner.
    """

    on: tuple[MatchOn, ...]
    by: MatchBy
    falls_through: bool = True


Target: TypeAlias = ToGroup | ToOwner | ToMatched


@dataclass(frozen=True, slots=True)
class Rule:
    """Ordered criteria that choose a target; `criteria` is a SOQL WHERE clause, empty for a catch-all."""

    id: str
    name: str
    precedence: int
    criteria: str
    target: Target
