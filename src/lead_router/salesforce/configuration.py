"""What admins keep as records and operators as settings, to a Configuration: checked whole, or refused by name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lead_router.core.eligible import accepted
from lead_router.core.enrichment import Asking
from lead_router.core.model import (
    AS_SET_OUT,
    BY_DEFAULT,
    Configuration,
    FirstTouch,
    Group,
    MatchBy,
    MatchOn,
    Member,
    Rollout,
    Rule,
    Target,
    ToGroup,
    ToMatched,
    ToOwner,
)
from lead_router.core.rules import FieldTypes, rulebook
from lead_router.core.scoring import Scoring
from lead_router.core.soql.fields import LONG_TEXT, UNFILTERABLE
from lead_router.errors import BadCriteria, Misconfigured
from lead_router.salesforce.clauses import criteria_of, untouched
from lead_router.salesforce.hopfields import read_for, with_score
from lead_router.salesforce.names import Relations, RuleFields, RuleWords, Standard
from lead_router.salesforce.opening import absences, attached
from lead_router.salesforce.queries import BASE_LEAD_FIELDS
from lead_router.salesforce.records import Row, whole

WEIGHT_MAX = 100
ACCEPTS = "criteria of accepted leads"
"""What members' criteria are called in warnings."""

_GROUP_KEY = re.compile(r"[A-Za-z0-9_-]{1,40}")


@dataclass(frozen=True, slots=True)
class Intake:
    """What operators set: which leads are unassigned, what makes two one submission, which features are in force."""

    queues: tuple[str, ...] = ("Lead_Intake",)
    usernames: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    unassigned: str = ""
    form_field: str = ""
    submission_window_s: int = 600
    follow_wait_s: int = 600
    open_leads: str = "(NOT Status LIKE 'Closed%')"
    """Which of a user's leads count towards a cap on open leads: a WHERE clause; converted ones never do."""
    rollout: Rollout = AS_SET_OUT
    first_touch: FirstTouch = BY_DEFAULT
    scoring: Scoring | None = None
    enrichment: Asking | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """Everything read of the org for one configuration; `field_types` are a lead's, by path."""

    rules: Sequence[Row]
    groups: Sequence[Group]
    members: Mapping[str, Sequence[Member]]
    queues: Sequence[Row]
    users: Sequence[Row]
    integration_user_id: str
    field_types: Mapping[str, str]
    hours: Sequence[Row] = ()
    holidays: Sequence[Row] = ()
    absences: Sequence[Row] = ()


def configured(intake: Intake, found: Found) -> Configuration:
    """The configuration; raises Misconfigured naming the first record or setting at fault and the remedy."""
    queues = _queues(found.queues)
    owners = frozenset((*_intake_queues(intake, queues), *_intake_users(intake, found.users)))
    if not owners and not intake.statuses:
        raise Misconfigured("nothing is unassigned: set LEAD_ROUTER_INTAKE_QUEUES to the queue that new leads come to")
    hours, warnings = attached(found.hours, found.holidays, _hours_used(found))
    away, of_absences = absences(found.absences)
    warnings += [*of_absences, *_check_groups(found, queues, owners)]
    rules = tuple(_rule(row, queues, owners, warnings) for row in found.rules)
    plain = Configuration(
        rules=rules,
        group_keys={group.id: group.key for group in found.groups},
        queues=queues,
        intake_owners=owners,
        unassigned=intake.unassigned,
        form_field=_form_field(intake, found.field_types),
        submission_window_s=intake.submission_window_s,
        follow_wait_s=intake.follow_wait_s,
        integration_user_id=found.integration_user_id,
        lead_fields=BASE_LEAD_FIELDS,
        intake_statuses=frozenset(intake.statuses),
        field_types=with_score(intake.scoring, found.field_types),
        hours=hours,
        absences=away,
        fallbacks={group.id: group.fallback_group for group in found.groups if group.fallback_group},
        roster=tuple(_kept(group) for group in found.groups),
        rollout=intake.rollout,
        scoring=intake.scoring,
        enrichment=intake.enrichment,
        first_touch=intake.first_touch,
    )
    book = rulebook(plain)
    criteria_of("open leads", intake.open_leads, found.field_types)
    by_members = _accepted(found, book.types, warnings)
    by_clock = untouched(intake.rollout, intake.first_touch, found.groups, found.field_types, warnings)
    used = frozenset().union(book.unassigned.fields, by_members, by_clock, *(one.criteria.fields for one in book.rules))
    form = {plain.form_field} if plain.form_field else set()
    read = BASE_LEAD_FIELDS | read_for(intake.scoring, used, book.types) | form
    return replace(plain, lead_fields=read, warnings=(*warnings, *book.warnings))


