"""The nouns of leads: as read, as asked for, and as the ledger and other records know them. Frozen, without verbs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from lead_router.core.targets import MatchBy, MatchOn


class Outcome(StrEnum):
    """How a ledger row came to be (`Lead_Assignment__c.Outcome__c`)."""

    ASSIGNED = "Assigned"
    DUPLICATE = "Duplicate"
    FALLBACK = "Fallback"
    MATCHED = "Matched"
    MANUAL = "Manual"


class Status(StrEnum):
    """`Lead.Routing_Status__c`."""

    QUEUED = "Queued"
    ASSIGNED = "Assigned"
    DUPLICATE = "Duplicate"
    HELD = "Held"
    FAILED = "Failed"


class Cause(StrEnum):
    """What made a job ask: a lead without owner, its status set back by someone, other fields of it changed, or its
    owner let it lie.
    """

    WAITING = "waiting"
    STATUS = "status"
    CHANGED = "changed"
    UNTOUCHED = "untouched"


ELLIPSIS: Final = "…"  # ends a text that was cut to the size of its field


@dataclass(frozen=True, slots=True)
class Lead:
    """A lead as read: `fields` holds every field read, as Salesforce's JSON has it, `Owner.Type` nested.

    `status` is `Lead.Status`; `held`, `queued` and `failed` say that `Routing_Status__c` shows Held, Queued or Failed,
    `unmarked` that what routing wrote beside the owner is not there, `told` is the text beside the status, cut to its
    field; `overridden_at` is when others changed its owner, as far as it shows that; `changed_at` is when anybody last
    changed it, by Salesforce's clock, None for a lead that was not read there.
    `enriched` is `fields` with what hops added, None where none did; `notes` are their sentences for the ledger.
    `routed_at` and `routed_by` are when, and by the key of which group, it was last given out, as it shows that.
    """

    id: str
    owner_id: str
    created_at: datetime
    round: int
    stamp: str | None
    status: str | None
    is_converted: bool
    fields: Mapping[str, Any]
    held: bool = False
    overridden_at: datetime | None = None
    told: str = ""
    queued: bool = False
    failed: bool = False
    unmarked: bool = False
    changed_at: datetime | None = None
    routed_at: datetime | None = None
    routed_by: str | None = None
    enriched: Mapping[str, Any] | None = None
    notes: tuple[str, ...] = ()

    @property
    def seen(self) -> Mapping[str, Any]:
        """The fields as rules and members' criteria see them."""
        return self.fields if self.enriched is None else self.enriched

    def shows(self, reason: str) -> bool:
        """Whether the lead already says that it is held for this reason, as far as its field has room."""
        told = self.told
        whole = told == reason or (told.endswith(ELLIPSIS) and reason.startswith(told.removesuffix(ELLIPSIS)))
        return self.held and whole


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """One `Lead_Assignment__c`; `lead_owner_id` is the present owner of its lead, None when that lead is gone.

    `assigned_from` is whom the lead was taken from; `created_at` is Salesforce's, None where it was not read; `turn` is
    the group's turn that it used, None for none.
    """

    id: str
    lead_id: str | None
    lead_key: str
    round: int
    idempotency_key: str
    submission_even: str | None
    submission_odd: str | None
    assigned_to: str
    outcome: str
    lead_owner_id: str | None
    group_id: str | None = None
    assigned_from: str | None = None
    created_at: datetime | None = None
    turn: int | None = None

    @property
    def about(self) -> str:
        """The lead's id, also where the row has lost the lookup as the lead was deleted."""
        return self.lead_id or self.lead_key.rpartition(".")[0]


@dataclass(frozen=True, slots=True)
class Match:
    """A record that matches a lead, with its owner; `user_active`, `frozen` and `reads_leads` are that user's."""

    on: MatchOn
    by: MatchBy
    record_id: str
    owner_id: str
    name: str
    user_active: bool = True
    frozen: bool = False
    reads_leads: bool = True


@dataclass(frozen=True, slots=True)
class Submission:
    """The two submission keys of a lead: of its own bucket and of the next, one even, one odd by bucket number."""

    even: str
    odd: str


@dataclass(frozen=True, slots=True)
class Ask:
    """One job's question: who gets this lead? `waited_s` is how long the job has existed, in seconds.

    `cause` is why it asks; only with a cause other than WAITING can a lead that has an owner be routed anew.
    `owner_before` is whose the lead was when it was seen to be unassigned, None where that was not seen; `held` says
    that it was unassigned when this job last asked.
    """

    job_id: int
    idempotency_key: str
    lead_id: str
    event_at: datetime
    waited_s: float = 0.0
    cause: Cause = Cause.WAITING
    owner_before: str | None = None
    held: bool = False


@dataclass(frozen=True, slots=True)
class Elder:
    """The ask of a job that is not over, of a lead with these submission keys, one or two."""

    ask: Ask
    keys: tuple[str, ...]
