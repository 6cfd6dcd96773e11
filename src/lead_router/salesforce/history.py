"""An org's past over REST, read-only: every request is a GET, and nothing is asked that only the shipped metadata has.

Pages are asked for by creation and id, each behind the last row of the one before, so that no page needs a cursor that
may expire. LeadHistory: two rows tell of a change of a reference, one with names and one with ids (Object Reference,
EntityHistory). Unverified: that every org indexes LeadHistory.CreatedDate well enough for millions of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, TypeAlias

from lead_router.core.hours import DAY_MIN
from lead_router.core.ids import is_id, to18
from lead_router.core.model import Hours
from lead_router.core.zones import is_zone
from lead_router.errors import ContractMismatch, Rejected
from lead_router.ports.history import Extent, LeadSeen, OwnerRow, Person
from lead_router.salesforce import opening, queries
from lead_router.salesforce.names import Objects, Standard
from lead_router.salesforce.records import Row, moment
from lead_router.salesforce.rest import Rest

PAGE = 2_000  # rows, what Salesforce answers with at once
ASKED_BESIDE = 9  # calls: three counts, two describes, licences that may be refused, queues, zone and hours
OWNER_FIELDS = ("Owner", "ownerAccepted", "ownerAssignment")
NO_HISTORY = "this user may not read LeadHistory, or the org keeps none"
Digest: TypeAlias = Callable[[str], int]
_REFUSED = (ContractMismatch, Rejected)
_LEAD = (
    Standard.CREATED_AT,
    Standard.OWNER,
    "CreatedById",
    "LeadSource",
    Standard.EMAIL,
    Standard.PHONE,
    Standard.IS_CONVERTED,
)
_USER = (Standard.NAME, Standard.IS_ACTIVE, "UserType", "LastLoginDate")
_FOR: Mapping[str, str] = {
    "LeadSource": "waits, pollers, shares and rival machines of each source",
    Standard.EMAIL: "buyers with two records of one e-mail address",
    Standard.PHONE: "buyers with two records of one telephone number",
    Standard.IS_ACTIVE: "leads with inactive users",
    "UserType": "robots that Salesforce itself runs",
    "LastLoginDate": "leads that came to inactive users after their last log-in",
}
"""What each field is for, where a user may lack the right to see it."""
_LICENCE = "Profile.UserLicense.Name"
_HISTORY = ("LeadId", "CreatedById", Standard.CREATED_AT, "OldValue", "NewValue")
_PEOPLE = frozenset({"", "Standard", "PowerPartner", "PowerCustomerSuccess", "CSPLitePortal", "Partner"})
_ROBOT_LICENCES = frozenset({"Salesforce Integration", "Analytics Cloud Integration User"})


class OrgHistory:
    """The past of the org behind a client, as `ports.history.History` has it.

    `digests` are what is kept of an e-mail address and of a telephone number.
    """

    def __init__(self, rest: Rest, *, digests: tuple[Digest, Digest], page: int = PAGE) -> None:
        self._rest = rest
        self._email, self._phone = digests
        self._page = page
        self._extent: Extent | None = None
        self._lacking: list[str] = []

    def extent(self, since: datetime) -> Extent:
        """Counts leads, rows of history and users, in three calls, once."""
        if self._extent is None:
            self._extent = self._counted(since)
        return self._extent

    def _counted(self, since: datetime) -> Extent:
        leads = self._count(Objects.LEAD, _since(since))
        users = self._count(Objects.USER, "")
        rows, why = None, NO_HISTORY
        with suppress(*_REFUSED):
            rows, why = self._count("LeadHistory", _owners(since)), ""
        pages = sum(many // self._page + 1 for many in (leads, users, rows or 0))
        return Extent(leads, rows, pages + ASKED_BESIDE, why)

    def people(self) -> Iterator[Person]:
        """Users, with their licences where this user may see them, and queues."""
        seen = self._seen(Objects.USER, _USER)
        try:
            yield from self._users((*seen, _LICENCE))
        except _REFUSED:
            yield from self._users(seen)
        for row in self._rest.query(
            queries.select((Standard.ID, Standard.NAME), Objects.QUEUE, "WHERE Type = 'Queue'")
        ):
            yield Person(to18(row[Standard.ID]), row[Standard.NAME] or "", queue=True)

    def leads(self, since: datetime) -> Iterator[LeadSeen]:
        """Leads created since then, with those of their fields that this user sees."""
        fields = self._seen(Objects.LEAD, _LEAD)
        for row in self._pages(Objects.LEAD, fields, _since(since), since):
            yield LeadSeen(
                id=to18(row[Standard.ID]),
                created=moment(row[Standard.CREATED_AT]).timestamp(),
                owner=to18(row[Standard.OWNER]),
                creator=to18(row["CreatedById"]),
                source=row.get("LeadSource") or "",
                buyer=(self._email(row.get(Standard.EMAIL) or ""), self._phone(row.get(Standard.PHONE) or "")),
                converted=bool(row.get(Standard.IS_CONVERTED)),
            )

    def owner_rows(self, since: datetime) -> Iterator[OwnerRow]:
        """Changes of owner since then; nothing where LeadHistory cannot be read."""
        if self.extent(since).rows is None:
            return
        for row in self._pages("LeadHistory", _HISTORY, _owners(since), since):
            yield OwnerRow(
                id=row[Standard.ID],
                lead=to18(row["LeadId"]),
                at=moment(row[Standard.CREATED_AT]).timestamp(),
                by=to18(row["CreatedById"]),
                old=_value(row["OldValue"]),
                new=_value(row["NewValue"]),
            )

    def hours(self) -> Hours | None:
        """The default business hours; None where they are never closed, as a new org's are, or cannot be read."""
        soql = queries.business_hours().replace("WHERE", "WHERE IsDefault = true AND", 1)
        try:
            rows = self._rest.query(soql)
        except _REFUSED:
            return None
        found = next((opening.hours(row) for row in rows), None)
        open_min = sum(end - start for day in found.week for start, end in day) if found else 0
        return found if 0 < open_min < 7 * DAY_MIN else None

    def zone(self) -> str:
        """The org's default time zone."""
        try:
            rows = self._rest.query(queries.select((Standard.TIME_ZONE,), "Organization"))
        except _REFUSED:
            return ""
        name = str(rows[0].get(Standard.TIME_ZONE) or "") if rows else ""
        return name if is_zone(name) else ""

    def lacking(self) -> Sequence[str]:
        """Fields that this user does not see."""
        return tuple(self._lacking)

    def _count(self, sobject: str, where: str) -> int:
        answer = self._rest.get("query", {"q": queries.select(("COUNT()",), sobject, where)})
        if not isinstance(answer, dict):
            raise ContractMismatch("a count was answered without a number")
        return int(answer["totalSize"])

    def _seen(self, sobject: str, fields: Sequence[str]) -> tuple[str, ...]:
        """Those of the fields that this user sees."""
        described = self._rest.get(f"sobjects/{sobject}/describe")
        known = {str(field["name"]) for field in described["fields"]}
        unseen = [field for field in fields if field not in known]
        for field in unseen:
            if field in _FOR:
                told = f"{sobject}.{field}, so {_FOR[field]} cannot be told: give this user the right to read it"
                self._lacking.append(f"this user does not see {told}")
        return tuple(field for field in fields if field in known)

    def _users(self, fields: Sequence[str]) -> Iterator[Person]:
        last = ""
        while True:
            where = f"WHERE Id > {queries.text(last)} " if last else ""
            tail = f"{where}ORDER BY {Standard.ID} LIMIT {self._page}"
            rows = self._rest.query(queries.select((Standard.ID, *fields), Objects.USER, tail))
            yield from map(_person, rows)
            if len(rows) < self._page:
                return
            last = rows[-1][Standard.ID]

    def _pages(self, sobject: str, fields: Sequence[str], where: str, since: datetime) -> Iterator[Row]:
        """All rows by creation and id, a page a call."""
        at, last = since, ""
        columns = (Standard.ID, *fields)
        while True:
            behind = f"({Standard.CREATED_AT} > {queries.instant(at)} OR {Standard.ID} > {queries.text(last)})"
            start = where.replace(queries.instant(since), queries.instant(at))
            tail = f"{start} AND {behind}" if last else start
            order = f"ORDER BY {Standard.CREATED_AT}, {Standard.ID} LIMIT {self._page}"
            rows = self._rest.query(queries.select(columns, sobject, f"{tail} {order}"))
            yield from rows
            if len(rows) < self._page:
                return
            at, last = moment(rows[-1][Standard.CREATED_AT]), rows[-1][Standard.ID]


def _since(since: datetime) -> str:
    return f"WHERE {Standard.CREATED_AT} >= {queries.instant(since)}"


def _owners(since: datetime) -> str:
    return f"{_since(since)} AND {queries.among('Field', OWNER_FIELDS)}"


def _value(value: Any) -> str:
    """An id or a name; blank for none."""
    text = "" if value is None else str(value)
    return to18(text) if is_id(text) and text[:3] in {"005", "00G"} else text


def _person(row: Mapping[str, Any]) -> Person:
    profile = row.get("Profile") or {}
    licence = (profile.get("UserLicense") or {}).get(Standard.NAME) or ""
    seen = row.get("LastLoginDate")
    return Person(
        id=to18(row[Standard.ID]),
        name=row.get(Standard.NAME) or "",
        active=row.get(Standard.IS_ACTIVE),
        robot=(row.get("UserType") or "") not in _PEOPLE or licence in _ROBOT_LICENCES,
        seen_at=moment(seen).astimezone(UTC).timestamp() if seen else None,
    )
