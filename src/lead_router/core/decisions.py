"""The nouns of decisions: what becomes of a lead, and what one commit writes. Frozen, without verbs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from lead_router.core.leads import Ask, Lead, Outcome, Status, Submission
from lead_router.core.roster import Group, Turn
from lead_router.core.targets import Rule


@dataclass(frozen=True, slots=True)
class Assign:
    """Give the lead to `owner_id`; `turn` is None where a rule names an owner or nobody was eligible (fallback).

    `passed_over` are the kinds of reason for which members of the groups asked could not have it.
    """

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
    passed_over: tuple[str, ...] = ()


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
class Count:
    """A lead that its owner, a member, took by hand before it was routed uses up that member's turn; the lead stays."""

    ask: Ask
    lead: Lead
    owner_id: str
    round: int
    rule: Rule
    turn: Turn
    submission: Submission | None
    explanation: str


@dataclass(frozen=True, slots=True)
class Hold:
    """Nobody may have the lead now: the job waits `retry_s` seconds and is asked again, without using an attempt.

    `lead` is None where it could not be read. `until` is the earliest instant at which somebody may be able to take it,
    None where no clock tells. `group_id` is set where the lead waits for members of that group, so that no newer lead
    overtakes it; `behind` is the older lead that this one waits behind, whose job should be asked at once.
    `rule` is the one that led here, if one did. `shown` says whether the lead itself is to show it; else nothing is
    written to it.
    """

    ask: Ask
    lead: Lead | None
    reason: str
    retry_s: float
    until: datetime | None = None
    group_id: str | None = None
    behind: str | None = None
    rule: Rule | None = None
    shown: bool = True


@dataclass(frozen=True, slots=True)
class Skip:
    """Nothing to do, for good: owned, converted, gone, or already routed by this very job.

    `queued` says that its lead shows Queued for nothing; it is to show `shows` again, blank where that is None. A lead
    that shows Held, and was given to its owner since this was asked, is to show `shows`, too. `returned` says that the
    job has routed its lead, which was then given back: it waits for an owner, and this job is not the one to find it.
    """

    ask: Ask
    reason: str
    queued: bool = False
    shows: Status | None = None
    returned: bool = False


@dataclass(frozen=True, slots=True)
class Observed:
    """What a group that only observes would have done. Nothing is written to the lead or the rotation."""

    ask: Ask
    lead: Lead
    group_id: str
    would: Assign | Hold
    retry_s: float


Decision: TypeAlias = Assign | Follow | Count | Hold | Skip | Observed
Write: TypeAlias = Assign | Follow | Count


@dataclass(frozen=True, slots=True)
class Batch:
    """Writes of one commit, at most 200: of one group (`before` and `after` its turns), or without any turn.

    A commit may hold the batches of several groups.
    """

    writes: tuple[Write, ...]
    before: Group | None
    after: Group | None
