"""Records that match a lead, by e-mail address or by its domain: which queries find them, and whose they are. Pure.

A domain is what stands behind the @. An account matches by the domain of its website or by its contacts. The record
that was changed last comes first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from lead_router.core.addresses import address
from lead_router.core.domains import PUBLIC_DOMAINS
from lead_router.core.model import Configuration, Lead, Match, MatchBy, MatchOn, Switch, ToMatched
from lead_router.salesforce import queries
from lead_router.salesforce.names import Objects, Standard
from lead_router.salesforce.queries import among, like, select
from lead_router.salesforce.records import Row, moment, shaped

ROWS_MAX = 2000  # rows of one query; one that brings so many is asked again for fewer values

Kind: TypeAlias = tuple[MatchOn, MatchBy]

_HOST = re.compile(r"(?:[a-z]+://)?(?:[^@/]*@)?(?P<host>[^/:?#\s]+)")
_CHANGED = (Standard.MODIFIED_AT, Standard.CREATED_AT)
_OWNER = (Standard.OWNER, f"Owner.{Standard.NAME}", f"Owner.{Standard.IS_ACTIVE}")


@dataclass(frozen=True, slots=True)
class Asked:
    """One query for records that match one of `values`: addresses, or domains."""

    sobject: str
    by: MatchBy
    values: tuple[str, ...]

    def soql(self) -> str:
        """The query's text."""
        clause = _CLAUSES[self.sobject, self.by](self.values)
        tail = f"WHERE {clause} ORDER BY {Standard.MODIFIED_AT} DESC, {Standard.ID} LIMIT {ROWS_MAX}"
        return select((Standard.ID, *_FIELDS[self.sobject], *_CHANGED), self.sobject, tail)

    def halves(self) -> tuple[Asked, Asked]:
        """The same for fewer values each."""
        half = len(self.values) // 2
        first, second = self.values[:half], self.values[half:]
        return Asked(self.sobject, self.by, first), Asked(self.sobject, self.by, second)


@dataclass(frozen=True, slots=True)
class _Seen:
    """A match, and when its record (or that by which it was found) was last changed and was made."""

    changed: datetime
    born: datetime
    match: Match


def kinds(configuration: Configuration) -> frozenset[Kind]:
    """What the rules ask to be matched; nothing where matched owners are off."""
    if configuration.rollout.matched_owner is Switch.OFF:
        return frozenset()
    targets = [rule.target for rule in configuration.rules if isinstance(rule.target, ToMatched)]
    return frozenset((on, target.by) for target in targets for on in target.on)


def objects(asked: Collection[Kind]) -> frozenset[str]:
    """The objects that are read for these kinds of matches."""
    return frozenset(sobject for kind in asked for sobject in _OBJECTS[kind])


def asked_for(wanted: Collection[Kind], leads: Iterable[Lead]) -> Iterator[Asked]:
    """The queries for these leads, each short enough for a composite request."""
    found = [one for lead in leads if (one := address(lead)) is not None]
    values: Mapping[MatchBy, Sequence[str]] = {
        MatchBy.EMAIL: sorted({email for email, _ in found}),
        MatchBy.DOMAIN: sorted({domain for _, domain in found} - PUBLIC_DOMAINS),
    }
    for sobject, by in sorted({(sobject, kind[1]) for kind in wanted for sobject in _OBJECTS[kind]}):
        if values[by]:
            yield from fitted(Asked(sobject, by, tuple(values[by])))


def fitted(one: Asked) -> Iterator[Asked]:
    """The query, in parts that fit into a URL."""
    if len(one.values) == 1 or queries.fits(one.soql()):
        yield one
        return
    for half in one.halves():
        yield from fitted(half)


@shaped
def matches(
    wanted: Collection[Kind], leads: Iterable[Lead], rows: Iterable[tuple[Asked, Row]]
) -> dict[str, tuple[Match, ...]]:
    """By lead id, the records that match it, the last changed first, each once by a kind of match."""
    places: dict[tuple[Kind, str], dict[str, _Seen]] = {}
    for asked, row in rows:
        for on, record in _subjects(asked.sobject, row):
            kind = (on, asked.by)
            if kind not in wanted or not record.get("Owner"):
                continue
            seen = _Seen(moment(row[Standard.MODIFIED_AT]), moment(row[Standard.CREATED_AT]), _match(kind, record))
            for value in _values(asked, row):
                records = places.setdefault((kind, value), {})
                before = records.get(seen.match.record_id, seen)
                records[seen.match.record_id] = max(before, seen, key=lambda one: one.changed)
    found: dict[str, tuple[Match, ...]] = {}
    for lead in leads:
        own = tuple(match for kind in sorted(wanted) for match in _of_lead(kind, lead, places))
        if own:
            found[lead.id] = own
    return found


