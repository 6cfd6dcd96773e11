"""The books over REST: the one implementation of the port `Books` that production uses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from lead_router.core.drift import Change, Entry, Stamp, Sum
from lead_router.core.ids import to18
from lead_router.core.model import Group
from lead_router.ports.books import Look, Mended
from lead_router.salesforce import mending, queries, records
from lead_router.salesforce.names import GroupFields, LeadFields, LedgerFields, Objects, Standard
from lead_router.salesforce.reading import QUERIES_MAX, read
from lead_router.salesforce.records import Row, maybe_whole, moment, shaped, whole
from lead_router.salesforce.rest import Rest, Subrequest

LEADS_MAX = 400  # leads in one query: 21 characters each, quoted
LITERALS_MAX = 10_000  # characters of keys in one query
_SUMMED, _FIRST, _LAST = "summed", "firstTurn", "lastTurn"
_ENTRY_FIELDS = (
    Standard.ID,
    LedgerFields.GROUP,
    LedgerFields.MEMBER,
    LedgerFields.LEAD,
    LedgerFields.LEAD_KEY,
    LedgerFields.ROUND,
    LedgerFields.IDEMPOTENCY_KEY,
    LedgerFields.OUTCOME,
    LedgerFields.EPOCH,
    LedgerFields.TURN,
    LedgerFields.TURN_KEY,
    Standard.CREATED_AT,
)
_STAMP_FIELDS = (Standard.ID, Standard.OWNER, LeadFields.ROUND, LeadFields.STAMP, LeadFields.GROUP)
_SUM_FIELDS = (LedgerFields.GROUP, LedgerFields.EPOCH, LedgerFields.MEMBER)


class SalesforceBooks:
    """The books behind `rest`. All threads may share one."""

    def __init__(self, rest: Rest) -> None:
        self._rest = rest

    def look(self, *, sums: bool = False) -> Look:
        """Groups, members and sums between two reads of the groups: what both reads tell alike stood still."""
        parts = [queries.part("groups", queries.groups()), queries.part("members", queries.members())]
        if sums:
            parts.append(queries.part("sums", _sums()))
        parts.append(queries.part("after", _stands()))
        rows = read(self._rest, parts, {"sums"})  # more than 2,000 sums are refused
        groups = records.groups(rows["groups"], rows["members"])
        stands = {row[Standard.ID]: _stand(row) for row in rows["after"]}
        still = {one.id: one for one in groups.values() if stands.get(one.id) == (one.epoch, one.turn)}
        keys = {one.id: one.key for one in groups.values()}
        return Look(still, stands, keys, tuple(map(_sum, rows["sums"])) if "sums" in rows else None)

    def rows(self, group_id: str | None = None, *, since: datetime | None = None) -> Iterator[Sequence[Entry]]:
        """A page is as many rows as Salesforce puts on one, by default 2,000."""
        of = [] if group_id is None else [f"{LedgerFields.GROUP} = {queries.text(group_id)}"]
        of += [] if since is None else [f"{Standard.CREATED_AT} >= {queries.instant(since)}"]
        tail = f"WHERE {' AND '.join(of)}" if of else ""
        for page in self._rest.pages(queries.select(_ENTRY_FIELDS, Objects.LEDGER, tail)):
            yield [_entry(row) for row in page]

    def stamps(self, lead_ids: Sequence[str]) -> Mapping[str, Stamp]:
        """Up to 2,000 leads a call."""
        asked = [
            queries.part(
                f"leads{number}",
                queries.select(_STAMP_FIELDS, Objects.LEAD, f"WHERE {queries.among(Standard.ID, few)}"),
            )
            for number, few in enumerate(queries.chunks(lead_ids, LEADS_MAX))
        ]
        found = [_stamp(row) for several in read(self._rest, asked).values() for row in several]
        return {one.lead_id: one for one in found}

    def routed(self, idempotency_keys: Sequence[str]) -> Mapping[str, datetime]:
        """Up to a thousand keys a call, by their unique index."""
        name = LedgerFields.IDEMPOTENCY_KEY
        rows = self._by_key(name, idempotency_keys)
        return {row[name]: moment(row[Standard.CREATED_AT]) for row in rows}

    def rounds(self, lead_keys: Sequence[str]) -> frozenset[str]:
        """The same by the leads' rounds."""
        return frozenset(row[LedgerFields.LEAD_KEY] for row in self._by_key(LedgerFields.LEAD_KEY, lead_keys))

    def mend(self, group: Group, changes: Sequence[Change]) -> Mended:
        """The group is written first, on condition that it stands where it stood: one that moved refuses all."""
        self._rest.begin()
        return mending.told(changes, self._rest.composite(mending.parts(group, changes), write=True))

    def mend_leads(self, changes: Sequence[Change]) -> Mended:
        """On condition that the owner is who it was a moment before; the round must rise."""
        by_lead: dict[str, list[Change]] = {}
        for one in changes:
            by_lead.setdefault(one.record_id, []).append(one)
        written: list[str] = []
        refused: dict[str, str] = {}
        for few in queries.chunks(sorted(by_lead), mending.LEADS_MAX):
            stamps = self.stamps(few)
            refused |= {
                lead_id: why for lead_id in few if (why := mending.unfit(by_lead[lead_id], stamps.get(lead_id)))
            }
            asked = {lead_id: by_lead[lead_id] for lead_id in few if lead_id not in refused}
            if asked:
                self._rest.begin()
                owners = {lead_id: stamps[lead_id].owner_id for lead_id in asked}
                (answer,) = self._rest.composite([mending.lead_part(asked, owners)], write=True, together=False)
                one_part = mending.told_leads(list(asked), answer)
                written += one_part.written
                refused |= one_part.refused
        return Mended(tuple(written), refused)

    def _by_key(self, name: str, keys: Sequence[str]) -> Iterator[Row]:
        asked: list[Subrequest] = []
        for few in _fitting(sorted(set(keys))):
            fields = (name, Standard.CREATED_AT)
            soql = queries.select(fields, Objects.LEDGER, f"WHERE {queries.among(name, few)}")
            asked.append(queries.part(f"keys{len(asked)}", soql))
            if len(asked) == QUERIES_MAX:
                yield from (row for rows in read(self._rest, asked).values() for row in rows)
                asked = []
        if asked:
            yield from (row for rows in read(self._rest, asked).values() for row in rows)


