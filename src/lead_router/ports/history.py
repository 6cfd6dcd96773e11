"""An org's past as it is read, and the seam it is read through: the org itself, or files that were exported from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from lead_router.core.roster import Hours


@dataclass(frozen=True, slots=True)
class Person:
    """A user, or a queue. `active` is None where it is not told, `seen_at` the last log-in in seconds since 1970."""

    id: str
    name: str
    active: bool | None = None
    queue: bool = False
    robot: bool = False
    """Whether Salesforce itself says that nobody is behind it (a UserType other than a person's)."""
    seen_at: float | None = None


@dataclass(frozen=True, slots=True)
class LeadSeen:
    """A lead as it is now; `created` in seconds since 1970. Owner and creator are ids, or names where no ids came.

    `buyer` are digests of its e-mail address and telephone number, 0 for a blank: no address is kept.
    """

    id: str
    created: float
    owner: str
    creator: str
    source: str
    buyer: tuple[int, int]
    converted: bool


@dataclass(frozen=True, slots=True)
class OwnerRow:
    """A row of LeadHistory about the owner: values are ids in one row of a change and names in the other.

    `by` is the user who wrote, an id or a name; "" where it is not told.
    """

    id: str
    lead: str
    at: float
    by: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Extent:
    """How much there is to read. `rows` is None where the history cannot be read, and `why_not` says why."""

    leads: int
    rows: int | None
    calls: int
    why_not: str = ""


class History(Protocol):
    """Reads only. Every iterator streams; leads come by creation, rows by time, both with the id as tie-break."""

    def extent(self, since: datetime) -> Extent:
        """What reading all since then takes, in API calls of the day's allowance; 0 of files."""

    def people(self) -> Iterator[Person]:
        """Users and queues, deactivated ones too."""

    def leads(self, since: datetime) -> Iterator[LeadSeen]:
        """Leads created since then."""

    def owner_rows(self, since: datetime) -> Iterator[OwnerRow]:
        """What the history tells of owners since then; nothing where it cannot be read."""

    def hours(self) -> Hours | None:
        """The org's default business hours, in its time zone; None where they are not told, or never closed."""

    def zone(self) -> str:
        """The org's time zone, an IANA name; "" where it is not told."""

    def lacking(self) -> Sequence[str]:
        """What was not there to be read, what cannot be judged for it, and the remedy; asked once all was read."""
