"""A worker stepped by hand: the production loop, client and SQLite store against a simulated org without sockets."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lead_router.core.keys import create_key, submission_of
from lead_router.core.model import Batch, Configuration, Lead, Snapshot
from lead_router.jobs import SqlJobStore, open_store
from lead_router.loops.breaker import Breaker
from lead_router.loops.current import Current
from lead_router.loops.upkeep import Upkeep
from lead_router.loops.worker import Worker
from lead_router.ports import JobView, NewJob, Receipt
from lead_router.ports.meter import NO_METER, Meter
from lead_router.ports.notices import ChannelsOf, nowhere
from lead_router.salesforce.configuration import Intake
from lead_router.salesforce.gateway import SalesforceOrg
from org_simulator.formula import compile_formula
from org_simulator.sobjects import Rule
from org_simulator.switches import Switches
from support.rest_org import RestOrg

LEASE_S = 120.0


class Interrupted(SalesforceOrg):
    """The production client; a test may let something happen after a read or before a write or a sweep."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self.after_read: list[Callable[[], None]] = []
        self.before_write: list[Callable[[], None]] = []
        self.before_sweep: list[Callable[[], None]] = []
        self.each_page: Callable[[], None] | None = None
        self.batches: list[Batch] = []

    def snapshot(
        self, configuration: Configuration, lead_ids: Sequence[str], submission_keys: Sequence[str]
    ) -> Snapshot:
        found = super().snapshot(configuration, lead_ids, submission_keys)
        if self.after_read:
            self.after_read.pop(0)()
        return found

    def commit(self, *batches: Batch) -> Receipt:
        self.batches += batches
        if self.before_write:
            self.before_write.pop(0)()
        return super().commit(*batches)

    def unassigned(self, configuration: Configuration, page: int) -> Iterator[Sequence[Lead]]:
        if self.before_sweep:
            self.before_sweep.pop(0)()
        for leads in super().unassigned(configuration, page):
            if self.each_page is not None:
                self.each_page()
            yield leads

    def calls(self) -> int:
        return self._rest.usage().calls


