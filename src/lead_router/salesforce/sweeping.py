"""Sweeping: which leads wait, read a page at a time, oldest first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import TypeAlias
from urllib.parse import quote

from lead_router.core.model import Configuration, Lead, Status
from lead_router.salesforce import queries, records
from lead_router.salesforce.names import LeadFields, Objects, Standard
from lead_router.salesforce.rest import Rest

NAMED_MAX = 6_000  # characters of a URL; columns, criteria and headers share its 16,384

PageOf: TypeAlias = Callable[[Configuration, int, tuple[datetime, str] | None], str]


def unassigned(configuration: Configuration, page: int, after: tuple[datetime, str] | None) -> str:
    """One page of unassigned leads, oldest first, behind the lead created at `after[0]` with the id `after[1]`."""
    return _page(configuration, _unassigned(configuration), page, after)


def tally(configuration: Configuration) -> str:
    """How many leads are unassigned, in one row."""
    where = f"WHERE {' AND '.join(_unassigned(configuration))}"
    return queries.select((f"COUNT({Standard.ID}) {queries.COUNTED}",), Objects.LEAD, where)


def _unassigned(configuration: Configuration) -> list[str]:
    owned = [queries.among(Standard.OWNER, sorted(configuration.intake_owners))] if configuration.intake_owners else []
    asking = [_by_status(sorted(configuration.intake_statuses))] if configuration.intake_statuses else []
    parts = [f"{Standard.IS_CONVERTED} = false", f"({' OR '.join(owned + asking)})"]
    if configuration.unassigned.strip():
        parts.append(f"({configuration.unassigned})")
    return parts


def queued(configuration: Configuration, page: int, after: tuple[datetime, str] | None) -> str:
    """One page of leads that show Queued, whoever owns them; apart, as OR would keep either half from its index."""
    parts = [f"{Standard.IS_CONVERTED} = false", f"{LeadFields.STATUS} = {queries.text(Status.QUEUED)}"]
    return _page(configuration, parts, page, after)


def untouched(keys: Sequence[str], since: datetime) -> PageOf:
    """Pages of leads that these groups gave out since then, as they show it, and whose owners have not changed them.

    Of more groups than a URL has room for, those of all groups.
    """
    named = queries.among(LeadFields.GROUP, keys)
    given = named if len(quote(named)) <= NAMED_MAX else f"{LeadFields.GROUP} != NULL"

    def query(configuration: Configuration, page: int, after: tuple[datetime, str] | None) -> str:
        parts = [
            f"{Standard.IS_CONVERTED} = false",
            f"{LeadFields.STATUS} = {queries.text(Status.ASSIGNED)}",
            given,
            f"{LeadFields.ROUTED_AT} >= {queries.instant(since)}",
        ]
        clause = configuration.first_touch.untouched.strip()
        return _page(configuration, [*parts, f"({clause})"] if clause else parts, page, after)

    return query


def _page(configuration: Configuration, parts: list[str], page: int, after: tuple[datetime, str] | None) -> str:
    if after is not None:
        at, lead_id = queries.instant(after[0]), queries.text(after[1])
        created = Standard.CREATED_AT
        parts.append(f"({created} > {at} OR ({created} = {at} AND {Standard.ID} > {lead_id}))")
    columns = (Standard.ID, *sorted(configuration.lead_fields - {Standard.ID}))
    tail = f"WHERE {' AND '.join(parts)} ORDER BY {Standard.CREATED_AT}, {Standard.ID} LIMIT {page}"
    return queries.select(columns, Objects.LEAD, tail)


def _by_status(statuses: Sequence[str]) -> str:
    """A status asks once: it stays when the owner changes."""
    new = f"({LeadFields.ROUND} = null OR {LeadFields.ROUND} = 0)"
    return f"({queries.among(Standard.STATUS, statuses)} AND {new})"


def pages(rest: Rest, query: PageOf, configuration: Configuration, page: int) -> Iterator[Sequence[Lead]]:
    """All that the query finds, a page per call, each behind the last lead of the one before."""
    after: tuple[datetime, str] | None = None
    while True:
        rows = rest.query(query(configuration, page, after))
        leads = [records.lead(row) for row in rows]
        if leads:
            yield leads
        if len(leads) < page:
            return
        after = (leads[-1].created_at, leads[-1].id)