def field_types(describe: Mapping[str, Any]) -> dict[str, str]:
    """A lead's fields by path, with describe's type names; and of its parents, those by which leads are told apart.

    What SOQL does not filter bears a name of ours, so that a clause that names it is refused.
    """
    types = {str(field["name"]): _type(field) for field in describe["fields"]}
    parents = {str(field.get("relationshipName")) for field in describe["fields"]}
    for parent, fields in _PARENTS.items():
        if parent in parents:
            types |= {f"{parent}.{name}": kind for name, kind in fields.items()}
    return types


def _type(field: Mapping[str, Any]) -> str:
    kind = str(field["type"])
    if kind == "textarea":
        return kind if field.get("filterable", field.get("length", 0) <= TEXT_AREA_MAX_CHARS) else LONG_TEXT
    return kind if field.get("filterable", True) else UNFILTERABLE


TEXT_AREA_MAX_CHARS = 255
"""A plain text area holds no more and is filtered by SOQL; a longer one is not."""

_PARENTS: Mapping[str, Mapping[str, str]] = {
    "Owner": {"Type": "string", "Name": "string"},
    "RecordType": {"DeveloperName": "string", "Name": "string"},
    "CreatedBy": {"Username": "string", "Name": "string"},
}


def _kept(group: Group) -> Group:
    """What people keep of a group: no turns, no counts."""
    members = tuple(
        replace(one, next_turn=None, last_turn=None, leads_received=0, day=None, day_count=0) for one in group.members
    )
    return replace(group, turn=0, clock=0, members=members)


def _hours_used(found: Found) -> frozenset[str]:
    by_members = (member.hours_id for several in found.members.values() for member in several)
    return frozenset(used for used in (*by_members, *(group.hours_id for group in found.groups)) if used)


def _accepted(found: Found, types: FieldTypes, warnings: list[str]) -> frozenset[str]:
    """The fields that members' criteria use. A clause that cannot be read keeps its member from leads, and is told."""
    fields: set[str] = set()
    for member in (member for several in found.members.values() for member in several if member.accepts.strip()):
        criteria = accepted(member.accepts, types)
        if isinstance(criteria, BadCriteria):
            told = f"member {member.name or member.user_id} ({member.id}) gets no leads: {ACCEPTS}"
            warnings.append(f"{told}, character {criteria.at + 1}: {criteria}")
        else:
            fields |= criteria.fields
    return frozenset(fields)


def _queues(rows: Iterable[Row]) -> dict[str, str]:
    return {str(row[Standard.DEVELOPER_NAME]): str(row[Standard.ID]) for row in rows}


def _intake_queues(intake: Intake, queues: Mapping[str, str]) -> list[str]:
    for name in intake.queues:
        if name not in queues:
            raise Misconfigured(f"LEAD_ROUTER_INTAKE_QUEUES names '{name}', but no queue has this developer name")
    return [queues[name] for name in intake.queues]


def _intake_users(intake: Intake, rows: Iterable[Row]) -> list[str]:
    ids = {str(row["Username"]).lower(): str(row[Standard.ID]) for row in rows}
    for name in intake.usernames:
        if name.lower() not in ids:
            raise Misconfigured(f"LEAD_ROUTER_INTAKE_USERS names '{name}', but no user has this username")
    return [ids[name.lower()] for name in intake.usernames]


