"""A group with a first-touch clock, stepped by hand: the production loops against a simulated org without sockets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from lead_router.core.model import ALL_LIVE
from lead_router.loops.current import Current
from lead_router.loops.firsttouch import FirstTouch
from lead_router.salesforce.configuration import Intake
from lead_router.salesforce.names import Permissions
from support.worker_rig import Interrupted, Rig

EVERY_S = 30.0
STEP_S = 60.0


@dataclass
class Office(Rig):
    """A group of Ann and Bob, Cid and Dan, whose manager is Mia, with a quarter of an hour for each lead."""

    intake: Intake = field(default_factory=lambda: Intake(rollout=ALL_LIVE))

    def __post_init__(self) -> None:
        super().__post_init__()
        org = self.rest_org
        org.assign(Permissions.ACTIVITIES_SET)
        self.group = org.refs["emea"]
        for place, name in enumerate(("cid", "dan"), start=3):
            user = org.refs[name] = org.insert("User", Username=f"{name}@sim.example", LastName=name.title())
            org.refs[f"{name}_emea"] = org.insert(
                "Round_Robin_Member__c", Group__c=self.group, User__c=user, Sort_Order__c=place
            )
        org.refs["mia"] = org.insert("User", Username="mia@sim.example", LastName="Mia")
        org.update(self.group, Accept_Within__c=15, Manager__c=org.refs["mia"])
        self.router = self.worker()
        self.loop = self.looks()
        self.loop.step()

    def looks(self, client: Interrupted | None = None, now: Callable[[], datetime] | None = None) -> FirstTouch:
        client = client or self.connect()
        return FirstTouch(
            client,
            self.open(),
            Current(client.configuration()),
            org_id=self.org.org_id,
            now=now or self.clock.now,
            monotonic=self.clock.monotonic,
            every_s=EVERY_S,
            wake=lambda: None,
        )

    def anew(self) -> None:
        """A router that was started again, with what people have changed since."""
        self.router, self.loop = self.worker(), self.looks()

    def given(self, **fields: Any) -> str:
        """A lead that Ann has just been given."""
        (lead,) = self.leads(1, **fields)
        self.drain()
        return lead

    def passes(self, minutes: float) -> None:
        """Time goes on, with a look each minute."""
        for _ in range(round(minutes * 60 / STEP_S)):
            self.clock.advance(STEP_S)
            self.loop.step()
            self.drain()

    def marks(self) -> list[tuple[str, int, str]]:
        found = self.store.touch_marks(since=self.clock.now() - timedelta(days=30))
        return [(one.lead_id, one.round, one.mark.value) for one in found]

    def rounds(self) -> list[tuple[str, str]]:
        """To whom, and how, the ledger's rows gave leads, in their order."""
        rows = sorted(self.ledger(), key=lambda row: row["Round__c"])
        return [(str(self.rest_org.row(row["Assigned_To__c"])["LastName"]), row["Outcome__c"]) for row in rows]

    def logs_call(self, lead: str, by: str = "ann", **fields: Any) -> str:
        """A completed task of a rep's."""
        named = {"WhoId": lead, "Subject": "Call", "Status": "Completed", "TaskSubtype": "Call", **fields}
        with self.org.transaction(self.rest_org.refs[by]) as opened:
            return str(opened.insert("Task", named))
