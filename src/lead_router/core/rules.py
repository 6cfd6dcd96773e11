"""Rules: which target a lead belongs to. First match by precedence wins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias

from lead_router.core import fallback, hours
from lead_router.core.model import Configuration, Hours, Lead, Rule, ToGroup, ToMatched
from lead_router.core.soql import Criteria, compile_where
from lead_router.core.soql.lexer import tokens
from lead_router.core.soql.values import fold
from lead_router.errors import BadCriteria, Misconfigured

FieldTypes: TypeAlias = frozenset[tuple[str, str]]
CURRENCY = "CurrencyIsoCode"


@dataclass(frozen=True, slots=True)
class CompiledRule:
    """A rule with its criteria ready to be asked."""

    rule: Rule
    criteria: Criteria


@dataclass(frozen=True, slots=True)
class Rulebook:
    """A configuration's rules in order of precedence, what "unassigned" means, and what a person should look at.

    `types` are the type names of lead fields by path; `lead_fields` are the paths that are read, in lower case.
    """

    rules: tuple[CompiledRule, ...]
    unassigned: Criteria
    intake_owners: frozenset[str]
    intake_statuses: frozenset[str]
    warnings: tuple[str, ...]
    types: FieldTypes
    lead_fields: frozenset[str]


_latest: list[tuple[Configuration, Rulebook]] = []  # a configuration is replaced whole, and used for many leads
_Parts: TypeAlias = tuple[tuple[Rule, ...], str, frozenset[str], frozenset[tuple[str, str]]]


def rulebook(configuration: Configuration) -> Rulebook:
    """Compile the configuration's rules, once for equal rules.

    Raises BadCriteria naming the rule whose clause cannot be read, and Misconfigured for a precedence used twice, a
    rule that targets a group which does not exist, fallback groups in a loop, and hours that make no sense.
    """
    for known, book in _latest:
        if known is configuration:
            return book
    book = _rulebook(configuration)
    _latest[:] = [(configuration, book)]
    return book


def _rulebook(configuration: Configuration) -> Rulebook:
    fallback.check(configuration.fallbacks, configuration.group_keys)
    _check_hours(tuple(configuration.hours.values()))
    parts: _Parts = (
        configuration.rules,
        configuration.unassigned,
        frozenset(configuration.group_keys),
        frozenset(configuration.field_types.items()),
    )
    rules, unassigned, warnings, types = _compiled(parts)
    statuses = frozenset(fold(status) for status in configuration.intake_statuses)
    scored = configuration.scoring.names if configuration.scoring is not None else ()
    fields = frozenset(path.lower() for path in (*configuration.lead_fields, *scored))
    return Rulebook(rules, unassigned, configuration.intake_owners, statuses, warnings, types, fields)


def first_match(book: Rulebook, lead: Lead, at: datetime) -> Rule | None:
    """The rule of the lowest precedence number whose criteria the lead meets."""
    return next(matching(book, lead, at), None)


def matching(book: Rulebook, lead: Lead, at: datetime) -> Iterator[Rule]:
    """The rules whose criteria the lead meets, lowest precedence number first."""
    return (one.rule for one in book.rules if one.criteria.matches(lead.seen, at))


def status_is_intake(book: Rulebook, lead: Lead, at: datetime) -> bool:
    """Whether the lead's status is one of a lead that waits for an owner, and it meets the definition of unassigned."""
    by_status = lead.status is not None and fold(lead.status) in book.intake_statuses
    return by_status and book.unassigned.matches(lead.fields, at)


def in_intake(book: Rulebook, lead: Lead) -> bool:
    """Whether the lead's owner is an intake queue or intake user."""
    return lead.owner_id in book.intake_owners


def is_unassigned(book: Rulebook, lead: Lead, at: datetime, *, routed_before: bool) -> bool:
    """Whether the lead waits for an owner.

    A status makes a lead unassigned only until its first routing: statuses stay when owners change, so it would go
    round for ever.
    """
    if in_intake(book, lead):
        return book.unassigned.matches(lead.fields, at)
    return not routed_before and status_is_intake(book, lead, at)


