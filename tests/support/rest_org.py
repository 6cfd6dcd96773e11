"""A small simulated org and the real client in front of it, without a socket: two reps in one group, one rule."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from lead_router.core.decide import batches, decide
from lead_router.core.keys import create_key, submission_of
from lead_router.core.model import Ask, Batch, Decision
from lead_router.salesforce.auth import Login, TokenHolder
from lead_router.salesforce.configuration import Intake
from lead_router.salesforce.gateway import SalesforceOrg
from lead_router.salesforce.rest import Rest
from lead_router.salesforce.wire import open_session
from org_simulator.clock import ManualClock
from org_simulator.sobjects import PermissionSet
from org_simulator.switches import Switches
from org_simulator.wire import scenario, start
from org_simulator.wire.adapter import OrgAdapter
from org_simulator.wire.faults import Fault

START = datetime(2026, 11, 29, 20, 0, 0, tzinfo=UTC)
PEOPLE = {
    "records": [
        {"sobject": "User", "ref": "ann", "fields": {"Username": "ann@sim.example", "LastName": "Ann"}},
        {"sobject": "User", "ref": "bob", "fields": {"Username": "bob@sim.example", "LastName": "Bob"}},
        {
            "sobject": "Round_Robin_Group__c",
            "ref": "emea",
            "fields": {"Name": "EMEA", "Key__c": "emea", "Mode__c": "Live", "Epoch__c": 1},
        },
        {
            "sobject": "Round_Robin_Member__c",
            "ref": "ann_emea",
            "fields": {"Group__c": "@emea", "User__c": "@ann", "Sort_Order__c": 1},
        },
        {
            "sobject": "Round_Robin_Member__c",
            "ref": "bob_emea",
            "fields": {"Group__c": "@emea", "User__c": "@bob", "Sort_Order__c": 2},
        },
        {
            "sobject": "Routing_Rule__c",
            "ref": "all",
            "fields": {"Name": "All", "Precedence__c": 100, "Active__c": True, "Target_Group__c": "@emea"},
        },
    ],
    "assignment_rule": "@queue:Default_Assigned",
}


@dataclass
class RestOrg:
    """An org, the people in it, and a client. `refs` are the ids of the scenario's records by name."""

    switches: Switches
    intake: Intake = field(default_factory=Intake)

    def __post_init__(self) -> None:
        self.clock = ManualClock(START)
        self.world = start.world(clock=self.clock, switches=self.switches, seed=7)
        self.org = self.world.org
        self.refs = scenario.load(self.org, PEOPLE)
        self.slept: list[float] = []
        self.holder, self.rest, self.client = self.connect()

    def connect(
        self, *, lock_touch: bool = True, ending: Callable[[], bool] = lambda: False
    ) -> tuple[TokenHolder, Rest, SalesforceOrg]:
        """One more router; `ending` is whether it was told to end."""
        session = open_session(self.world.base_url, adapter=OrgAdapter(self.world))
        login = Login(self.world.base_url, self.world.app.client_id, self.world.app.client_secret)
        holder = TokenHolder(
            login,
            session,
            now=self.clock.now,
            sleep=self.slept.append,
            dice=random.Random(1),
            monotonic=self.clock.monotonic,
        )
        rest = Rest(holder, session, ending=ending)
        return holder, rest, SalesforceOrg(rest, self.intake, now=self.clock.now, lock_touch=lock_touch)

    def fault(self, name: str, **matching: Any) -> None:
        """Let something go wrong between client and org."""
        self.world.faults.put(Fault(name, **matching))

    def insert(self, sobject: str, **fields: Any) -> str:
        """A record, as an administrator makes it."""
        with self.org.transaction(self.org.admin_user_id, auto_assign=False) as opened:
            return str(opened.insert(sobject, fields))

    def update(self, record_id: str, **fields: Any) -> None:
        """A change by an administrator."""
        sobject = self.org.sobject_of(record_id[:3])
        assert sobject is not None
        with self.org.transaction(self.org.admin_user_id, auto_assign=False) as opened:
            opened.update(sobject, record_id, fields)

    def delete(self, record_id: str) -> None:
        sobject = self.org.sobject_of(record_id[:3])
        assert sobject is not None
        with self.org.transaction(self.org.admin_user_id) as opened:
            opened.delete(sobject, record_id)

    def assign(self, name: str) -> None:
        """Give the integration user one more permission set of the metadata."""
        (set_id,) = (row["Id"] for row in self.rows("PermissionSet") if row["Name"] == name)
        self.insert("PermissionSetAssignment", AssigneeId=self.org.integration_user_id, PermissionSetId=set_id)

    def grant(self, user_permission: str) -> None:
        """Give the integration user a right that no set of the metadata gives, by a set that an administrator made."""
        own = PermissionSet(f"Own_{user_permission}", "Own", frozenset(), frozenset({user_permission}), {}, {})
        self.org.schema.permission_sets[own.name] = own  # type: ignore[index]
        self.insert("PermissionSet", Name=own.name, Label=own.label)
        self.assign(own.name)

    def freeze(self, user_id: str) -> None:
        (login,) = (row["Id"] for row in self.rows("UserLogin") if row["UserId"] == user_id)
        self.update(login, IsFrozen=True)

    def lead(self, email: str | None = None, **fields: Any) -> str:
        """A new lead in the intake queue."""
        named = {"LastName": "Doe", "Company": "Acme", "OwnerId": self.queue("Lead_Intake"), **fields}
        return self.insert("Lead", **named, **({"Email": email} if email else {}))

    def queue(self, name: str) -> str:
        found = self.org.queue_id(name)
        assert found is not None
        return found

    def rows(self, sobject: str) -> list[Mapping[str, Any]]:
        """All rows of an object, by id."""
        with self.org.transaction(self.org.admin_user_id) as opened:
            return sorted(opened.rows(sobject), key=lambda row: row["Id"])

    def row(self, record_id: str) -> Mapping[str, Any]:
        sobject = self.org.sobject_of(record_id[:3])
        assert sobject is not None
        with self.org.transaction(self.org.admin_user_id) as opened:
            found = opened.row(sobject, record_id)
        assert found is not None
        return found

    def ask(self, lead_id: str, number: int = 1) -> Ask:
        return Ask(number, create_key(self.org.org_id, lead_id), lead_id, self.clock.now())

    def decided(self, lead_ids: Sequence[str], client: SalesforceOrg | None = None) -> list[Decision]:
        """What a worker decides for these leads, on a fresh snapshot with their submission keys."""
        client = client or self.client
        configuration = client.configuration()
        plain = client.snapshot(configuration, lead_ids, [])
        keys = {
            key
            for lead in plain.leads.values()
            if (found := submission_of(lead.fields, configuration)) is not None
            for key in (found.even, found.odd)
        }
        snapshot = client.snapshot(configuration, lead_ids, sorted(keys))
        asks = [self.ask(lead_id, number) for number, lead_id in enumerate(lead_ids, start=1)]
        return decide(configuration, snapshot, asks)

    def batch(self, lead_ids: Sequence[str], client: SalesforceOrg | None = None) -> Batch:
        """The one batch that a worker writes for these leads."""
        (found,) = batches(self.decided(lead_ids, client))
        return found

    def calls(self) -> int:
        return self.org.calls_used


def best() -> Switches:
    return Switches()


def worst(**changes: Any) -> Switches:
    return replace(Switches.pessimistic(), **changes)
