"""Reading the ledger: rows by lead and by submission key, in as few queries as their URLs allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lead_router.core.model import LedgerRow
from lead_router.salesforce import queries, records
from lead_router.salesforce.names import LedgerFields
from lead_router.salesforce.records import Row
from lead_router.salesforce.rest import Subrequest
from lead_router.salesforce.writes import WRITES_MAX


def ledger_parts(ids: Sequence[str], keys: Sequence[str]) -> list[Subrequest]:
    """The queries for ledger rows, by lead and by submission key."""
    by_lead = (queries.ledger(LedgerFields.LEAD, few) for few in queries.chunks(ids, WRITES_MAX))
    by_key = (queries.submissions(few) for few in queries.chunks(keys, queries.KEYS_MAX))
    return [
        queries.part(f"{name}{number}", soql)
        for name, several in (("ledger", by_lead), ("submissions", by_key))
        for number, soql in enumerate(several)
    ]


def rows_of(ledger: Sequence[Subrequest], rows: Mapping[str, Sequence[Row]]) -> tuple[LedgerRow, ...]:
    """The ledger rows found, each once."""
    found = (records.ledger_row(row) for part in ledger for row in rows[part.reference])
    return tuple({row.id: row for row in found}.values())
