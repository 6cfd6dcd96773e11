"""What differs between two states of the rules. A rule is the same by its name, else by its precedence (a new name)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TypeAlias

from lead_router.rulefiles.nouns import FileRule, PulledRule


@dataclass(frozen=True, slots=True)
class Added:
    """A rule that only the newer state has."""

    rule: FileRule

    def __str__(self) -> str:
        return f"+ {told(self.rule)}"


@dataclass(frozen=True, slots=True)
class Removed:
    """A rule that only the older state has."""

    id: str
    rule: FileRule

    def __str__(self) -> str:
        return f"- {told(self.rule)}"


@dataclass(frozen=True, slots=True)
class Altered:
    """A rule that both states have, with other values."""

    id: str
    before: FileRule
    after: FileRule

    def __str__(self) -> str:
        lines = [f"~ rule '{self.before.name}'"]
        for one in fields(FileRule):
            if one.compare and getattr(self.before, one.name) != getattr(self.after, one.name):
                lines += [
                    f"    - {_NAMES.get(one.name, one.name)}: {_value(getattr(self.before, one.name))}",
                    f"    + {_NAMES.get(one.name, one.name)}: {_value(getattr(self.after, one.name))}",
                ]
        return "\n".join(lines)


Difference: TypeAlias = Added | Removed | Altered

_NAMES = {"where": "target"}


def differences(before: Sequence[PulledRule], after: Sequence[FileRule]) -> tuple[Difference, ...]:
    """What must happen to the rules `before` to become those of `after`, in order of precedence."""
    by_name = {one.rule.name: one for one in before}
    pairs = {rule.name: by_name[rule.name] for rule in after if rule.name in by_name}
    left = {one.rule.precedence: one for one in before if one.rule.name not in pairs}
    for rule in after:
        if rule.name not in pairs and rule.precedence in left:
            pairs[rule.name] = left.pop(rule.precedence)
    found: list[Difference] = [Removed(one.id, one.rule) for one in left.values()]
    for rule in after:
        old = pairs.get(rule.name)
        if old is None:
            found.append(Added(rule))
        elif old.rule != rule:
            found.append(Altered(old.id, old.rule, rule))
    return tuple(sorted(found, key=_precedence))


def drift(pulled: Sequence[PulledRule], now: Sequence[PulledRule]) -> tuple[Difference, ...]:
    """What became of the pulled rules since, by their ids."""
    old, new = ({one.id: one for one in state} for state in (pulled, now))
    found: list[Difference] = [Removed(one.id, one.rule) for one in pulled if one.id not in new]
    found += [Added(one.rule) for one in now if one.id not in old]
    found += [
        Altered(one.id, old[one.id].rule, one.rule) for one in now if one.id in old and old[one.id].rule != one.rule
    ]
    return tuple(sorted(found, key=_precedence))


def told(rule: FileRule) -> str:
    """A rule in one line."""
    asleep = "" if rule.active else ", not active"
    return f"rule '{rule.name}' ({rule.precedence}{asleep}): {rule.criteria or 'every lead'} -> {rule.where}"


def _precedence(difference: Difference) -> int:
    return difference.after.precedence if isinstance(difference, Altered) else difference.rule.precedence


def _value(value: object) -> str:
    return "every lead" if value == "" else str(value).lower() if isinstance(value, bool) else str(value)
