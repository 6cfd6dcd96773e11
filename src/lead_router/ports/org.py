"""The org: rules and rotation in, one conditional write out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, TypeAlias

from lead_router.core.model import Batch, Configuration, Lead, Snapshot, Status

MARKS_MAX = 25  # leads that one API call marks


@dataclass(frozen=True, slots=True)
class Committed:
    """Every record of the batch was written, in one transaction."""


@dataclass(frozen=True, slots=True)
class TurnTaken:
    """Another router took this group's next turn first: read and decide again."""


@dataclass(frozen=True, slots=True)
class AlreadyRouted:
    """The ledger holds this job's idempotency key: the job is done."""

    lead_id: str


@dataclass(frozen=True, slots=True)
class SiblingRouted:
    """The ledger holds this lead's submission key: decide it again, it follows."""

    lead_id: str


@dataclass(frozen=True, slots=True)
class LeadMoved:
    """Someone changed the lead's owner or round since it was read: decide it again."""

    lead_id: str


@dataclass(frozen=True, slots=True)
class Gone:
    """The lead was deleted, merged or converted; `reason` says which."""

    lead_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class RepGone:
    """The chosen owner, user or queue, cannot own leads: pick again. `user_id` is its id."""

    user_id: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refusal; `lead_id` is None where the answer does not name the record.

    It is for good, unless `again`: then nobody knows, and a bounded number of attempts may help.
    """

    lead_id: str | None
    text: str
    again: bool = False


@dataclass(frozen=True, slots=True)
class GroupStuck:
    """The group's rotation cannot be written until a person changes something; `text` names it and the remedy."""

    text: str


Fault: TypeAlias = TurnTaken | AlreadyRouted | SiblingRouted | LeadMoved | Gone | RepGone | GroupStuck | Refusal


@dataclass(frozen=True, slots=True)
class Refused:
    """Nothing was written; `faults` holds at least one primary cause, in request order."""

    faults: tuple[Fault, ...]


Receipt: TypeAlias = Committed | Refused


@dataclass(frozen=True, slots=True)
class Mark:
    """What a lead, as read, is to show: a routing status, None for a blank one, and a text; never its owner."""

    lead: Lead
    status: Status | None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Overridden:
    """Someone or something else changed the owner that the router had given: as which user, and when.

    `shown` says that the lead, as read, shows it already.
    """

    lead: Lead
    user_id: str
    at: datetime
    shown: bool = False


@dataclass(frozen=True, slots=True)
class Fill:
    """Values for fields of a lead, as read; never its owner, nor what the router shows on it."""

    lead: Lead
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Unfilled:
    """The lead refuses these values; `fields` are those at fault, as far as the answer names them.

    `text` holds codes alone: Salesforce's own words repeat values.
    """

    lead_id: str
    fields: frozenset[str]
    text: str


class Org(Protocol):
    """A Salesforce org as the loops see it. Every verb may raise Transient.

    A commit is one API call, and so is each other verb but these: `configuration` is two; `glance` is three where it
    finds what it cannot judge; `snapshot` is one more where members have caps on open leads, rules ask for matching
    records, leads are not there, or their owners may have let them lie; `unassigned`, `queued` and `untouched` are one
    a page, `mark` and `fill` one for each 25 leads.
    """

    def configuration(self) -> Configuration:
        """Load rules, groups, hours, people; raises Misconfigured naming the record at fault and the remedy."""
        ...

    def glance(self) -> Configuration:
        """The configuration with rules, roster and hours as they are now; queues, rights, frozen users as last loaded.

        Loads all where that does not do; raises as `configuration` does.
        """
        ...

    def snapshot(
        self, configuration: Configuration, lead_ids: Sequence[str], submission_keys: Sequence[str]
    ) -> Snapshot:
        """Read groups, members, leads, ledger, then what caps and rules ask for, for at most 200 leads."""
        ...

    def commit(self, *batches: Batch) -> Receipt:
        """Write the batches, each of another group, all or nothing; raises OutcomeUnknown where no answer came."""
        ...

    def committed(self, *batches: Batch) -> bool:
        """Whether the ledger holds these very batches (after OutcomeUnknown)."""
        ...

    def mark(self, marks: Sequence[Mark | Overridden]) -> Mapping[str, LeadMoved | Refusal]:
        """Show status and text, or who overrode an owner, on each lead only if nobody changed it since it was read.

        That is told to the second. The answer tells, by lead, of those that were changed meanwhile or are held by
        another transaction, and of those that refuse; they are left as they are.
        """
        ...

    def fill(self, fills: Sequence[Fill]) -> Mapping[str, LeadMoved | Unfilled]:
        """Write values on each lead by itself, only if nobody changed it since it was read; answers as `mark` does."""
        ...

    def leads(self, configuration: Configuration, lead_ids: Sequence[str]) -> Mapping[str, Lead]:
        """At most 200 leads as they are now, by id; deleted ones do not come."""
        ...

    def unassigned(self, configuration: Configuration, page: int) -> Iterator[Sequence[Lead]]:
        """All unassigned leads, oldest first, `page` at a time (the sweep)."""
        ...

    def queued(self, configuration: Configuration, page: int) -> Iterator[Sequence[Lead]]:
        """All leads that show Queued, whoever owns them, oldest first, `page` at a time (the sweep)."""
        ...

    def untouched(
        self, configuration: Configuration, keys: Sequence[str], since: datetime, page: int
    ) -> Iterator[Sequence[Lead]]:
        """Leads that groups of these keys gave out since then, and that are untouched by what they show (the clock)."""
        ...


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of `lead-router doctor`: what was looked at, whether it is as needed, and the remedy if not.

    `warning`: it is not as it should be, and leads are routed all the same. `away`: nothing was seen, because
    Salesforce or the database did not answer; another look may succeed.
    """

    name: str
    ok: bool
    detail: str
    remedy: str = ""
    warning: bool = False
    away: bool = False


@dataclass(frozen=True, slots=True)
class Usage:
    """API calls used and allowed in the org's rolling day, as last told by Salesforce."""

    used: int | None = None
    allowed: int | None = None
    calls: int = 0