def _form_field(intake: Intake, types: Mapping[str, str]) -> str | None:
    if not intake.form_field:
        return None
    spelt = {name.lower(): name for name in types}.get(intake.form_field.lower())
    if spelt is None:
        raise Misconfigured(f"LEAD_ROUTER_FORM_FIELD names '{intake.form_field}', but Lead has no such field to read")
    return spelt


def _check_groups(found: Found, queues: Mapping[str, str], owners: frozenset[str]) -> list[str]:
    warnings: list[str] = []
    for group in found.groups:
        if not _GROUP_KEY.fullmatch(group.key or ""):
            told = "its key must be 1 to 40 letters, digits, hyphens or underscores"
            raise Misconfigured(f"group '{group.name}' ({group.id}): {told}")
        name = f"group '{group.key}' ({group.id})"
        if group.fallback_queue is not None:
            _check_queue(f"{name}: its fallback queue", group.fallback_queue, queues, owners)
        if group.manager_id in owners:
            raise Misconfigured(f"{name}: its manager is an intake user: leads would go round for ever; name another")
        members = found.members.get(group.id, ())
        for member in members:
            if not 0 <= member.weight <= WEIGHT_MAX:
                raise Misconfigured(
                    f"{name}: member {member.id} has weight {member.weight}; 0 to {WEIGHT_MAX} are allowed"
                )
        users = [member.user_id for member in members]
        if len(set(users)) < len(users):
            warnings.append(f"{name}: a user is a member twice and gets both shares; delete one")
    return warnings


def _check_queue(what: str, name: str, queues: Mapping[str, str], owners: frozenset[str]) -> str:
    if name not in queues:
        raise Misconfigured(f"{what} is '{name}', but no queue has this developer name")
    if queues[name] in owners:
        raise Misconfigured(f"{what} is '{name}', an intake queue: leads would go round for ever; name another queue")
    return queues[name]


def _rule(row: Row, queues: Mapping[str, str], owners: frozenset[str], warnings: list[str]) -> Rule:
    name = f"rule '{row[Standard.NAME]}' ({row[Standard.ID]})"
    if row[RuleFields.PRECEDENCE] is None:
        raise Misconfigured(f"{name}: it has no precedence; give it a number that no other rule has")
    return Rule(
        id=str(row[Standard.ID]),
        name=str(row[Standard.NAME]),
        precedence=whole(row[RuleFields.PRECEDENCE]),
        criteria=str(row[RuleFields.CRITERIA] or ""),
        target=_target(name, row, queues, owners, warnings),
    )


def _target(name: str, row: Row, queues: Mapping[str, str], owners: frozenset[str], warnings: list[str]) -> Target:
    group, user, queue, match = (
        row[field]
        for field in (
            RuleFields.TARGET_GROUP,
            RuleFields.TARGET_USER,
            RuleFields.TARGET_QUEUE,
            RuleFields.TARGET_MATCH,
        )
    )
    if sum(1 for target in (group, user, queue, match) if target) != 1:
        raise Misconfigured(f"{name}: it must have exactly one target: a group, a user, a queue or a match")
    if match:
        return _matched(row)
    if group:
        return ToGroup(str(group))
    if queue:
        return ToOwner(_check_queue(f"{name}: its target queue", str(queue), queues, owners), str(queue))
    if user in owners:
        raise Misconfigured(f"{name}: its target user is an intake user: leads would go round for ever; name another")
    person = row[Relations.RULE_USER] or {}
    if not person.get(Standard.IS_ACTIVE):
        warnings.append(f"{name}: its target user is inactive and cannot own leads; choose another")
    return ToOwner(str(user), str(person.get(Standard.NAME) or user))


def _matched(row: Row) -> ToMatched:
    match = row[RuleFields.TARGET_MATCH]
    return ToMatched(
        on=tuple(MatchOn) if match == RuleWords.ANY else (MatchOn(match),),
        by=MatchBy(row[RuleFields.MATCH_ON] or MatchBy.EMAIL),
        falls_through=row[RuleFields.MATCH_OFF_DUTY] != RuleWords.WAIT,
    )
