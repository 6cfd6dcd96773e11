"""The past from exported files: Lead.csv, LeadHistory.csv and User.csv, and Group.csv or Queue.csv if there is one.

Columns are those of Data Loader (API names) or of reports (labels).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

from lead_router.audit.reading import cells, files, lacking, tables
from lead_router.core.counted import counted
from lead_router.core.ids import is_id
from lead_router.core.roster import Hours
from lead_router.errors import Misconfigured
from lead_router.ports.history import Extent, LeadSeen, OwnerRow, Person

Columns: TypeAlias = Mapping[str, Sequence[str]]
DAYS_ALONE = (
    "only days stand there, and waits are minutes: export CreatedDate by Data Loader, or a column with date and time"
)

LEAD: Columns = {
    "id": ("Id", "Lead ID", "LeadId"),
    "created": ("CreatedDate", "Create Date", "Created Date", "Date Created"),
    "owner_id": ("OwnerId", "Owner ID", "Lead Owner ID", "Owner.Id"),
    "owner": ("Owner.Name", "Lead Owner", "Owner", "Owner Name"),
    "creator_id": ("CreatedById", "Created By ID", "CreatedBy.Id"),
    "creator": ("CreatedBy.Name", "Created By", "Created Alias"),
    "source": ("LeadSource", "Lead Source"),
    "email": ("Email", "E-mail"),
    "phone": ("Phone", "Phone Number"),
    "converted": ("IsConverted", "Converted"),
    "deleted": ("IsDeleted", "Deleted"),
}
HISTORY: Columns = {
    "id": ("Id", "History ID"),
    "lead": ("LeadId", "Lead ID", "Lead.Id"),
    "at": ("CreatedDate", "Edit Date", "Date"),
    "by_id": ("CreatedById", "Created By ID", "Edited By ID"),
    "by": ("CreatedBy.Name", "Edited By", "User", "Created By"),
    "field": ("Field", "Field / Event", "Field Event"),
    "old": ("OldValue", "Old Value"),
    "new": ("NewValue", "New Value"),
}
USER: Columns = {
    "id": ("Id", "User ID"),
    "name": ("Name", "Full Name", "User Name"),
    "first": ("FirstName", "First Name"),
    "last": ("LastName", "Last Name"),
    "active": ("IsActive", "Active"),
    "type": ("UserType", "User Type"),
    "licence": ("Profile.UserLicense.Name", "User License", "License"),
    "seen": ("LastLoginDate", "Last Login", "Last Login Date"),
}
GROUP: Columns = {"id": ("Id", "Group ID", "Queue ID"), "name": ("Name", "Queue Name", "Label"), "type": ("Type",)}
OWNER_FIELDS = frozenset({"owner", "ownerassignment", "owneraccepted", "leadowner", "ownerid"})
PEOPLE_TYPES = frozenset({"", "standard", "powerpartner", "powercustomersuccess", "csplitepartner", "partner"})
ROBOT_LICENCES = frozenset({"salesforceintegration", "analyticscloudintegrationuser", "salesforceintegrationuser"})


class Exports:
    """The files of a folder; raises Misconfigured naming the file that is missing, or file, line and column."""

    def __init__(self, folder: Path, zone_name: str = "", *, day_first: bool = False) -> None:
        self.folder = folder
        self._zone = zone_name
        self._day_first = day_first
        self._leads = files.needed(folder, "Lead", "Leads")
        self._history = files.file_of(folder, "LeadHistory", "Lead History", "LeadHistories")
        self._users = files.file_of(folder, "User", "Users")
        self._queues = [
            path for names in (("Group", "Groups"), ("Queue", "Queues")) if (path := files.file_of(folder, *names))
        ]
        self._columns: dict[str, tuple[Path, set[str]]] = {}
        self._named = False
        self._again = 0
        self._turned: dict[str, bool] = {}
        self._instant = cells.reader_of_instants(zone_name or "UTC", day_first=day_first)

    def extent(self, _since: datetime) -> Extent:
        """Files take no calls; how much there is, reading tells."""
        if self._history is None:
            return Extent(0, None, 0, lacking.NO_HISTORY.format(folder=self.folder))
        return Extent(0, 0, 0)

    def people(self) -> Iterator[Person]:
        """Users, if there is a file of them, and queues."""
        if self._users is not None:
            for row in self._rows("User", self._users, USER, [("id",), ("name", "last")]):
                name = row.text("name") or f"{row.text('first')} {row.text('last')}".strip()
                active = row.get("active", cells.yes) if row.text("active") else None
                seen = row.get("seen", self._instant) if row.text("seen") else None
                robot = robotic(row.text("type"), row.text("licence"))
                yield Person(row.get("id", cells.user_id), name, active, robot=robot, seen_at=seen)
        for path in self._queues:
            for row in tables.rows(path, GROUP, [("id",), ("name",)]):
                if row.text("type") in {"", "Queue"}:
                    yield Person(row.get("id", cells.queue_id), row.text("name"), queue=True)

    def leads(self, since: datetime) -> Iterator[LeadSeen]:
        """Leads created since then, in the order of their creation, each once, as its last row has it."""
        required = [("id",), ("created",), ("owner_id", "owner")]
        first, owners, creators = since.timestamp(), ("owner_id", "owner"), ("creator_id", "creator")
        found: dict[str, LeadSeen] = {}
        with_time, row = False, None
        for row in self._rows("Lead", self._leads, LEAD, required):
            created = self._when(row, "created")
            with_time = with_time or cells.has_time(row.cells["created"])
            if created < first or row.get("deleted", cells.yes):
                continue
            one = LeadSeen(
                id=row.get("id", cells.lead_id),
                created=created,
                owner=row.either(owners, cells.id_or_name),
                creator=row.either(creators, cells.id_or_name),
                source=row.text("source"),
                buyer=(row.get("email", cells.email_digest), row.get("phone", cells.phone_digest)),
                converted=row.get("converted", cells.yes),
            )
            self._named = self._named or not is_id(one.owner)
            self._again += one.id in found
            found[one.id] = one
        if row is None:
            raise Misconfigured(f"{self._leads.name}: no row stands behind its heads: export the leads again")
        if not with_time:
            raise row.fault("created", DAYS_ALONE)
        return iter(sorted(found.values(), key=lambda one: (one.created, one.id)))

    def owner_rows(self, since: datetime) -> Iterator[OwnerRow]:
        """Rows of the history that tell of owners; others are passed over."""
        if self._history is None:
            return
        required = [("lead",), ("at",), ("field",), ("new",), ("old",)]
        first = since.timestamp()
        with_time, last = False, None
        for row in self._rows("LeadHistory", self._history, HISTORY, required):
            if files.plain(row.text("field")) not in OWNER_FIELDS:
                continue
            at, last = self._when(row, "at"), row
            with_time = with_time or cells.has_time(row.cells["at"])
            if at >= first:
                yield OwnerRow(
                    id=row.text("id"),
                    lead=row.get("lead", cells.lead_id),
                    at=at,
                    by=row.either(("by_id", "by"), cells.id_or_name),
                    old=row.get("old", cells.id_or_name),
                    new=row.get("new", cells.id_or_name),
                )
        if last is not None and not with_time:
            raise last.fault("at", DAYS_ALONE)

    def hours(self) -> Hours | None:
        """No file tells of hours."""
        return None

    def zone(self) -> str:
        """The zone that the asker named."""
        return self._zone

    def lacking(self) -> Sequence[str]:
        """Files and columns that are not there, rows that stand there twice, and dates that may be turned round."""
        told = [lacking.NO_USER.format(folder=self.folder)] if self._users is None else []
        if not self._queues:
            told.append(lacking.NO_GROUP.format(folder=self.folder, named=lacking.NAMED * self._named))
        for kind, (path, there) in self._columns.items():
            told += lacking.columns_lacking(kind, path, there)
        if self._again:
            told.append(
                f"{self._leads.name} has {counted(self._again, 'row')} of leads that stand there twice: once counted"
            )
        return [*told, *(lacking.TURNED.format(file=name) for name, sure in self._turned.items() if not sure)]

    def _rows(self, kind: str, path: Path, known: Columns, required: Sequence[Sequence[str]]) -> Iterator[tables.Row]:
        for row in tables.rows(path, known, required):
            self._columns.setdefault(kind, (path, set(row.columns)))
            yield row

    def _when(self, row: tables.Row, name: str) -> float:
        if not self._day_first and not self._turned.get(row.path.name):
            told = cells.order_told(row.cells[name])
            if told is not None:
                self._turned[row.path.name] = told
        return row.get(name, self._instant)


def robotic(user_type: str, licence: str) -> bool:
    """Whether Salesforce says that nobody is behind a user: Automated Process and its like, or such a licence."""
    plain = "".join(filter(str.isalnum, licence.lower()))
    return user_type.lower() not in PEOPLE_TYPES or plain in ROBOT_LICENCES
