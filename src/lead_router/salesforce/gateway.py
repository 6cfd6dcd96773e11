"""An org over REST: the one implementation of the port `Org` that production uses."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import groupby

from lead_router.core.keys import lead_key
from lead_router.core.model import Batch, Configuration, Lead, Snapshot
from lead_router.errors import BadCriteria, ContractMismatch
from lead_router.ports import Mark, Receipt
from lead_router.salesforce import queries, records
from lead_router.salesforce.codes import surprise, told, troubles
from lead_router.salesforce.commit import receipt
from lead_router.salesforce.configuration import Found, Intake, configured, field_types
from lead_router.salesforce.names import LeadFields, LedgerFields, Lengths, Objects
from lead_router.salesforce.records import Row
from lead_router.salesforce.rest import Rest, Subanswer, Subrequest
from lead_router.salesforce.writes import COLLECTION, LEAD_HEADERS, WRITES_MAX, collection, compose, cut

QUERIES_MAX = 5  # queries and collections in one composite request


class SalesforceOrg:
    """The org behind `rest`. All threads may share one; `now` gives aware UTC times."""

    def __init__(self, rest: Rest, intake: Intake, *, now: Callable[[], datetime], lock_touch: bool = True) -> None:
        self._rest = rest
        self._intake = intake
        self._now = now
        self._lock_touch = lock_touch
        self._lock = threading.Lock()
        self._types: Mapping[str, str] = {}
        self._types_of = ""

    def configuration(self) -> Configuration:
        """Rules, groups, members, queues and users in one call, and the fields of Lead when they are first needed.

        A rule may use a field that is newer than what is known of Lead: then Lead is described again, once.
        """
        found = self._found()
        try:
            return configured(self._intake, found)
        except BadCriteria:
            return configured(self._intake, replace(found, field_types=self._describe()))

    def snapshot(
        self, configuration: Configuration, lead_ids: Sequence[str], submission_keys: Sequence[str]
    ) -> Snapshot:
        """Groups with their members, leads, then ledger; one call for at most 200 leads and 400 keys."""
        ids = list(dict.fromkeys(lead_ids))
        if len(ids) > WRITES_MAX:
            raise ValueError(f"a snapshot is of at most {WRITES_MAX} leads, not {len(ids)}")
        keys = sorted(set(submission_keys))
        parts = [queries.part("groups", queries.groups()), queries.part("members", queries.members())]
        if ids:
            parts += [
                queries.part("leads", queries.leads(configuration.lead_fields, ids)),
                queries.part("ledger", queries.ledger(LedgerFields.LEAD, ids)),
            ]
        for number, chunk in enumerate(queries.chunks(keys, queries.KEYS_MAX)):
            parts.append(queries.part(f"submissions{number}", queries.submissions(chunk)))
        taken_at = self._now()
        rows = self._read(parts)
        ledger = (records.ledger_row(row) for name, found in rows.items() if name not in _NO_LEDGER for row in found)
        leads = (records.lead(row) for row in rows.get("leads", ()))
        return Snapshot(
            taken_at=taken_at,
            groups=records.groups(rows["groups"], rows["members"]),
            leads={lead.id: lead for lead in leads},
            ledger=tuple({row.id: row for row in ledger}.values()),
            submission_keys_read=frozenset(keys),
        )

    def commit(self, batch: Batch) -> Receipt:
        """Write the batch in one call, all or nothing (DESIGN section 4)."""
        composed = compose(batch, self._now(), lock_touch=self._lock_touch)
        return receipt(composed, self._rest.composite(composed.parts, write=True))

    def committed(self, batch: Batch) -> bool:
        """Whether every lead of the batch has its round in the ledger under its own idempotency key."""
        own = {lead_key(write.lead.id, write.round): write.ask.idempotency_key for write in batch.writes}
        rows = self._rest.query(queries.committed(sorted(own)))
        return {row[LedgerFields.LEAD_KEY]: row[LedgerFields.IDEMPOTENCY_KEY] for row in rows} == own

    def mark(self, marks: Sequence[Mark]) -> Mapping[str, str]:
        """Show status and text on at most 200 leads, each by itself; the answer says why those refuse that do.

        A rule of the org's own may refuse the note as it refused the owner: the lead is then left as it is.
        """
        changes = [
            {
                "id": mark.lead_id,
                LeadFields.STATUS: mark.status.value,
                LeadFields.ERROR: cut(mark.text, Lengths.ERROR) or None,
            }
            for mark in sorted(marks, key=lambda mark: mark.lead_id)
        ]
        if not changes:
            return {}
        body = collection(Objects.LEAD, changes, all_or_none=False)
        answers = self._rest.send("PATCH", COLLECTION, body, LEAD_HEADERS) or ()
        refused = {change["id"]: troubles(one["errors"]) for change, one in zip(changes, answers, strict=False)}
        return {str(lead_id): told(found[0]) for lead_id, found in refused.items() if found}

    def unassigned(self, configuration: Configuration, page: int) -> Iterator[Sequence[Lead]]:
        """All unassigned leads, oldest first, a page per call, each behind the last lead of the one before."""
        after: tuple[datetime, str] | None = None
        while True:
            rows = self._rest.query(queries.unassigned(configuration, page, after))
            leads = [records.lead(row) for row in rows]
            if leads:
                yield leads
            if len(leads) < page:
                return
            after = (leads[-1].created_at, leads[-1].id)

    def _found(self) -> Found:
        token = self._rest.token()
        parts = [
            queries.part("rules", queries.rules()),
            queries.part("groups", queries.groups()),
            queries.part("members", queries.members()),
            queries.part("queues", queries.queues()),
        ]
        if self._intake.usernames:
            parts.append(queries.part("users", queries.users(self._intake.usernames)))
        rows = self._read(parts)
        with self._lock:
            types = self._types if self._types_of == token.org_id else {}
        groups = tuple(records.groups(rows["groups"], rows["members"]).values())
        return Found(
            rules=rows["rules"],
            groups=groups,
            members={group.id: group.members for group in groups},
            queues=rows["queues"],
            users=rows.get("users", ()),
            integration_user_id=token.user_id,
            field_types=types or self._describe(),
        )

    def _describe(self) -> Mapping[str, str]:
        types = field_types(self._rest.get(f"sobjects/{Objects.LEAD}/describe"))
        with self._lock:
            self._types, self._types_of = types, self._rest.token().org_id
        return types

    def _read(self, parts: Sequence[Subrequest]) -> dict[str, list[Row]]:
        """The rows of each query, in order; as many calls as the number of queries asks for."""
        rows: dict[str, list[Row]] = {}
        for _, few in groupby(enumerate(parts), key=lambda item: item[0] // QUERIES_MAX):
            for answer in self._rest.composite([part for _, part in few], write=False):
                rows[answer.reference] = self._rows(answer)
        return rows

    def _rows(self, answer: Subanswer) -> list[Row]:
        if answer.status != _OK:
            found = troubles(answer.body)
            if found:
                raise surprise(found, write=False)
            raise ContractMismatch(f"the query '{answer.reference}' was answered with status {answer.status}")
        return list(self._rest.rest_of(answer.body))


_OK = 200
_NO_LEDGER = frozenset({"groups", "members", "leads"})
