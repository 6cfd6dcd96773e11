"""The rules of an org as rule files name them: read whole, and written in one transaction or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

from lead_router.errors import BadRules, Misconfigured
from lead_router.rulefiles import Added, Altered, Difference, FileRule, PulledRule, Removed, Where, WhereKind
from lead_router.rulefiles.check import place
from lead_router.salesforce import queries
from lead_router.salesforce.codes import Kind, Trouble, surprise, troubles
from lead_router.salesforce.names import GroupFields, Objects, Permissions, Relations, RuleFields, Standard
from lead_router.salesforce.records import moment
from lead_router.salesforce.rest import Rest, Subanswer, Subrequest
from lead_router.salesforce.writes import COLLECTION, WRITES_MAX

PARK_MAX = 999_999_998  # nine digits, as the precedence has

_USERNAME = "Username"
_FIELDS = (
    Standard.ID,
    Standard.NAME,
    Standard.CHANGED_AT,
    RuleFields.PRECEDENCE,
    RuleFields.ACTIVE,
    RuleFields.CRITERIA,
    f"{Relations.RULE_GROUP}.{GroupFields.KEY}",
    f"{Relations.RULE_USER}.{_USERNAME}",
    RuleFields.TARGET_QUEUE,
    RuleFields.TARGET_MATCH,
    RuleFields.MATCH_ON,
    RuleFields.MATCH_OFF_DUTY,
)


@dataclass(frozen=True, slots=True)
class OrgRules:
    """All rules of an org, by precedence, and when the latest of them was changed."""

    rules: tuple[PulledRule, ...]
    changed_at: str | None


def read_rules(rest: Rest) -> OrgRules:
    """Active rules and others; raises Misconfigured for a rule that a file cannot name."""
    rows = rest.query(queries.select(_FIELDS, Objects.RULE, f"ORDER BY {RuleFields.PRECEDENCE}, {Standard.ID}"))
    rules = tuple(PulledRule(str(row[Standard.ID]), _rule(row)) for row in rows)
    names = [one.rule.name for one in rules]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise Misconfigured(f"two rules are named '{twice}': give one another name, files tell rules by their names")
    return OrgRules(rules, max((str(row[Standard.CHANGED_AT]) for row in rows), default=None))


def group_keys(rest: Rest) -> tuple[str, ...]:
    """The keys of all groups."""
    rows = rest.query(queries.select((GroupFields.KEY,), Objects.GROUP, f"ORDER BY {GroupFields.KEY}"))
    return tuple(str(row[GroupFields.KEY]) for row in rows)


def queue_names(rest: Rest) -> tuple[str, ...]:
    """The developer names of all queues."""
    return tuple(sorted(str(row[Standard.DEVELOPER_NAME]) for row in rest.query(queries.queues())))


def write_rules(rest: Rest, seen: OrgRules, changes: Sequence[Difference], ids: Mapping[Where, str]) -> None:
    """Make the changes in one transaction, or none of them; rules that anyone touched since `seen` refuse it.

    `ids` are the changes' `targets`. Raises Rejected with the org's own words.
    """
    touched = [change.id for change in changes if not isinstance(change, Added)]
    if len(changes) > WRITES_MAX:
        raise Misconfigured(f"{len(changes)} rules would change, {WRITES_MAX} can at once: push them in parts")
    parts = [*_guard(seen, touched), *_writes(changes, ids)]
    _refuse(rest.composite(parts, write=True))


def _rule(row: Mapping[str, Any]) -> FileRule:
    name = str(row[Standard.NAME])
    group, user = row[Relations.RULE_GROUP] or {}, row[Relations.RULE_USER] or {}
    given = [
        Where(WhereKind.GROUP, str(group[GroupFields.KEY])) if group else None,
        Where(WhereKind.USER, str(user[_USERNAME])) if user else None,
        Where(WhereKind.QUEUE, str(row[RuleFields.TARGET_QUEUE])) if row[RuleFields.TARGET_QUEUE] else None,
        _matched(row) if row[RuleFields.TARGET_MATCH] else None,
    ]
    targets = [where for where in given if where is not None]
    if len(targets) != 1:
        raise Misconfigured(f"rule '{name}' ({row[Standard.ID]}) must have exactly one target, it has {len(targets)}")
    return FileRule(
        name=name,
        precedence=int(row[RuleFields.PRECEDENCE] or 0),
        criteria=str(row[RuleFields.CRITERIA] or "").strip(),
        where=targets[0],
        active=bool(row[RuleFields.ACTIVE]),
    )


def _matched(row: Mapping[str, Any]) -> Where:
    by, off_duty = row[RuleFields.MATCH_ON] or "Email", row[RuleFields.MATCH_OFF_DUTY] or "Next Rule"
    return Where(WhereKind.MATCHED, str(row[RuleFields.TARGET_MATCH]), str(by), str(off_duty))


def targets(rest: Rest, changes: Iterable[Difference]) -> dict[Where, str]:
    """Ids of the groups and users that rules name once changed; raises BadRules naming each rule whose is not there."""
    rules = [one.after if isinstance(one, Altered) else one.rule for one in changes if not isinstance(one, Removed)]
    found: dict[Where, str] = {}
    for kind, sobject, field in (
        (WhereKind.GROUP, Objects.GROUP, GroupFields.KEY),
        (WhereKind.USER, Objects.USER, _USERNAME),
    ):
        names = sorted({rule.where.name for rule in rules if rule.where.kind is kind})
        if names:
            tail = f"WHERE {queries.among(field, names)}"
            rows = rest.query(queries.select((Standard.ID, field), sobject, tail))
            ids = {str(row[field]).lower(): str(row[Standard.ID]) for row in rows}
            found |= {Where(kind, name): ids[name.lower()] for name in names if name.lower() in ids}
    named = (WhereKind.GROUP, WhereKind.USER)
    lost = [rule for rule in rules if rule.where.kind in named and rule.where not in found]
    if lost:
        told = (f"{place(one)}: there is no {one.where.kind} '{one.where.name}' in this org" for one in lost)
        raise BadRules("\n".join(told))
    return found


def _guard(seen: OrgRules, touched: Sequence[str]) -> list[Subrequest]:
    """A query of the rules to be changed, as they were seen, and a read of the last one, which is not there otherwise.

    Salesforce resolves the reference while it carries the composite out: if a rule was changed meanwhile it has no
    value, and nothing is written.
    """
    if not touched or seen.changed_at is None:
        return []
    at = queries.instant(moment(seen.changed_at))
    tail = f"WHERE {queries.among(Standard.ID, sorted(touched))} AND {Standard.CHANGED_AT} <= {at}"
    last = f"sobjects/{Objects.RULE}/@{{{_GUARD}.records[{len(touched) - 1}].Id}}?fields={Standard.ID}"
    return [
        queries.part(_GUARD, queries.select((Standard.ID,), Objects.RULE, tail)),
        Subrequest("GET", "unchanged", last),
    ]


def _writes(changes: Sequence[Difference], ids: Mapping[Where, str]) -> list[Subrequest]:
    """Precedences step aside first, so that rules can swap theirs; then removals, changes, and new rules."""
    gone = [change.id for change in changes if isinstance(change, Removed)]
    altered = [change for change in changes if isinstance(change, Altered)]
    moved = [change.id for change in altered if change.before.precedence != change.after.precedence]
    parts: list[Subrequest] = []
    aside = [{Standard.ID: one, RuleFields.PRECEDENCE: _aside(one)} for one in (*gone, *moved)]
    changed = [{Standard.ID: change.id, **written(change.after, ids)} for change in altered]
    new = [written(change.rule, ids) for change in changes if isinstance(change, Added)]
    for method, reference, rows in (("PATCH", "aside", aside), ("PATCH", "altered", changed), ("POST", "added", new)):
        if reference == "altered" and gone:
            parts.append(Subrequest("DELETE", "removed", f"{COLLECTION}?ids={','.join(gone)}&allOrNone=true"))
        if rows:
            typed = [{"attributes": {"type": Objects.RULE}, **row} for row in rows]
            parts.append(Subrequest(method, reference, COLLECTION, {"allOrNone": True, "records": typed}))
    return parts


def _aside(record_id: str) -> int:
    """A negative precedence of this rule's own, in case deleted rules keep theirs in the recycle bin."""
    return -1 - crc32(record_id.encode()) % PARK_MAX


