"""The nouns of rule files: frozen, without verbs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands: a file's name and a line, from 1; line 0 stands for a record of the org."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


NOWHERE = Place("", 0)


class WhereKind(StrEnum):
    """The kinds of target, as a rule file's keys name them."""

    GROUP = "group"
    USER = "user"
    QUEUE = "queue"
    MATCHED = "matched"


NAME_MAX = 80  # characters, as Salesforce's Name has
PRECEDENCE_MAX = 999_999_999  # nine digits, as the field has
CRITERIA_MAX = 32_768  # characters
MATCH_KINDS = ("Account", "Contact", "Lead", "Any")
MATCH_BY = ("Email", "Domain")
OFF_DUTY = ("Next Rule", "Wait")


@dataclass(frozen=True, slots=True)
class Where:
    """A rule's target by a name that holds in every org: a group's key, a username, a queue's developer name.

    For MATCHED it is one of MATCH_KINDS, with one of MATCH_BY, and one of OFF_DUTY for when that owner is off duty; for
    all other kinds these two are empty.
    """

    kind: WhereKind
    name: str
    match_on: str = ""
    off_duty: str = ""

    def __str__(self) -> str:
        by = f" by {self.match_on}, off duty: {self.off_duty}" if self.kind is WhereKind.MATCHED else ""
        return f"{self.kind} {self.name}{by}"


@dataclass(frozen=True, slots=True)
class FileRule:
    """A rule as a file or an org has it; places do not count when rules are compared."""

    name: str
    precedence: int
    criteria: str
    where: Where
    active: bool = True
    at: Place = field(default=NOWHERE, compare=False)
    criteria_at: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class PulledRule:
    """A rule as it was in the org, with its id there."""

    id: str
    rule: FileRule


@dataclass(frozen=True, slots=True)
class Pulled:
    """What a pull saw of an org. `groups` counts by key the members that can ever come on duty."""

    org_id: str
    rules: tuple[PulledRule, ...]
    fields: Mapping[str, str]
    groups: Mapping[str, int]
    queues: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """A lead's fields, and which rule and target it is expected to get; `rule` is None where none may match.

    `rule` or `where` is not asked about where `asks_rule` is False or `where` is None.
    """

    name: str
    lead: Mapping[str, Any]
    rule: str | None
    asks_rule: bool
    where: Where | None
    at: Place
