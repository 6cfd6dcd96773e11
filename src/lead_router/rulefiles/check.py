"""What a person should look at in a set of rules, with or without knowledge of the org they are for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from lead_router.core.rules import bare_amounts
from lead_router.core.soql import compile_where
from lead_router.errors import BadCriteria
from lead_router.ports import Finding
from lead_router.rulefiles.broader import Reach, reach, takers
from lead_router.rulefiles.nouns import CRITERIA_MAX, NAME_MAX, PRECEDENCE_MAX, FileRule, WhereKind
from lead_router.rulefiles.strict import nearest


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is known of the org; None where it is not. `groups` counts members that can ever come on duty, by key."""

    fields: Mapping[str, str] | None = None
    groups: Mapping[str, int] | None = None
    queues: frozenset[str] | None = None


def check(rules: Sequence[FileRule], around: Surroundings) -> list[Finding]:
    """All findings, rule by rule in order of precedence; one that is ok says how much was looked at."""
    ordered = sorted(rules, key=lambda rule: rule.precedence)
    found = [*_of_numbers(ordered), *(one for rule in ordered for one in _of_sizes(rule))]
    reaches: list[Reach] = []
    for rule in (rule for rule in ordered if rule.active):
        found += _of_target(rule, around)
        try:
            reached = reach(rule.name, rule.criteria, around.fields)
        except BadCriteria as fault:
            found.append(_bad_criteria(rule, fault))
            continue
        found += _of_reach(rule, reached, reaches)
        found += _of_amounts(rule, around.fields or {})
        if rule.where.kind is not WhereKind.MATCHED:  # a lead that nothing matches is the next rules'
            reaches.append(reached)
    for rule in (rule for rule in ordered if not rule.active):
        try:
            compile_where(rule.criteria, around.fields)
        except BadCriteria as fault:
            found.append(_bad_criteria(rule, fault))
    if not any(reached.parts is not None and () in reached.parts for reached in reaches):
        found.append(_no_catch_all(ordered))
    found += [Finding("groups", ok=True, detail=_GROUPS_UNKNOWN)] if around.groups is None else []
    many = f"{len(ordered)} rule{'s' * (len(ordered) != 1)}"
    return found or [Finding("rules", ok=True, detail=f"{many}, nothing to mend")]


_MAY_BE_NEW = "if it is new in the org, run `lead-router rules pull --to DIR` with this folder, to renew org.yaml"
_GROUPS_UNKNOWN = (
    "not looked at: there is no file with what the org holds (`lead-router rules pull --to DIR` writes it)"
)


def place(rule: FileRule) -> str:
    """Where the rule stands, for a finding's name."""
    return f"{rule.at} rule '{rule.name}'".strip() if rule.at.line else f"rule '{rule.name}'"


def _bad_criteria(rule: FileRule, fault: BadCriteria) -> Finding:
    line = f"line {rule.criteria_at.line}, " if rule.criteria_at.line else ""
    detail = f"criteria, {line}character {fault.at + 1}: {fault}"
    return Finding(
        place(rule), ok=False, detail=detail, remedy="correct the criteria; until then no rule can be loaded"
    )


def _of_numbers(ordered: Sequence[FileRule]) -> Iterator[Finding]:
    for first, second in pairwise(ordered):
        if first.precedence == second.precedence:
            detail = f"has precedence {second.precedence}, as has rule '{first.name}'"
            yield Finding(place(second), ok=False, detail=detail, remedy="give one of them another number")


def _of_sizes(rule: FileRule) -> Iterator[Finding]:
    """What the org's fields have no room for, so that a push would be refused."""
    if len(rule.name) > NAME_MAX:
        detail = f"its name has {len(rule.name)} characters, {NAME_MAX} are allowed"
        yield Finding(place(rule), ok=False, detail=detail, remedy="give it a shorter name")
    if abs(rule.precedence) > PRECEDENCE_MAX:
        detail = f"its precedence {rule.precedence} is beyond {PRECEDENCE_MAX}"
        yield Finding(
            place(rule), ok=False, detail=detail, remedy="give it a smaller number; leave gaps of 10, not more"
        )
    if len(rule.criteria) > CRITERIA_MAX:
        detail = f"its criteria have {len(rule.criteria):,} characters, {CRITERIA_MAX:,} are allowed"
        yield Finding(place(rule), ok=False, detail=detail, remedy="make two rules of it")


def _of_amounts(rule: FileRule, types: Mapping[str, str]) -> Iterator[Finding]:
    told = bare_amounts(compile_where(rule.criteria, types or None), types)
    if told is not None:
        fault, remedy = told
        yield Finding(place(rule), ok=False, warning=True, detail=fault, remedy=remedy)


def _of_target(rule: FileRule, around: Surroundings) -> Iterator[Finding]:
    name = rule.where.name
    match rule.where.kind:
        case WhereKind.GROUP if around.groups is not None:
            if name not in around.groups:
                hint = nearest(name, around.groups)
                remedy = f"choose a group; {_MAY_BE_NEW}"
                yield Finding(place(rule), ok=False, detail=f"there is no group '{name}'{hint}", remedy=remedy)
            elif around.groups[name] == 0:
                detail = f"group '{name}' has no member who can ever be on duty: its leads are held or fall back"
                yield Finding(place(rule), ok=False, warning=True, detail=detail, remedy="add members to the group")
        case WhereKind.QUEUE if around.queues is not None and name not in around.queues:
            hint = nearest(name, around.queues)
            remedy = f"choose a queue; {_MAY_BE_NEW}"
            yield Finding(place(rule), ok=False, detail=f"there is no queue '{name}'{hint}", remedy=remedy)
        case _:
            return


def _of_reach(rule: FileRule, reached: Reach, above: Sequence[Reach]) -> Iterator[Finding]:
    if reached.parts == ():
        detail = "no lead can meet its criteria: they contradict themselves"
        yield Finding(place(rule), ok=False, warning=True, detail=detail, remedy="correct the criteria")
        return
    taken = takers(reached, above)
    if taken is not None:
        names = " and ".join(f"'{name}'" for name in taken)
        above_it = f"rule {names} above it takes" if len(taken) == 1 else f"rules {names} above it take"
        detail = f"is never reached: {above_it} all its leads"
        remedy = "give it a lower precedence number than theirs, or remove it"
        yield Finding(place(rule), ok=False, warning=True, detail=detail, remedy=remedy)


def _no_catch_all(ordered: Sequence[FileRule]) -> Finding:
    detail = (
        "no rule takes every lead: leads that match none are held"
        if ordered
        else "there are no rules: every lead is held"
    )
    return Finding("rules", ok=False, warning=True, detail=detail, remedy="add a rule without criteria, last")
