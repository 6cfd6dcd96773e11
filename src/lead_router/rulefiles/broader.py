"""Which rules no lead can reach: those whose leads are all taken by rules above them.

A clause is brought into the form "any of: all of literals"; a rule is unreachable where each of its parts implies a
part of some rule above. What is reported is certain; what is not reported may still be unreachable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import TypeAlias

from lead_router.core.soql import And, Compare, Expr, In, Includes, Not, Or, compile_where
from lead_router.core.soql.fields import Fields
from lead_router.rulefiles.literals import Literal, implies, literal

PARTS_MAX = 256

Part: TypeAlias = tuple[Literal, ...]


@dataclass(frozen=True, slots=True)
class Reach:
    """A rule's leads as parts; None where there are more than PARTS_MAX, no parts where no lead can meet it."""

    name: str
    parts: tuple[Part, ...] | None


def reach(name: str, criteria: str, types: Mapping[str, str] | None) -> Reach:
    """The leads of a clause; raises BadCriteria where it cannot be read."""
    expr = compile_where(criteria, types).expr
    if expr is None:
        return Reach(name, ((),))
    parts = _parts(expr, Fields(types, frozenset()), positive=True)
    return Reach(name, None if parts is None else tuple(part for part in parts if not _contradicts_itself(part)))


def takers(rule: Reach, above: Sequence[Reach]) -> tuple[str, ...] | None:
    """The names of the rules above that together take every lead of the rule; None where some lead may reach it."""
    if rule.parts is None:
        return next(((one.name,) for one in above if one.parts == ((),)), None)
    found: dict[str, None] = {}
    for part in rule.parts:
        taker = next((one.name for one in above if _takes(one, part)), None)
        if taker is None:
            return None
        found[taker] = None
    return tuple(found)


def _takes(rule: Reach, part: Part) -> bool:
    return rule.parts is not None and any(_broader(wide, part) for wide in rule.parts)


def _broader(wide: Part, narrow: Part) -> bool:
    return all(any(implies(one, other) for one in narrow) for other in wide)


def _contradicts_itself(part: Part) -> bool:
    return any(implies(one, other.opposite()) for one, other in combinations(part, 2))


def _parts(expr: Expr, fields: Fields, *, positive: bool) -> list[Part] | None:
    match expr:
        case Not(part=part):
            return _parts(part, fields, positive=not positive)
        case And(parts=parts):
            return _joined([_parts(part, fields, positive=positive) for part in parts], every=positive)
        case Or(parts=parts):
            return _joined([_parts(part, fields, positive=positive) for part in parts], every=not positive)
        case In(values=values, negated=negated):
            singles = [literal(Compare(expr.field, "=", one, expr.at), fields) for one in values]
            return _several(singles, positive=positive is not negated)
        case Includes(values=values, negated=negated):
            singles = [literal(replace(expr, values=(one,), negated=False), fields) for one in values]
            return _several(singles, positive=positive is not negated)
        case Compare():
            return [(literal(expr, fields, positive=positive),)]


def _several(singles: Sequence[Literal], *, positive: bool) -> list[Part] | None:
    """Any of the values; or none of them."""
    if not positive:
        return [tuple(one.opposite() for one in singles)]
    return [(one,) for one in singles] if len(singles) <= PARTS_MAX else None


def _joined(several: Sequence[list[Part] | None], *, every: bool) -> list[Part] | None:
    known: list[list[Part]] = []
    for parts in several:
        if parts is None:
            return None
        known.append(parts)
    if not every:
        flat = [part for parts in known for part in parts]
        return flat if len(flat) <= PARTS_MAX else None
    size = 1
    for parts in known:
        size *= len(parts)
    if size > PARTS_MAX:
        return None
    return [tuple(one for part in chosen for one in part) for chosen in product(*known)]
