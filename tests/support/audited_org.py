"""An org that knows standard objects alone, whose past is audited, and a client before it."""

from __future__ import annotations

import random
from datetime import UTC, datetime

from lead_router.salesforce.auth import Login, TokenHolder
from lead_router.salesforce.rest import Rest
from lead_router.salesforce.wire import open_session
from org_simulator.clock import ManualClock
from org_simulator.switches import Switches
from org_simulator.wire import start
from org_simulator.wire.adapter import OrgAdapter

START = datetime(2026, 11, 23, 8, 0, tzinfo=UTC)
LEADS = 30
DAYS = 7


class Audited:
    """An org that knows standard objects alone, with reps, a router and a second automation, and a client before it."""

    def __init__(self, folder, *, lead_history: bool = True, switches: Switches | None = None) -> None:
        (folder / "objects").mkdir()
        self.clock = ManualClock(START)
        self.world = start.world(
            metadata=folder, clock=self.clock, seed=5, lead_history=lead_history, switches=switches
        )
        self.org = self.world.org
        self.asked: list[tuple[str, str]] = []
        self.world.before.append(lambda request: self.asked.append((request.method, request.target)))
        self.people = {
            name: self.insert("User", LastName=name, Username=f"{name}@audited.example")
            for name in ("Ana", "Ben", "Cleo", "Router", "Sync", "Gone")
        }
        self.queue = self.org.queue_id("Default_Assigned")
        self.leads: list[str] = []
        self.doubled: list[str] = []

    def insert(self, sobject: str, *, by: str | None = None, **fields) -> str:
        with self.org.transaction(by or self.org.admin_user_id, auto_assign=False) as opened:
            return str(opened.insert(sobject, fields))

    def give(self, lead: str, owner: str, by: str) -> None:
        with self.org.transaction(self.people[by], auto_assign=False) as opened:
            opened.update("Lead", lead, {"OwnerId": self.people[owner]})

    def live(self) -> None:
        """Leads that the router gives out in turn after three seconds; the sync gives every third to another."""
        for number in range(LEADS):
            self.clock.advance(600)
            lead = self.insert(
                "Lead",
                LastName="Doe",
                Company="Acme",
                OwnerId=self.queue,
                LeadSource="Web",
                Email=f"b{number}@x.example",
            )
            self.clock.advance(3)
            self.give(lead, ("Ana", "Ben", "Cleo")[number % 3], "Router")
            self.leads.append(lead)
            if number % 3 == 0:
                self.clock.advance(60)
                self.give(lead, "Ben", "Sync")
                self.doubled.append(lead)
        with self.org.transaction(self.org.admin_user_id) as opened:
            opened.update("User", self.people["Gone"], {"IsActive": False})

    def rest(self) -> Rest:
        session = open_session(self.world.base_url, adapter=OrgAdapter(self.world))
        login = Login(self.world.base_url, self.world.app.client_id, self.world.app.client_secret)
        return Rest(
            TokenHolder(login, session, now=self.clock.now, sleep=lambda _: None, dice=random.Random(1)), session
        )