def _sums() -> str:
    counted = f"COUNT({Standard.ID}) {_SUMMED}, MIN({LedgerFields.TURN}) {_FIRST}, MAX({LedgerFields.TURN}) {_LAST}"
    by = ",".join(_SUM_FIELDS)
    tail = f"WHERE {LedgerFields.TURN} != null AND {LedgerFields.GROUP} != null GROUP BY {by}"
    return queries.select((*_SUM_FIELDS, counted), Objects.LEDGER, tail)


def _stands() -> str:
    return queries.select((Standard.ID, GroupFields.EPOCH, GroupFields.TURN), Objects.GROUP)


@shaped
def _stand(row: Row) -> tuple[int, int]:
    return whole(row[GroupFields.EPOCH]), whole(row[GroupFields.TURN])


@shaped
def _sum(row: Row) -> Sum:
    return Sum(
        group_id=row[LedgerFields.GROUP],
        epoch=whole(row[LedgerFields.EPOCH]),
        member_id=row[LedgerFields.MEMBER],
        rows=whole(row[_SUMMED]),
        first=whole(row[_FIRST]),
        last=whole(row[_LAST]),
    )


@shaped
def _entry(row: Row) -> Entry:
    return Entry(
        id=row[Standard.ID],
        group_id=row[LedgerFields.GROUP],
        member_id=row[LedgerFields.MEMBER],
        lead_id=row[LedgerFields.LEAD],
        lead_key=row[LedgerFields.LEAD_KEY],
        round=whole(row[LedgerFields.ROUND]),
        idempotency_key=row[LedgerFields.IDEMPOTENCY_KEY],
        outcome=row[LedgerFields.OUTCOME] or "",
        epoch=maybe_whole(row[LedgerFields.EPOCH]),
        turn=maybe_whole(row[LedgerFields.TURN]),
        turn_key=row[LedgerFields.TURN_KEY],
        created_at=moment(row[Standard.CREATED_AT]),
    )


@shaped
def _stamp(row: Row) -> Stamp:
    return Stamp(
        lead_id=to18(row[Standard.ID]),
        owner_id=to18(row[Standard.OWNER]),
        round=whole(row[LeadFields.ROUND]),
        idempotency_key=row[LeadFields.STAMP],
        group_key=row[LeadFields.GROUP],
    )


def _fitting(keys: Sequence[str]) -> Iterator[list[str]]:
    """The keys in lists whose literals fit one query."""
    few: list[str] = []
    size = 0
    for key in keys:
        size += len(key) + 3
        if few and size > LITERALS_MAX:
            yield few
            few, size = [], len(key) + 3
        few.append(key)
    if few:
        yield few
