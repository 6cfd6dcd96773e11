"""Wording: why this owner, in sentences for the ledger. They name rules, groups and members, never the lead."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lead_router.core.eligible import Former, Standing, in_turn
from lead_router.core.model import (
    Assign,
    Count,
    Decision,
    Follow,
    Group,
    Hold,
    Match,
    MatchBy,
    Member,
    Observed,
    Rule,
    Skip,
    Turn,
)

PASSED_OVER_MAX = 20


def by_turn(rule: Rule, turn: Turn, found: Sequence[Standing]) -> str:
    """Rule, group, turn, and who was passed over and why."""
    passed = passed_over(turn.before, found)
    said = f"{chose(rule, turn.group)}; turn {turn.number} went to {turn.member.name}."
    return joined(said, f"Passed over: {passed}." if passed else "")


def by_fallback_turn(rule: Rule, group: Group, nobody: Sequence[str], turn: Turn, found: Sequence[Standing]) -> str:
    """Nobody of the chosen group could take it, so a fallback group gave a turn."""
    passed = passed_over(turn.before, found)
    went = f"Fallback group '{turn.group.key}': turn {turn.number} went to {turn.member.name}."
    return joined(f"{chose(rule, group)}; {'; '.join(nobody)}.", went, f"Passed over: {passed}." if passed else "")


def by_fallback(rule: Rule, group: Group, nobody: Sequence[str], who: str) -> str:
    """Nobody could take it, so `who`, a queue or a person, has the lead."""
    return f"{chose(rule, group)}; {'; '.join(nobody)}. {who} has the lead."


def by_owner(rule: Rule, name: str, away: str | None = None) -> str:
    """The rule names the owner itself, who has it all the same where a reason keeps them `away`."""
    told = f"{name}: {away}; a rule that names a person does not ask who is on duty." if away else ""
    return joined(f"Rule '{rule.name}' names {name}.", told)


def again(member: Member, former: Former) -> str:
    """Why a member has a lead that they had before; blank for all others."""
    if member.user_id not in former.owners:
        return ""
    if member.user_id == former.last:
        return f"{member.name} had this lead before; nobody else of the group may have it."
    return f"{member.name} had this lead before, as had all of the group who may have it, and was not the last."


def by_match(rule: Rule, match: Match, passed: str = "") -> str:
    """The rule gives the lead to whoever has a record that matches it; whose records came before is in `passed`."""
    return joined(f"Rule '{rule.name}' gives it to {owner_of(match)}.", f"Passed over: {passed}." if passed else "")


def owner_of(match: Match) -> str:
    """Whom, and by which record, without a full stop."""
    return f"{match.name}, the owner of {match.on} {match.record_id} of the same {matched_by(match.by)}"


def matched_by(by: MatchBy) -> str:
    """What of the lead a record has in common with it."""
    match by:
        case MatchBy.EMAIL:
            return "e-mail address"
        case MatchBy.DOMAIN:
            return "e-mail domain"


def of_record(match: Match, why: str) -> str:
    """Whose record, of which kind, and why its owner has not got the lead."""
    return f"{match.on} of {match.name}: {why}"


def listed(reasons: Iterable[str]) -> str:
    """These reasons, each once, up to as many as a sentence bears; without a full stop."""
    told = list(dict.fromkeys(reasons))
    more = len(told) - PASSED_OVER_MAX
    return "; ".join(told[:PASSED_OVER_MAX]) + (f"; and {more} more" if more > 0 else "")


def by_hand(rule: Rule, turn: Turn) -> str:
    """A member took it by hand, which used up a turn."""
    counted = f"counted as turn {turn.number} of group '{turn.group.key}'"
    return f"Taken by hand by {turn.member.name}; {counted}, which rule '{rule.name}' would have chosen."


def by_trail(first_lead_id: str) -> str:
    """A second lead of a submission went where the first went."""
    return f"A second lead of one submission: it follows lead {first_lead_id} to its owner."


def would(decision: Decision) -> str:
    """What would be done if more were live."""
    match decision:
        case Assign(explanation=said) | Follow(explanation=said):
            return f"Live, it is given out: {said}"
        case Count(explanation=said):
            return f"Live, it counts: {said}"
        case Hold(reason=reason) | Skip(reason=reason):
            return f"Live, nobody gets it yet: {reason}"
        case Observed(would=one):
            return f"Its group only observes. {would(one)}"


def nobody_of(group: Group, found: Sequence[Standing], *, named: bool = False) -> str:
    """Why a group gives nothing out, without a full stop; with the group's key where it is not told otherwise."""
    passed = passed_over(group, found)
    why = f"nobody can take it: {passed}" if passed else "it has no members"
    return f"group '{group.key}': {why}" if named else why


def passed_over(group: Group, found: Sequence[Standing]) -> str:
    """The members that could not take the lead, with their reasons, in the order in which their turns would come."""
    passed = [one for one in found if reason_of(one) is not None]
    if not passed:
        return ""
    told = [f"{one.member.name}: {reason_of(one)}" for one in in_turn(group, passed)[:PASSED_OVER_MAX]]
    more = len(passed) - PASSED_OVER_MAX
    return "; ".join(told) + (f"; and {more} more" if more > 0 else "")


def reason_of(one: Standing) -> str | None:
    """Why the member cannot take the lead now, or None if they can."""
    return one.refusal if one.off is None else one.off.text


def chose(rule: Rule, group: Group) -> str:
    """The start of a sentence: which rule chose which group."""
    return f"Rule '{rule.name}' chose group '{group.key}'"


def joined(*sentences: str) -> str:
    """The sentences that are there, with spaces between."""
    return " ".join(sentence for sentence in sentences if sentence)
