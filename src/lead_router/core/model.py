"""The nouns: frozen, without verbs, without I/O. Ids are 18-character Salesforce ids, times are aware UTC datetimes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, TypeAlias


class Mode(StrEnum):
    """What a group's turns are: not used, decided but not written, or written."""

    OFF = "Off"
    OBSERVE = "Observe"
    LIVE = "Live"


class Outcome(StrEnum):
    """How a ledger row came to be (`Lead_Assignment__c.Outcome__c`)."""

    ASSIGNED = "Assigned"
    DUPLICATE = "Duplicate"
    FALLBACK = "Fallback"


class Status(StrEnum):
    """`Lead.Routing_Status__c`."""

    QUEUED = "Queued"
    ASSIGNED = "Assigned"
    DUPLICATE = "Duplicate"
    HELD = "Held"
    FAILED = "Failed"


@dataclass(frozen=True, slots=True)
class Member:
    """A user's place in a group. `next_turn` is None for a newcomer, `last_turn` before the first own turn."""

    id: str
    user_id: str
    name: str
    weight: int
    sort_order: int
    active: bool
    user_active: bool
    next_turn: int | None
    last_turn: int | None
    leads_received: int = 0


@dataclass(frozen=True, slots=True)
class Group:
    """A pool of members that take turns; `clock` and the members' `next_turn` are virtual time (DESIGN section 5)."""

    id: str
    key: str
    name: str
    mode: Mode
    epoch: int
    turn: int
    clock: int
    fallback_queue: str | None
    members: tuple[Member, ...]


@dataclass(frozen=True, slots=True)
class Turn:
    """Turn `number` of a group, given to `member`; both are as afterwards, `before` is the group before."""

    number: int
    member: Member
    group: Group
    before: Group


@dataclass(frozen=True, slots=True)
class ToGroup:
    """A rule's target: the next member of a group, by the group's id."""

    group_id: str


@dataclass(frozen=True, slots=True)
class ToOwner:
    """A rule's target: one user or queue, by id."""

    owner_id: str
    name: str


Target: TypeAlias = ToGroup | ToOwner


@dataclass(frozen=True, slots=True)
class Rule:
    """Ordered criteria that choose a target; `criteria` is a SOQL WHERE clause, empty for a catch-all."""

    id: str
    name: str
    precedence: int
    criteria: str
    target: Target


@dataclass(frozen=True, slots=True)
class Lead:
    """A lead as read: `fields` holds every field read, as Salesforce's JSON has it, `Owner.Type` nested.

    `status` is `Lead.Status`; `held` says that `Routing_Status__c` already shows Held.
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


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """One `Lead_Assignment__c`; `lead_owner_id` is the present owner of its lead, None when that lead is gone."""

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


@dataclass(frozen=True, slots=True)
class Submission:
    """The two submission keys of a lead: of its own bucket and of the next, one even, one odd by bucket number."""

    even: str
    odd: str


@dataclass(frozen=True, slots=True)
class Ask:
    """One job's question: who gets this lead? `waited_s` is how long the job has existed, in seconds."""

    job_id: int
    idempotency_key: str
    lead_id: str
    event_at: datetime
    waited_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Configuration:
    """What admins keep as records and operators as settings, loaded whole, checked, and replaced whole.

    `group_keys` maps group ids to keys, `queues` developer names to ids, `field_types` paths of lead fields to the type
    names of Salesforce's describe (empty: not known). A lead is unassigned where its owner is an intake owner or its
    status an intake status, and the clause `unassigned` (blank: all) holds.
    """

    rules: tuple[Rule, ...]
    group_keys: Mapping[str, str]
    queues: Mapping[str, str]
    intake_owners: frozenset[str]
    unassigned: str
    form_field: str | None
    submission_window_s: int
    follow_wait_s: int
    integration_user_id: str
    lead_fields: frozenset[str]
    intake_statuses: frozenset[str] = frozenset()
    field_types: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All that one decision may look at, read at one moment, groups first; groups and leads by id.

    `leads` lacks a lead that Salesforce no longer has. `submission_keys_read` are the submission keys by which the
    ledger was read: a lead whose keys are not among them must be read again before it is decided. `unfit` are users
    that cannot own leads although no member row says so, because Salesforce refused them.
    """

    taken_at: datetime
    groups: Mapping[str, Group]
    leads: Mapping[str, Lead]
    ledger: tuple[LedgerRow, ...]
    submission_keys_read: frozenset[str] = field(default_factory=frozenset)
    unfit: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Assign:
    """Give the lead to `owner_id`; `turn` is None where a rule names an owner or nobody was eligible (fallback)."""

    ask: Ask
    lead: Lead
    owner_id: str
    round: int
    outcome: Outcome
    rule: Rule | None
    group_id: str | None
    turn: Turn | None
    submission: Submission | None
    explanation: str


@dataclass(frozen=True, slots=True)
class Follow:
    """Give a second lead of a submission to the owner of the first; no turn."""

    ask: Ask
    lead: Lead
    owner_id: str
    round: int
    first_lead_id: str
    explanation: str


@dataclass(frozen=True, slots=True)
class Hold:
    """Nobody may have the lead now: the job waits `retry_s` seconds and is asked again, without using an attempt.

    `lead` is None where it could not be read.
    """

    ask: Ask
    lead: Lead | None
    reason: str
    retry_s: float


@dataclass(frozen=True, slots=True)
class Skip:
    """Nothing to do, for good: owned, converted, gone, or already routed by this very job."""

    ask: Ask
    reason: str


Decision: TypeAlias = Assign | Follow | Hold | Skip
Write: TypeAlias = Assign | Follow


@dataclass(frozen=True, slots=True)
class Batch:
    """The writes of one commit, at most 200: of one group (`before` and `after` its turns), or without any turn."""

    writes: tuple[Write, ...]
    before: Group | None
    after: Group | None