@dataclass
class Rig:
    """One org, one job database; `worker()` makes one more router of them."""

    path: Path
    switches: Switches = field(default_factory=Switches)
    intake: Intake = field(default_factory=Intake)
    channels: ChannelsOf = nowhere
    database: str = ""
    """The address of the job database; empty: an SQLite file in `path`, whose time is the org's."""

    def __post_init__(self) -> None:
        self.rest_org = RestOrg(self.switches, self.intake)
        self.org = self.rest_org.org
        self.clock = self.rest_org.clock
        self.ahead_s = 0.0  # of the job database's clock, before the org's
        self._stores: list[SqlJobStore] = []
        self.store = self.open()
        self.client = self.connect()
        self.breaker = Breaker(self.clock.monotonic)
        self.router = self.worker()

    def open(self, database: str = "jobs.db") -> SqlJobStore:
        store = open_store(
            self.database or f"sqlite:///{self.path / database}",
            org_id=self.org.org_id,
            clock=lambda: self.clock.now().timestamp() + self.ahead_s,
            max_attempts=3,
            channels=self.channels,
            admitted=bool(self._stores),  # as by a process whose start has opened one
        )
        self._stores.append(store)
        return store

    def connect(self, ending: Callable[[], bool] = lambda: False) -> Interrupted:
        _, rest, _ = self.rest_org.connect(ending=ending)
        return Interrupted(rest, self.intake, now=self.clock.now)

    def worker(
        self,
        client: SalesforceOrg | None = None,
        *,
        name: str = "one",
        store: SqlJobStore | None = None,
        meter: Meter = NO_METER,
    ) -> Worker:
        client = client or self.client
        return Worker(
            client,
            store or self.open(),
            Current(client.configuration()),
            self.breaker,
            name=name,
            now=self.clock.now,
            monotonic=self.clock.monotonic,
            pause=self.clock.advance,
            dice=random.Random(5),
            batch_max=200,
            lease_s=LEASE_S,
            backoff_first_s=2.0,
            backoff_cap_s=300.0,
            meter=meter,
        )

    def upkeep(self, *, org: SalesforceOrg | None = None, **options: Any) -> Upkeep:
        plain: dict[str, Any] = {"configuration_every_s": 30.0, "sweep_every_s": 300.0, "keep_done_s": 86_400.0}
        if "current" not in options:
            plain["current"] = Current(self.client.configuration())
        return Upkeep(
            org or self.client,
            self.open(),
            org_id=self.org.org_id,
            now=self.clock.now,
            monotonic=self.clock.monotonic,
            wake=lambda: None,
            **{**plain, **options},
        )

    def told(self, *lead_ids: str, store: SqlJobStore | None = None) -> None:
        """The stream tells of new leads, by default those who use the rig's own database."""
        configuration = self.client.configuration()
        jobs = []
        for lead_id in lead_ids:
            submission = submission_of(self.rest_org.row(lead_id), configuration)
            payload = {"event_at": self.clock.now().isoformat()}
            jobs.append(NewJob(create_key(self.org.org_id, lead_id), lead_id, lead_id, payload, submission))
        (store or self.store).record(jobs)

    def leads(self, count: int, **fields: Any) -> list[str]:
        """New leads in the intake queue, told of by the stream."""
        made = [self.rest_org.lead(**fields) for _ in range(count)]
        self.told(*made)
        return made

    def calls(self) -> int:
        """API calls that the rig's own router has made."""
        return self.client.calls()

    def drain(self, worker: Worker | None = None, *, steps: int = 50) -> None:
        """Step until no job is due."""
        worker = worker or self.router
        for _ in range(steps):
            if not worker.step():
                return
        raise AssertionError("the worker does not come to an end")

    def lead(self, lead_id: str) -> Any:
        return self.rest_org.row(lead_id)

    def owner(self, lead_id: str) -> str:
        """The owner's last name, or the queue's developer name."""
        owner = self.rest_org.row(self.lead(lead_id)["OwnerId"])
        return str(owner.get("LastName") or owner.get("DeveloperName"))

    def shown(self, lead_id: str) -> tuple[str | None, str | None]:
        """What the lead shows of its job: status and text."""
        row = self.lead(lead_id)
        return row["Routing_Status__c"], row["Routing_Error__c"]

    def ledger(self) -> list[Any]:
        return self.rest_org.rows("Lead_Assignment__c")

    def turns(self) -> list[int]:
        return sorted(int(row["Turn__c"]) for row in self.ledger() if row["Turn_Key__c"])

    def jobs(self) -> list[JobView]:
        return sorted(self.store.jobs(limit=1000), key=lambda job: job.id)

    def outcomes(self) -> list[str]:
        return [job.outcome or job.status for job in self.jobs()]

    def forbid(self, formula: str, message: str, sobject: str = "Lead") -> None:
        """An administrator adds a validation rule."""
        known = self.org.schema.objects[sobject.lower()]
        types = {field.name: field.type for field in known.fields.values()}
        condition = compile_formula(formula, types, frozenset())
        rule = Rule("Local", formula, message, None, active=True, condition=condition)
        self._replace(replace(known, validation_rules=(*known.validation_rules, rule)))

    def allow(self, sobject: str = "Lead") -> None:
        """The administrator takes that rule away."""
        known = self.org.schema.objects[sobject.lower()]
        rules = tuple(rule for rule in known.validation_rules if rule.name != "Local")
        self._replace(replace(known, validation_rules=rules))

    def _replace(self, sobject: Any) -> None:
        name = sobject.name.lower()
        objects = self.org.schema.objects
        assert isinstance(objects, dict)
        objects[name] = sobject
        self.org.store.tables[name].sobject = sobject

    def close(self) -> None:
        for store in self._stores:
            store.close()
