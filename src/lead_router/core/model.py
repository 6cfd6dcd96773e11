"""The nouns: frozen, without verbs, without I/O. Ids are 18-character Salesforce ids, times are aware UTC datetimes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from lead_router.core.decisions import Assign, Batch, Count, Decision, Follow, Hold, Observed, Skip, Write
from lead_router.core.enrichment import Asking
from lead_router.core.leads import Ask, Cause, Elder, Lead, LedgerRow, Match, Outcome, Status, Submission
from lead_router.core.rollout import ALL_LIVE, AS_SET_OUT, BY_DEFAULT, FirstTouch, Rollout, Switch
from lead_router.core.roster import Absence, Group, Holiday, Hours, Member, Mode, Recurrence, Reroute, Turn, Window
from lead_router.core.scoring import Scoring
from lead_router.core.targets import MatchBy, MatchOn, Rule, Target, ToGroup, ToMatched, ToOwner

__all__ = [
    "ALL_LIVE",
    "AS_SET_OUT",
    "BY_DEFAULT",
    "Absence",
    "Ask",
    "Assign",
    "Batch",
    "Cause",
    "Configuration",
    "Count",
    "Decision",
    "Elder",
    "FirstTouch",
    "Follow",
    "Group",
    "Hold",
    "Holiday",
    "Hours",
    "Lead",
    "LedgerRow",
    "Match",
    "MatchBy",
    "MatchOn",
    "Member",
    "Mode",
    "Observed",
    "Outcome",
    "Recurrence",
    "Reroute",
    "Rollout",
    "Rule",
    "Skip",
    "Snapshot",
    "Status",
    "Submission",
    "Switch",
    "Target",
    "ToGroup",
    "ToMatched",
    "ToOwner",
    "Turn",
    "Window",
    "Write",
]


@dataclass(frozen=True, slots=True)
class Configuration:
    """What admins keep as records and operators as settings, loaded whole, checked, and replaced whole.

    `group_keys` maps group ids to keys, `queues` developer names to ids, `field_types` paths of lead fields to the type
    names of Salesforce's describe (empty: not known). A lead is unassigned where its owner is an intake owner or its
    status an intake status, and the clause `unassigned` (blank: all) holds. `hours` are by their id, `absences` by user
    id; `fallbacks` maps group ids to the ids of their fallback groups. `roster` is the groups as people keep them,
    without what turns change, so that a change of anyone's duty shows; who is next stands in a snapshot alone.
    `rollout` says which features are in force. Leads are scored and enriched where `scoring` and `enrichment` are set.
    `first_touch` is what the first-touch clock goes by.
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
    hours: Mapping[str, Hours] = field(default_factory=dict)
    absences: Mapping[str, tuple[Absence, ...]] = field(default_factory=dict)
    fallbacks: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    roster: tuple[Group, ...] = ()
    rollout: Rollout = AS_SET_OUT
    first_touch: FirstTouch = BY_DEFAULT
    scoring: Scoring | None = None
    enrichment: Asking | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All that one decision may look at, read at one moment, groups first; groups and leads by id.

    `leads` lacks a lead that Salesforce no longer has. `submission_keys_read` are the submission keys by which the
    ledger was read: a lead whose keys are not among them must be read again before it is decided. `unfit` are users
    that cannot own leads although no member row says so, because Salesforce refused them.
    `open_leads` are by user id, read where a member has a cap on them; `matches` by lead id, best first, read where a
    rule asks for them, but not for the leads of `unasked`, which the org does not have. `gone` maps a deleted lead's id
    to that of the lead it was merged into, or to None. `waiting` are asks, none of this batch's, of living jobs whose
    leads (in `leads`) wait for members (`Hold.group_id`). `elders` are living jobs that share submission keys with this
    batch's; where their leads were not read, they wait. `touches` are by lead id when an activity first touched it
    since it was given out, read where a reminder or a deadline may be due; `blind`: this user may not read activities.
    `by_hand` are by lead id when a person last gave it to someone, as far as events of that are kept and asked for.
    """

    taken_at: datetime
    groups: Mapping[str, Group]
    leads: Mapping[str, Lead]
    ledger: tuple[LedgerRow, ...]
    submission_keys_read: frozenset[str] = field(default_factory=frozenset)
    unfit: frozenset[str] = frozenset()
    open_leads: Mapping[str, int] = field(default_factory=dict)
    matches: Mapping[str, tuple[Match, ...]] = field(default_factory=dict)
    unasked: frozenset[str] = frozenset()
    gone: Mapping[str, str | None] = field(default_factory=dict)
    waiting: tuple[Ask, ...] = ()
    elders: tuple[Elder, ...] = ()
    touches: Mapping[str, datetime] = field(default_factory=dict)
    blind: bool = False
    by_hand: Mapping[str, datetime] = field(default_factory=dict)