@lru_cache(maxsize=16)
def _check_hours(every: tuple[Hours, ...]) -> None:
    for one in every:
        hours.check(one)


@lru_cache(maxsize=16)
def _compiled(parts: _Parts) -> tuple[tuple[CompiledRule, ...], Criteria, tuple[str, ...], FieldTypes]:
    rules, unassigned, groups, pairs = parts
    types = dict(pairs) or None
    ordered = sorted(rules, key=lambda rule: rule.precedence)
    _refuse_equal_precedence(ordered)
    _refuse_absent_groups(ordered, groups)
    compiled = tuple(CompiledRule(rule, _criteria(f"rule '{rule.name}'", rule.criteria, types)) for rule in ordered)
    warnings = (*_warnings(compiled), *_bare_amounts(compiled, types or {}))
    return compiled, _criteria("the definition of unassigned", unassigned, types), warnings, pairs


def _criteria(name: str, clause: str, types: Mapping[str, str] | None) -> Criteria:
    try:
        return compile_where(clause, types)
    except BadCriteria as fault:
        raise BadCriteria(f"criteria of {name}, character {fault.at + 1}: {fault}", at=fault.at) from None


def _refuse_equal_precedence(ordered: Sequence[Rule]) -> None:
    for first, second in pairwise(ordered):
        if first.precedence == second.precedence:
            raise Misconfigured(
                f"rules '{first.name}' and '{second.name}' both have precedence {first.precedence}: give one another"
            )


def _refuse_absent_groups(ordered: Sequence[Rule], groups: frozenset[str]) -> None:
    for rule in ordered:
        if isinstance(rule.target, ToGroup) and rule.target.group_id not in groups:
            raise Misconfigured(f"rule '{rule.name}' targets a group that does not exist: choose one, or deactivate it")


def _warnings(compiled: Sequence[CompiledRule]) -> tuple[str, ...]:
    found: list[str] = []
    above: dict[object, str] = {}
    catch_all: str | None = None
    for one in compiled:
        shape, name = _shape(one.criteria.text), one.rule.name
        if catch_all is not None:
            found.append(f"rule '{name}' never matches: rule '{catch_all}' above it takes every lead")
        elif shape in above:
            found.append(f"rule '{name}' never matches: rule '{above[shape]}' above it has the same criteria")
        if isinstance(one.rule.target, ToMatched):
            continue  # it lets leads fall through to the rules below it
        above.setdefault(shape, name)
        if one.criteria.expr is None and catch_all is None:
            catch_all = name
    if catch_all is None:
        found.append("no rule takes every lead: leads that match none are held; add one with empty criteria, last")
    return tuple(found)


def _bare_amounts(compiled: Sequence[CompiledRule], types: Mapping[str, str]) -> Iterator[str]:
    for one in compiled:
        told = bare_amounts(one.criteria, types)
        if told is not None:
            yield f"rule '{one.rule.name}' {told[0]}: {told[1]}"


def bare_amounts(criteria: Criteria, types: Mapping[str, str]) -> tuple[str, str] | None:
    """Fault and remedy of criteria that take 5,000,000 yen for 5,000,000 dollars, in orgs of several currencies alone.

    A number without a currency is compared with the amount as it stands (SOQL guide, "Querying Currency Fields in
    Multi-Currency Orgs"); only in such orgs has a lead the field CurrencyIsoCode.
    """
    amounts = sorted(path for path in criteria.fields if types.get(path) == "currency")
    if CURRENCY not in types or not amounts or CURRENCY in criteria.fields:
        return None
    told = f"compares {', '.join(amounts)} as it stands, whatever the lead's currency"
    return told, f"name one, such as {CURRENCY} = 'USD' AND {amounts[0]} > 1000000"


def _shape(clause: str) -> object:
    """What a clause says, whatever its spaces and the letter case of its words."""
    return tuple((token.kind, token.text if token.kind == "text" else token.text.upper()) for token in tokens(clause))
