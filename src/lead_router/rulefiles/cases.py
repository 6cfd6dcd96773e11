"""Table cases: a lead's fields, and the rule and target that it is expected to get."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from lead_router.core.soql import Criteria, compile_where
from lead_router.errors import BadCriteria, Misconfigured
from lead_router.rulefiles import fieldvalues
from lead_router.rulefiles.check import place
from lead_router.rulefiles.nouns import Case, FileRule, WhereKind
from lead_router.rulefiles.strict import Leaf, nearest


@dataclass(frozen=True, slots=True)
class Tried:
    """A case and what the rules made of it; `fault` is empty where it is as expected."""

    case: Case
    rule: FileRule | None
    fault: str


def tried(
    cases: Sequence[Case], rules: Sequence[FileRule], fields: Mapping[str, str] | None, at: datetime
) -> list[Tried]:
    """Every case, in order; raises Misconfigured for criteria, or a case, that cannot be used.

    A rule for matched owners is passed over, as it is for a lead that nothing matches, unless the case expects it.
    """
    active = sorted((rule for rule in rules if rule.active), key=lambda rule: rule.precedence)
    compiled = [(rule, _compiled(rule, fields)) for rule in active]
    names = {rule.name for rule in rules}
    found: list[Tried] = []
    for case in cases:
        if case.rule is not None and case.rule not in names:
            raise Misconfigured(f"{case.at}: there is no rule '{case.rule}'{nearest(case.rule, names)}")
        lead = _lead(case, fields)
        rule = next((rule for rule, criteria in compiled if _asks(rule, case) and criteria.matches(lead, at)), None)
        found.append(Tried(case, rule, _fault(case, rule)))
    return found


def _compiled(rule: FileRule, fields: Mapping[str, str] | None) -> Criteria:
    try:
        return compile_where(rule.criteria, fields)
    except BadCriteria as fault:
        raise BadCriteria(f"{place(rule)}: criteria, character {fault.at + 1}: {fault}", at=fault.at) from None


def _asks(rule: FileRule, case: Case) -> bool:
    if rule.where.kind is not WhereKind.MATCHED:
        return True
    return case.rule == rule.name or (case.where is not None and case.where.kind is WhereKind.MATCHED)


def _lead(case: Case, fields: Mapping[str, str] | None) -> dict[str, Any]:
    lead: dict[str, Any] = {}
    for name, leaf in case.lead.items():
        if not isinstance(leaf, Leaf):
            raise TypeError(f"{name} of a case is no leaf")
        try:
            path = name if fields is None else fieldvalues.spelt(name, fields)
            value = leaf.value if fields is None else fieldvalues.of_scalar(path, fields[path], leaf.value)
        except Misconfigured as fault:
            raise Misconfigured(f"{leaf.at}: {fault}") from None
        put(lead, path, value)
    return lead


def put(lead: dict[str, Any], path: str, value: Any) -> None:
    """Set `Owner.Type` and the like in a lead's nested fields."""
    *parents, name = path.split(".")
    for parent in parents:
        lead = lead.setdefault(parent, {})
    lead[name] = value


def _fault(case: Case, rule: FileRule | None) -> str:
    got = "no rule" if rule is None else f"rule '{rule.name}'"
    if case.asks_rule and (None if rule is None else rule.name) != case.rule:
        wanted = "no rule" if case.rule is None else f"rule '{case.rule}'"
        return f"expected {wanted}, got {got}"
    if case.where is None:
        return ""
    if rule is None or (rule.where.kind, rule.where.name) != (case.where.kind, case.where.name):
        return f"expected {case.where.kind} {case.where.name}, got {got}" + (f" to {rule.where}" if rule else "")
    return ""
