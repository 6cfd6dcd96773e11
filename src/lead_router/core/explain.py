"""Explanations: why this owner, in sentences for the ledger. They name rules, groups and members, never the lead."""

from __future__ import annotations

from lead_router.core.duty import off_duty
from lead_router.core.model import Group, Rule, Turn

PASSED_OVER_MAX = 20


def by_turn(rule: Rule, turn: Turn, note: str) -> str:
    """Rule, group, turn, and who was passed over and why."""
    group = turn.group
    said = f"{_chose(rule, group)}; turn {turn.number} went to {turn.member.name}."
    passed = _passed_over(turn.before)
    return _joined(note, said, f"Passed over: {passed}." if passed else "")


def by_fallback(rule: Rule, group: Group, note: str) -> str:
    """Nobody was on duty, so the group's fallback queue has the lead."""
    return _joined(note, f"{_chose(rule, group)}; {nobody(group)}. Fallback queue {group.fallback_queue} has the lead.")


def by_owner(rule: Rule, name: str, note: str) -> str:
    """The rule names the owner itself."""
    return _joined(note, f"Rule '{rule.name}' names {name}.")


def by_trail(first_lead_id: str) -> str:
    """A second lead of a submission went where the first went."""
    return f"A second lead of one submission: it follows lead {first_lead_id} to its owner."


def nobody(group: Group) -> str:
    """Why a group gives nothing out, without a full stop."""
    passed = _passed_over(group)
    return f"nobody is on duty: {passed}" if passed else "it has no members"


def _chose(rule: Rule, group: Group) -> str:
    return f"Rule '{rule.name}' chose group '{group.key}'"


def _passed_over(group: Group) -> str:
    off = [f"{one.name} ({reason})" for one in group.members if (reason := off_duty(one)) is not None]
    more = len(off) - PASSED_OVER_MAX
    return ", ".join(off[:PASSED_OVER_MAX]) + (f" and {more} more" if more > 0 else "")


def _joined(*sentences: str) -> str:
    return " ".join(sentence for sentence in sentences if sentence)
