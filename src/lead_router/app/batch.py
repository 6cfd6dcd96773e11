"""Many leads read as the loops read them, page by page, as one snapshot: for looking at, never for writing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from typing import Any

from lead_router.core.ids import is_user, to18
from lead_router.core.keys import submission_of
from lead_router.core.model import Configuration, Lead, Snapshot
from lead_router.core.soql import compile_where
from lead_router.errors import BadCriteria, ContractMismatch, Misconfigured, Rejected
from lead_router.rulefiles import Sheet
from lead_router.salesforce import queries, records
from lead_router.salesforce.gateway import SalesforceOrg
from lead_router.salesforce.names import LeadFields, Objects, Standard
from lead_router.salesforce.rest import Rest

_UNGIVEN = "00QPLAN"  # begins ids that stand for leads without one; Salesforce gives none like it
PAGE = 400  # leads whose ledger rows are asked for in one call: by lead and by submission keys, in four queries
READERS = 5  # calls under way at once: answers take a third of a second each, however little is asked for

_SELECT = re.compile(r"\s*SELECT\b.*?\bFROM\s+Lead\b(.*)", re.IGNORECASE | re.DOTALL)
_OLDEST_FIRST = f"ORDER BY {Standard.CREATED_AT}, {Standard.ID}"


def queried(rest: Rest, configuration: Configuration, soql: str) -> list[Lead]:
    """Leads of a query: a WHERE clause alone, oldest first, or a whole SELECT … FROM Lead, whose columns do not matter.

    Raises BadCriteria for a clause that cannot be read, Misconfigured for what Salesforce refuses.
    """
    whole = _SELECT.fullmatch(soql)
    if whole is not None:
        tail = whole[1].strip()
    else:
        try:
            clause = compile_where(soql, configuration.field_types or None)
        except BadCriteria as fault:
            raise BadCriteria(f"--soql, character {fault.at + 1}: {fault}", at=fault.at) from None
        tail = f"WHERE ({soql}) {_OLDEST_FIRST}" if clause.expr is not None else _OLDEST_FIRST
    columns = (Standard.ID, *sorted(configuration.lead_fields - {Standard.ID}))
    try:
        rows = rest.query(queries.select(columns, Objects.LEAD, tail))
    except (ContractMismatch, Rejected) as fault:
        raise Misconfigured(f"--soql: {fault}") from None
    return [records.lead(row) for row in rows]


def listed(sheet: Sheet, configuration: Configuration, at: datetime) -> list[Lead]:
    """The leads of a file as they would be, had they just come in: what the file does not say is blank.

    Without an OwnerId a lead has an intake owner, without a CreatedDate it was created `at`; without an Id it gets one
    that no org gives.
    """
    owner = min(configuration.intake_owners, key=lambda one: (is_user(one), one), default="")
    paths = dict.fromkeys(sorted(configuration.lead_fields))
    return [_lead(number, fields, paths, owner, at) for number, fields in enumerate(sheet.leads, start=1)]


def _lead(number: int, fields: Mapping[str, Any], paths: Iterable[str], owner: str, at: datetime) -> Lead:
    row: dict[str, Any] = {}
    for path in paths:
        name, _, nested = path.partition(".")
        row.setdefault(name, {} if nested else None)
    row |= fields
    row[Standard.ID] = row.get(Standard.ID) or to18(f"{_UNGIVEN}{number:08d}")
    row[Standard.OWNER] = row.get(Standard.OWNER) or owner
    if not row[Standard.OWNER]:
        raise Misconfigured(f"no queue or user counts as unassigned, so the file needs a column {Standard.OWNER}")
    row["Owner"] = {"Type": "User" if is_user(row[Standard.OWNER]) else "Queue", **(row.get("Owner") or {})}
    row[Standard.CREATED_AT] = row.get(Standard.CREATED_AT) or at.isoformat(timespec="milliseconds")
    row[Standard.IS_CONVERTED] = bool(row.get(Standard.IS_CONVERTED))
    for name in (LeadFields.ROUND, LeadFields.STAMP, LeadFields.STATUS, Standard.STATUS):
        row.setdefault(name, None)
    return records.lead(row)


def snapshot_of(
    org: SalesforceOrg, configuration: Configuration, leads: Sequence[Lead], *, at: datetime | None
) -> Snapshot:
    """One snapshot of all these leads, as they were handed in, with their ledger rows: one call for PAGE of them.

    Groups are read first; `at` replaces the instant at which all of it counts as read.
    """

    def read(start: int) -> Snapshot:
        page = leads[start : start + PAGE]
        given = [lead for lead in page if is_given(lead.id)]
        return org.beside(configuration, given, sorted(_keys(page, configuration)))

    groups = org.snapshot(configuration, (), ())
    with ThreadPoolExecutor(READERS) as readers:
        pages = list(readers.map(read, range(0, len(leads), PAGE)))
    return replace(
        groups,
        taken_at=at or groups.taken_at,
        leads={lead.id: lead for lead in leads},
        ledger=tuple({row.id: row for page in pages for row in page.ledger}.values()),
        submission_keys_read=frozenset().union(*(page.submission_keys_read for page in pages)),
        matches={lead_id: found for page in pages for lead_id, found in page.matches.items()},
        unasked=frozenset(lead.id for lead in leads if not is_given(lead.id)),
    )


def is_given(lead_id: str) -> bool:
    """Whether an org gave this id, not `listed`."""
    return not lead_id.startswith(_UNGIVEN)


def _keys(leads: Iterable[Lead], configuration: Configuration) -> set[str]:
    found = (submission_of(lead.fields, configuration) for lead in leads)
    return {key for one in found if one is not None for key in (one.even, one.odd)}