def _of_lead(kind: Kind, lead: Lead, places: Mapping[tuple[Kind, str], Mapping[str, _Seen]]) -> list[Match]:
    parts = address(lead)
    if parts is None:
        return []
    found = list(places.get((kind, parts[0 if kind[1] is MatchBy.EMAIL else 1]), {}).values())
    if kind[0] is MatchOn.LEAD:  # an earlier lead, and so never itself
        found = [one for one in found if (one.born, one.match.record_id) < (lead.created_at, lead.id)]
    ordered = sorted(found, key=lambda one: one.match.record_id)
    return [one.match for one in sorted(ordered, key=lambda one: one.changed, reverse=True)]


def _subjects(sobject: str, row: Row) -> Iterator[tuple[MatchOn, Mapping[str, Any]]]:
    """The records that a row tells of: itself, and a contact's account."""
    if sobject == Objects.LEAD:
        yield MatchOn.LEAD, row
    elif sobject == Objects.ACCOUNT:
        yield MatchOn.ACCOUNT, row
    else:
        yield MatchOn.CONTACT, row
        if row.get(Objects.ACCOUNT):
            yield MatchOn.ACCOUNT, {**row[Objects.ACCOUNT], Standard.ID: row[Standard.ACCOUNT]}


def _match(kind: Kind, record: Mapping[str, Any]) -> Match:
    owner = record["Owner"]
    return Match(
        on=kind[0],
        by=kind[1],
        record_id=record[Standard.ID],
        owner_id=record[Standard.OWNER],
        name=owner.get(Standard.NAME) or record[Standard.OWNER],
        user_active=bool(owner.get(Standard.IS_ACTIVE)),
    )


def _values(asked: Asked, row: Row) -> list[str]:
    """Those of the values asked for that the row has."""
    if asked.sobject == Objects.ACCOUNT:
        host = _HOST.match(str(row[Standard.WEBSITE] or "").strip().lower())
        name = host["host"].rstrip(".") if host else ""
        return [value for value in asked.values if name == value or name.endswith(f".{value}")]
    email = str(row[Standard.EMAIL] or "").strip().lower()
    own = email if asked.by is MatchBy.EMAIL else email.rpartition("@")[2]
    return [own] if own in asked.values else []


def _like(field: str, pattern: str, values: Iterable[str]) -> str:
    return " OR ".join(f"{field} LIKE {like(pattern, value)}" for value in values)


_CLAUSES: Mapping[tuple[str, MatchBy], Callable[[Iterable[str]], str]] = {
    (Objects.CONTACT, MatchBy.EMAIL): lambda values: among(Standard.EMAIL, values),
    (Objects.CONTACT, MatchBy.DOMAIN): lambda values: _like(Standard.EMAIL, "%@{}", values),
    (Objects.LEAD, MatchBy.EMAIL): lambda values: among(Standard.EMAIL, values),
    (Objects.LEAD, MatchBy.DOMAIN): lambda values: _like(Standard.EMAIL, "%@{}", values),
    (Objects.ACCOUNT, MatchBy.DOMAIN): lambda values: _like(Standard.WEBSITE, "%{}%", values),
}
_OBJECTS: Mapping[Kind, tuple[str, ...]] = {
    (MatchOn.ACCOUNT, MatchBy.EMAIL): (Objects.CONTACT,),
    (MatchOn.ACCOUNT, MatchBy.DOMAIN): (Objects.ACCOUNT, Objects.CONTACT),
    (MatchOn.CONTACT, MatchBy.EMAIL): (Objects.CONTACT,),
    (MatchOn.CONTACT, MatchBy.DOMAIN): (Objects.CONTACT,),
    (MatchOn.LEAD, MatchBy.EMAIL): (Objects.LEAD,),
    (MatchOn.LEAD, MatchBy.DOMAIN): (Objects.LEAD,),
}
_FIELDS: Mapping[str, tuple[str, ...]] = {
    Objects.LEAD: (Standard.EMAIL, *_OWNER),
    Objects.ACCOUNT: (Standard.WEBSITE, *_OWNER),
    Objects.CONTACT: (
        Standard.EMAIL,
        *_OWNER,
        Standard.ACCOUNT,
        *(f"{Objects.ACCOUNT}.{field}" for field in _OWNER),
    ),
}
