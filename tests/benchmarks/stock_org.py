"""What many leads that wait, and a long ledger, cost the router: calls, memory, seconds."""

from __future__ import annotations

import multiprocessing
import resource
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lead_router.core.keys import to18
from lead_router.jobs import open_store
from lead_router.log import quiet
from lead_router.loops.current import Current
from lead_router.loops.upkeep import PAGE, Upkeep
from lead_router.salesforce.configuration import Intake
from lead_router.salesforce.gateway import SalesforceOrg
from lead_router.salesforce.rest import Rest
from lead_router.salesforce.wire import open_session
from org_simulator.ids import make_id
from org_simulator.switches import Switches
from org_simulator.wire.adapter import OrgAdapter
from support.rest_org import RestOrg
from support.worker_rig import Rig

BATCH = 200


@dataclass(frozen=True, slots=True)
class Swept:
    """A sweep of so many unassigned leads: seconds, API calls, jobs made.

    `grown` are the bytes that the process grew by at most, `resident` the most that it held.
    """

    leads: int
    seconds: float
    again_s: float
    calls: int
    jobs: int
    grown: int
    resident: int


class Crowd(Rest):
    """The production client before an org in which `leads` unassigned leads wait, all like one that is there."""

    def __init__(self, org: RestOrg, leads: int) -> None:
        super().__init__(org.holder, open_session(org.world.base_url, adapter=OrgAdapter(org.world)))
        self._leads = leads
        self._first = org.clock.now() - timedelta(days=30)
        self._like: Mapping[str, Any] = {}
        self._told = 0
        self.asked = 0

    def query(self, soql: str) -> list[dict[str, Any]]:
        """A page of leads, oldest first, where a sweep asks for one."""
        if " FROM Lead " not in soql or "ORDER BY" not in soql or "Queued" in soql:
            return super().query(soql)
        if self._like:
            self.asked += 1
        else:  # the client counts this call
            self._like = super().query(soql)[0]
        page = [self._lead(number) for number in range(self._told, min(self._leads, self._told + PAGE))]
        self._told += len(page)
        return page

    def again(self) -> None:
        """The next sweep begins with the oldest lead."""
        self._told = 0

    def _lead(self, number: int) -> dict[str, Any]:
        created = (self._first + timedelta(seconds=number)).strftime("%Y-%m-%dT%H:%M:%S.000+0000")
        mail = f"buyer{number}@crowd.example"
        return {**self._like, "Id": to18(make_id("00Q", 10_000_000 + number)), "CreatedDate": created, "Email": mail}


def swept(leads: int) -> Swept:
    """In a process of its own, whose memory is nobody else's."""
    ours, theirs = multiprocessing.get_context("spawn").Pipe()
    child = multiprocessing.get_context("spawn").Process(target=_sweep, args=(leads, theirs))
    child.start()
    theirs.close()
    try:
        return ours.recv()
    finally:
        child.join()


def _sweep(leads: int, pipe: Connection) -> None:
    with quiet():
        pipe.send(_swept(leads))


def _swept(leads: int) -> Swept:
    org = RestOrg(Switches())
    org.lead("buyer@crowd.example", OwnerId=org.org.queue_id("Lead_Intake"))
    rest = Crowd(org, leads)
    client = SalesforceOrg(rest, Intake(), now=org.clock.now)
    current = Current(client.configuration())
    with TemporaryDirectory(prefix="lead-router-stock-") as folder:
        upkeep = Upkeep(
            client,
            open_store(f"sqlite:///{Path(folder) / 'jobs.db'}", org_id=org.org.org_id),
            current,
            org_id=org.org.org_id,
            now=org.clock.now,
            monotonic=org.clock.monotonic,
            configuration_every_s=1e9,
            sweep_every_s=0.0,
            keep_done_s=1e9,
            wake=lambda: None,
            silent_after_s=60.0,
        )
        with closing(upkeep):
            before, calls = _resident(), rest.usage().calls
            start = time.perf_counter()
            upkeep.step()
            first = time.perf_counter() - start
            resident = _resident()
            asked = rest.asked + rest.usage().calls - calls
            rest.again()
            start = time.perf_counter()
            upkeep.step()
            again = time.perf_counter() - start
        with closing(open_store(f"sqlite:///{Path(folder) / 'jobs.db'}", org_id=org.org.org_id)) as store:
            jobs = store.queue().queued
    return Swept(leads, first, again, asked, jobs, resident - before, resident)


def _resident() -> int:
    """The most that the process has ever held, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@dataclass(frozen=True, slots=True)
class Routed:
    """200 leads routed before a ledger of so many rows: API calls, and seconds of the client and the simulated org."""

    ledger: int
    calls: int
    seconds: float


def routed(ledgers: Sequence[int], turns: int) -> Iterator[Routed]:
    """Route batch after batch; the ledger grows by the rows of former leads."""
    with TemporaryDirectory(prefix="lead-router-stock-") as folder:
        rig = Rig(Path(folder))
        with closing(rig):
            for rows in ledgers:
                _lengthen(rig, rows)
                took = []
                calls = 0
                for _ in range(turns):
                    rig.leads(BATCH)
                    before, start = rig.calls(), time.perf_counter()
                    rig.drain()
                    took.append(time.perf_counter() - start)
                    calls = rig.calls() - before
                yield Routed(rows, calls, sorted(took)[len(took) // 2])


def _lengthen(rig: Rig, rows: int) -> None:
    """Rows of the ledger like those that the router writes, each of a lead of its own, until there are so many."""
    table = rig.org.store.tables["lead_assignment__c"]
    group = rig.rest_org.refs["emea"]
    with rig.org.transaction(rig.org.admin_user_id, auto_assign=False) as opened:
        for number in range(len(table.rows), rows):
            lead = make_id("00Q", 20_000_000 + number)
            keys = {"Idempotency_Key__c": f"old.{number}", "Lead_Key__c": f"{lead}.1", "Turn_Key__c": f"old.1.{number}"}
            opened.insert("Lead_Assignment__c", {"Group__c": group, "Outcome__c": "Assigned", **keys})