def written(rule: FileRule, ids: Mapping[Where, str]) -> dict[str, Any]:
    """The fields of the record that keeps the rule; `ids` are those of groups and users."""
    where, kind = rule.where, rule.where.kind
    fields: dict[str, Any] = {
        Standard.NAME: rule.name,
        RuleFields.PRECEDENCE: rule.precedence,
        RuleFields.ACTIVE: rule.active,
        RuleFields.CRITERIA: rule.criteria or None,
        RuleFields.TARGET_GROUP: ids[where] if kind is WhereKind.GROUP else None,
        RuleFields.TARGET_USER: ids[where] if kind is WhereKind.USER else None,
        RuleFields.TARGET_QUEUE: where.name if kind is WhereKind.QUEUE else None,
        RuleFields.TARGET_MATCH: where.name if kind is WhereKind.MATCHED else None,
    }
    if kind is WhereKind.MATCHED:
        fields |= {RuleFields.MATCH_ON: where.match_on, RuleFields.MATCH_OFF_DUTY: where.off_duty}
    return fields


def _refuse(answers: Sequence[Subanswer]) -> None:
    """Raises what the org refused; where no part names a cause of its own, the guard did not hold."""
    failed = [trouble for answer in answers for trouble in _failures(answer)]
    own = [trouble for trouble in failed if trouble.kind is not Kind.SECONDARY]
    if own:
        if any(trouble.code in _RIGHTS for trouble in own):
            codes = ", ".join(sorted({trouble.code for trouble in own}))
            raise Misconfigured(
                f"this user may not change rules ({codes}): use settings (--env-file) of a user with the permission "
                f"set {Permissions.ADMIN_SET}"
            )
        raise surprise(own, write=True)
    if failed:
        raise Misconfigured("someone changed these rules at this very moment: nothing was written; pull again")


def _failures(answer: Subanswer) -> tuple[Trouble, ...]:
    if answer.status >= _REFUSED:
        return troubles(answer.body) or (Trouble(f"HTTP_{answer.status}", ""),)
    results = answer.body if isinstance(answer.body, list) else []
    return tuple(trouble for one in results if not one.get("success", True) for trouble in troubles(one.get("errors")))


_GUARD = "guard"
_REFUSED = 300
_RIGHTS = frozenset({"INSUFFICIENT_ACCESS_OR_READONLY", "INVALID_FIELD_FOR_INSERT_UPDATE", "INSUFFICIENT_ACCESS"})
