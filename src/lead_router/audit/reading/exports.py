"""The past from exported files: Lead.csv, LeadHistory.csv and User.csv, and Group.csv or Queue.csv if there is one.

Columns are those of Data Loader (API names) or of reports (labels).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from lead_router.audit.reading import cells, tables
from lead_router.core.roster import Hours
from lead_router.errors import Misconfigured
from lead_router.ports.history import Extent, LeadSeen, OwnerRow, Person

LEAD = {
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
HISTORY = {
    "id": ("Id", "History ID"),
    "lead": ("LeadId", "Lead ID", "Lead.Id"),
    "at": ("CreatedDate", "Edit Date", "Date"),
    "by_id": ("CreatedById", "Created By ID", "Edited By ID"),
    "by": ("CreatedBy.Name", "Edited By", "User", "Created By"),
    "field": ("Field", "Field / Event", "Field Event"),
    "old": ("OldValue", "Old Value"),
    "new": ("NewValue", "New Value"),
}
USER = {
    "id": ("Id", "User ID"),
    "name": ("Name", "Full Name", "User Name"),
    "first": ("FirstName", "First Name"),
    "last": ("LastName", "Last Name"),
    "active": ("IsActive", "Active"),
    "type": ("UserType", "User Type"),
    "licence": ("Profile.UserLicense.Name", "User License", "License"),
    "seen": ("LastLoginDate", "Last Login", "Last Login Date"),
}
GROUP = {"id": ("Id", "Group ID", "Queue ID"), "name": ("Name", "Queue Name", "Label"), "type": ("Type",)}
OWNER_FIELDS = frozenset({"owner", "ownerassignment", "owneraccepted", "leadowner", "ownerid"})
PEOPLE_TYPES = frozenset({"", "standard", "powerpartner", "powercustomersuccess", "csplitepartner", "partner"})
ROBOT_LICENCES = frozenset({"salesforceintegration", "analyticscloudintegrationuser", "salesforceintegrationuser"})


@dataclass(frozen=True)
class Exports:
    """The files of a folder; raises Misconfigured naming the file that is missing, or file, line and column."""

    folder: Path
    zone_name: str = ""
    day_first: bool = False

    def __post_init__(self) -> None:
        if not self.folder.is_dir():
            raise Misconfigured(f"--csv {self.folder}: there is no such folder")
        self._file("Lead", "Leads")

    def extent(self, _since: datetime) -> Extent:
        """Files take no calls; how much there is, reading tells."""
        if tables.file_of(self.folder, *self.history_names) is None:
            return Extent(0, None, 0, f"there is no LeadHistory.csv in {self.folder}")
        return Extent(0, 0, 0)

    history_names = ("LeadHistory", "Lead History")

    def people(self) -> Iterator[Person]:
        """Users, if there is a file of them, and queues."""
        path = tables.file_of(self.folder, "User", "Users")
        if path is not None:
            instant = self._instants()
            for row in tables.rows(path, USER, [("id",), ("name", "last")]):
                name = row.text("name") or f"{row.text('first')} {row.text('last')}".strip()
                active = row.get("active", cells.yes) if row.text("active") else None
                seen = row.get("seen", instant) if row.text("seen") else None
                robot = robotic(row.text("type"), row.text("licence"))
                yield Person(row.get("id", cells.record_id), name, active, robot=robot, seen_at=seen)
        for names in (("Group", "Groups"), ("Queue", "Queues")):
            path = tables.file_of(self.folder, *names)
            for row in tables.rows(path, GROUP, [("id",), ("name",)]) if path else ():
                if row.text("type") in {"", "Queue"}:
                    yield Person(row.get("id", cells.record_id), row.text("name"), queue=True)

    def leads(self, since: datetime) -> Iterator[LeadSeen]:
        """Leads created since then, in the order of their creation."""
        required = [("id",), ("created",), ("owner_id", "owner")]
        instant, first = self._instants(), since.timestamp()
        found: list[LeadSeen] = []
        for row in tables.rows(self._file("Lead", "Leads"), LEAD, required):
            created = row.get("created", instant)
            if created < first or row.get("deleted", cells.yes):
                continue
            found.append(
                LeadSeen(
                    id=row.get("id", cells.record_id),
                    created=created,
                    owner=cells.id_or_name(row.text("owner_id") or row.text("owner")),
                    creator=cells.id_or_name(row.text("creator_id") or row.text("creator")),
                    source=row.text("source"),
                    buyer=(cells.email_digest(row.text("email")), cells.phone_digest(row.text("phone"))),
                    converted=row.get("converted", cells.yes),
                )
            )
        return iter(sorted(found, key=lambda one: (one.created, one.id)))

    def owner_rows(self, since: datetime) -> Iterator[OwnerRow]:
        """Rows of the history that tell of owners; others are passed over."""
        path = tables.file_of(self.folder, *self.history_names)
        required = [("lead",), ("at",), ("field",), ("new",), ("old",)]
        instant, first = self._instants(), since.timestamp()
        for row in tables.rows(path, HISTORY, required) if path else ():
            if "".join(filter(str.isalnum, row.text("field").lower())) not in OWNER_FIELDS:
                continue
            at = row.get("at", instant)
            if at >= first:
                yield OwnerRow(
                    id=row.text("id"),
                    lead=row.get("lead", cells.record_id),
                    at=at,
                    by=cells.id_or_name(row.text("by_id") or row.text("by")),
                    old=cells.id_or_name(row.text("old")),
                    new=cells.id_or_name(row.text("new")),
                )

    def hours(self) -> Hours | None:
        """No file tells of hours."""
        return None

    def zone(self) -> str:
        """The zone that the asker named."""
        return self.zone_name

    def _file(self, *names: str) -> Path:
        path = tables.file_of(self.folder, *names)
        if path is None:
            raise Misconfigured(f"there is no {names[0]}.csv in {self.folder}")
        return path

    def _instants(self) -> cells.Instants:
        return cells.reader_of_instants(self.zone_name or "UTC", day_first=self.day_first)


def robotic(user_type: str, licence: str) -> bool:
    """Whether Salesforce says that nobody is behind a user: Automated Process and its like, or such a licence."""
    plain = "".join(filter(str.isalnum, licence.lower()))
    return user_type.lower() not in PEOPLE_TYPES or plain in ROBOT_LICENCES
