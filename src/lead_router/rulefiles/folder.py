"""A folder of rule files: `*.yaml` with rules, cases, and what a pull saw of the org."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lead_router.errors import Misconfigured
from lead_router.rulefiles import strict
from lead_router.rulefiles.nouns import (
    MATCH_BY,
    MATCH_KINDS,
    OFF_DUTY,
    Case,
    FileRule,
    Place,
    Pulled,
    PulledRule,
    Where,
    WhereKind,
)
from lead_router.rulefiles.opened import content
from lead_router.rulefiles.strict import Leaf, Part, Row

RULES_FILE = "rules.yaml"
ORG_FILE = "org.yaml"
ORG_RULES_FILE = "rules.org.yaml"

_KINDS = tuple(kind.value for kind in WhereKind)
_MATCH_KEYS = ("match_on", "off_duty")
_RULE_KEYS = ("name", "precedence", "criteria", *_KINDS, *_MATCH_KEYS, "active")
_CASE_KEYS = ("name", "lead", "rule", *_KINDS)
_ORG_KEYS = ("org", "pulled", "fields", "groups", "queues")
_FILE_KEYS = ("rules", "cases", *_ORG_KEYS)


@dataclass(frozen=True, slots=True)
class Folder:
    """What the files say: rules by precedence, cases as they stand, and what was pulled, if it was."""

    rules: tuple[FileRule, ...]
    cases: tuple[Case, ...]
    pulled: Pulled | None


def read_folder(folder: Path) -> Folder:
    """All `*.yaml` and `*.yml` files of a folder, but for the org's rules that a pull put there to be merged.

    Raises Misconfigured naming file and line of the first fault.
    """
    if not folder.is_dir():
        raise Misconfigured(f"{folder} is not a folder: `lead-router rules pull --to {folder}` makes one")
    rules: list[FileRule] = []
    cases: list[Case] = []
    pulled: Pulled | None = None
    for path in sorted((*folder.glob("*.yaml"), *folder.glob("*.yml"))):
        if path.name == ORG_RULES_FILE:
            continue
        part = strict.read(content(path), path.name)
        if part is None:
            continue
        row = strict.entries(part, _FILE_KEYS, "a rule file")
        rules += _list(row, "rules", rule_of)
        cases += _list(row, "cases", _case)
        if any(key in row.entries for key in _ORG_KEYS):
            if pulled is not None:
                raise Misconfigured(f"{row.at}: what the org holds stands in another file already")
            pulled = _pulled(row)
    _refuse_repeats(rules)
    return Folder(tuple(sorted(rules, key=lambda rule: rule.precedence)), tuple(cases), pulled)


def rule_of(part: Part) -> FileRule:
    """One rule; raises Misconfigured naming its line."""
    row = strict.entries(part, _RULE_KEYS, "a rule")
    name = strict.text(strict.needed(row, "name", "a rule"), "a rule's name")
    criteria = row.entries.get("criteria")
    blank = criteria is None or (isinstance(criteria, Leaf) and criteria.value is None)
    active = row.entries.get("active")
    where = _where(row, f"rule '{name}'")
    if where is None:
        raise Misconfigured(f"{row.at}: rule '{name}' has no target: give one of {', '.join(_KINDS)}")
    return FileRule(
        name=name,
        precedence=strict.whole(strict.needed(row, "precedence", f"rule '{name}'"), "a precedence"),
        criteria="" if blank or criteria is None else strict.text(criteria, "criteria").strip(),
        where=where,
        active=True if active is None else strict.flag(active, "active"),
        at=row.at,
        criteria_at=row.at if criteria is None else criteria.at,
    )


def _list(row: Row, key: str, read: Any) -> list[Any]:
    part = row.entries.get(key)
    if part is None or (isinstance(part, Leaf) and part.value is None):
        return []
    return [read(one) for one in strict.items(part, f"'{key}'")]


def _where(row: Row, what: str) -> Where | None:
    given = [kind for kind in WhereKind if kind in row.entries]
    if len(given) > 1:
        raise Misconfigured(f"{row.keys_at[given[1]]}: {what} has two targets, {given[0]} and {given[1]}: keep one")
    if not given:
        return None
    kind, name = given[0], strict.text(row.entries[given[0]], f"{given[0]} of {what}")
    if kind is not WhereKind.MATCHED:
        for key in _MATCH_KEYS:
            if key in row.entries:
                raise Misconfigured(f"{row.keys_at[key]}: {what} has {key}, which goes with matched alone")
        return Where(kind, name)
    choices = (("matched", MATCH_KINDS), ("match_on", MATCH_BY), ("off_duty", OFF_DUTY))
    return Where(kind, *(_chosen(row, key, known) for key, known in choices))


def _chosen(row: Row, key: str, known: tuple[str, ...]) -> str:
    """The value of a key that has few, the first of them where it is left out."""
    part = row.entries.get(key)
    if part is None:
        return known[0]
    value = strict.text(part, key)
    if value not in known:
        raise Misconfigured(
            f"{part.at}: {key} cannot be '{value}'{strict.nearest(value, known) or ': ' + ', '.join(known)}"
        )
    return value


def _case(part: Part) -> Case:
    row = strict.entries(part, _CASE_KEYS, "a case")
    lead = strict.entries(strict.needed(row, "lead", "a case"), _any(row.entries.get("lead")), "a case's lead")
    fields: dict[str, Any] = {}
    for name, value in lead.entries.items():
        if not isinstance(value, Leaf):
            raise Misconfigured(f"{value.at}: field {name} of a lead is one value")
        fields[name] = value
    expected = row.entries.get("rule")
    none = isinstance(expected, Leaf) and expected.value is None
    where = _where(row, "a case")
    if expected is None and where is None:
        raise Misconfigured(f"{row.at}: a case says which rule it expects (`rule: null` for none), or which target")
    named = row.entries.get("name")
    return Case(
        name=strict.text(named, "a case's name") if named is not None else f"case in line {row.at.line}",
        lead=fields,
        rule=None if expected is None or none else strict.text(expected, "the expected rule"),
        asks_rule=expected is not None,
        where=where,
        at=row.at,
    )


def _any(part: Part | None) -> Iterable[str]:
    return part.entries if isinstance(part, Row) else ()


def _pulled(row: Row) -> Pulled:
    groups = (
        strict.entries(row.entries["groups"], _any(row.entries["groups"]), "groups")
        if "groups" in row.entries
        else None
    )
    org = row.entries.get("org")
    return Pulled(
        org_id="" if org is None else strict.text(org, "org"),
        rules=tuple(_list(row, "pulled", _pulled_rule)),
        fields=_texts(row.entries.get("fields"), "fields"),
        groups={} if groups is None else {key: strict.whole(one, "members") for key, one in groups.entries.items()},
        queues=tuple(_list(row, "queues", lambda part: strict.text(part, "a queue"))),
    )


def _pulled_rule(part: Part) -> PulledRule:
    row = strict.entries(part, ("id", *_RULE_KEYS), "a pulled rule")
    rest = replace(row, entries={key: value for key, value in row.entries.items() if key != "id"})
    return PulledRule(strict.text(strict.needed(row, "id", "a pulled rule"), "id"), rule_of(rest))


def _texts(part: Part | None, what: str) -> Mapping[str, str]:
    if part is None:
        return {}
    row = strict.entries(part, _any(part), what)
    return {name: strict.text(one, name) for name, one in row.entries.items()}


def _refuse_repeats(rules: Iterable[FileRule]) -> None:
    names: dict[str, Place] = {}
    numbers: dict[int, FileRule] = {}
    for rule in rules:
        if rule.name in names:
            raise Misconfigured(f"{rule.at}: rule '{rule.name}' stands in {names[rule.name]} already")
        if rule.precedence in numbers:
            other = numbers[rule.precedence]
            raise Misconfigured(
                f"{rule.at}: rule '{rule.name}' has precedence {rule.precedence}, as has '{other.name}'"
            )
        names[rule.name], numbers[rule.precedence] = rule.at, rule
