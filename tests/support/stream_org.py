"""The parts of a simulated org that its event stream reads; commits are made by hand, value by value."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random
from typing import Any

from org_simulator.changes import CREATE, RowChange
from org_simulator.clock import Clock, ManualClock
from org_simulator.events import ChangeLog, change_log
from org_simulator.schema import ObjectPermission, PermissionSet, Schema, SObject
from org_simulator.sessions import Sessions
from org_simulator.switches import Switches

START = datetime(2026, 11, 29, 20, 26, 27, tzinfo=UTC)
ADMIN = "005000000000001AAA"
INTEGRATION = "005000000000002AAA"
ORG_ID = "00D000000000001AAA"
LEAD = "/data/LeadChangeEvent"
REQUESTED = "Lead_Routing_Requested__e"

VIEWER = PermissionSet(
    name="Lead_Router_Integration",
    label="Lead Router Integration",
    custom_permissions=frozenset(),
    user_permissions=frozenset(),
    objects={
        sobject.lower(): ObjectPermission(
            sobject, create=False, read=True, edit=False, delete=False, view_all=True, modify_all=False
        )
        for sobject in ("Lead", "Widget__c")
    },
    fields={},
)


def _schema() -> Schema:
    def of(name: str, prefix: str) -> SObject:
        return SObject(name, prefix, name, name, {})

    objects = {known.name.lower(): known for known in (of("Lead", "00Q"), of("Contact", "003"), of("Widget__c", "a00"))}
    selected = frozenset({"LeadChangeEvent", "Widget__ChangeEvent"})
    return Schema(objects, {REQUESTED.lower(): of(REQUESTED, "e00")}, selected, {VIEWER.name: VIEWER}, {}, {})


@dataclass
class StreamOrg:
    """Enough of an org for a ChangeLog and a CometD server; `commit` plays the store."""

    clock: Clock = field(default_factory=lambda: ManualClock(START))
    switches: Switches = field(default_factory=Switches)
    schema: Schema = field(default_factory=_schema)
    dice: Random = field(default_factory=lambda: Random(7))
    listeners: list[Callable[[list[RowChange]], None]] = field(default_factory=list)
    integration_user_id: str = INTEGRATION
    admin_user_id: str = ADMIN
    events: Any = None
    inactive: set[str] = field(default_factory=set)
    commits: int = 0

    def __post_init__(self) -> None:
        self.sessions = Sessions(ORG_ID, self.dice, lambda user_id: user_id not in self.inactive)
        change_log(self)

    def permission_sets(self, user_id: str) -> tuple[str, ...]:
        """The integration user may view what is selected; others have no permission set."""
        return (VIEWER.name,) if user_id == INTEGRATION else ()

    @property
    def org_id(self) -> str:
        """As the tokens bear it."""
        return ORG_ID

    @property
    def log(self) -> ChangeLog:
        return change_log(self)

    def change(self, record_id: str, kind: str = CREATE, sobject: str = "Lead", **values: Any) -> RowChange:
        """A change whose rows are given as `before=` and `after=`, or as plain fields of `after`."""
        before, after = values.pop("before", None), values.pop("after", None)
        row: Mapping[str, Any] | None = after if after is not None or before is not None else values
        at = self.clock.now()
        return RowChange(sobject, record_id, kind, before, row, at, ADMIN, "", "", 0, 0)

    def commit(self, *changes: RowChange, origin: str = "com/salesforce/api/rest/68.0") -> str:
        """Commit these changes as one transaction; answers its key."""
        self.commits += 1
        key = str(uuid.UUID(int=self.dice.getrandbits(128), version=4))
        saved = [
            RowChange(
                c.sobject, c.id, c.kind, c.before, c.after, c.at, c.user_id, origin, key, number, 1000 + self.commits
            )
            for number, c in enumerate(changes, start=1)
        ]
        for listener in self.listeners:
            listener(saved)
        return key

    def create_leads(self, count: int) -> list[str]:
        """Commit so many leads, each in a transaction of its own; answers their ids."""
        ids = [f"00Q{self.commits + number:012d}AAA" for number in range(count)]
        for record_id in ids:
            self.commit(self.change(record_id, LastName=f"Name {record_id}"))
        return ids
