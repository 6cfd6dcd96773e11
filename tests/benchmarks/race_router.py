"""The router itself in the race: jobs in its PostgreSQL store, its workers, commits to a simulated org over HTTP."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from benchmarks.figures import USER_PREFIX
from benchmarks.race_judge import Given
from benchmarks.race_ways import deliveries
from lead_router.app.assembly import Assembly
from lead_router.app.wiring import wire
from lead_router.core.keys import create_key
from lead_router.core.model import Batch
from lead_router.demo.witness import Witness
from lead_router.jobs import SqlJobStore, open_store
from lead_router.loops.breaker import Breaker
from lead_router.loops.current import Current
from lead_router.loops.vitals import Vitals
from lead_router.ports import Committed, NewJob, Org, Receipt
from lead_router.settings import Settings, load
from support.company import scenario
from support.router import environment
from support.simulator import Simulator, simulator
from support.third_program import THREADS, Form

WORKERS = 4
RECORDERS = 25
TOGETHER = 200
SETTLE_S = 300.0
IDLE_S = 0.1  # an idle worker looks anyway; whoever recorded a job wakes it before
LOOK_S = 0.03
GROUP = "all"
LIMITS = {"connect_timeout_s": "5", "read_timeout_s": "30", "lease_s": "120", "workers": str(WORKERS)}


class Counted:
    """The production client, which counts commits that the org refused: mostly, as others had the turns first."""

    def __init__(self, inner: Org) -> None:
        self._inner = inner
        self._lock = threading.Lock()
        self.refused = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def commit(self, batch: Batch) -> Receipt:
        receipt = self._inner.commit(batch)
        if not isinstance(receipt, Committed):
            with self._lock:
                self.refused += 1
        return receipt


@dataclass
class Course:
    """An org with one group, a job database, and the stores of those who hear of leads; races follow one another."""

    org: Simulator
    org_id: str
    form: Form
    assembly: Assembly
    counted: Counted
    recorders: Sequence[SqlJobStore]
    watcher: SqlJobStore
    reps: Sequence[str]
    known: dict[str, int] = field(default_factory=dict)
    starts: list[float] = field(default_factory=list)

    def race(self, leads: int, seed: int, batch_max: int) -> int:
        """All leads are told of at once, one in twenty twice; the answer is how many commits were refused.

        They are in the org before, as with every way. Each recorder has its share of them in one transaction.
        """
        ids = self._created(leads)
        told = [ids[lead - 1] for lead in deliveries(leads, random.Random(seed))]
        refused, number = self.counted.refused, len(self.starts)
        self.known |= dict.fromkeys(ids, number)
        shares = [told[place :: len(self.recorders)] for place in range(len(self.recorders))]
        gate = threading.Barrier(len(shares) + WORKERS, action=lambda: self.starts.append(time.time()))
        over, heard = threading.Event(), threading.Event()
        threads = [
            threading.Thread(target=self._record, args=(store, share, gate, heard))
            for store, share in zip(self.recorders, shares, strict=True)
        ]
        threads += [
            threading.Thread(target=self._work, args=(worker, batch_max, gate, over, heard))
            for worker in range(WORKERS)
        ]
        for thread in threads:
            thread.start()
        until = time.monotonic() + SETTLE_S
        try:
            while self._open() and time.monotonic() < until:
                time.sleep(LOOK_S)
        finally:
            over.set()
            heard.set()
            for thread in threads:
                thread.join()
        return self.counted.refused - refused

    def given(self) -> list[tuple[Given, ...]]:
        """The ledger by race, in order of commit, by the commit times of the org's change events."""
        found: list[list[Given]] = [[] for _ in self.starts]
        owned = self._owned()
        for row in self.org.rows("Lead_Assignment__c"):
            lead_id = row["Lead__c"]
            number = self.known[lead_id]
            at = owned[lead_id] - self.starts[number]
            found[number].append(Given(lead_id, row["Assigned_To__c"], int(row["Turn__c"]), at))
        return [tuple(sorted(one, key=lambda given: (given.at_s, given.turn))) for one in found]

    def sizes(self) -> list[int]:
        """How many leads each race had."""
        counts = Counter(self.known.values())
        return [counts[number] for number in range(len(self.starts))]

    def _owned(self) -> dict[str, float]:
        """When each lead first came to a person."""
        owned: dict[str, float] = {}
        with closing(Witness(self.org.url)) as witness:
            for change in witness.lead_changes():
                header = change["ChangeEventHeader"]
                if header["changeType"] != "CREATE" and str(change.get("OwnerId", "")).startswith(USER_PREFIX):
                    for lead_id in header["recordIds"]:
                        owned.setdefault(lead_id, header["commitTimestamp"] / 1000)
        return owned

    def _created(self, leads: int) -> list[str]:
        first = len(self.known)
        buyers = [
            {"LastName": f"Buyer {number}", "Company": "Buyers Ltd", "Email": f"buyer{number}@buyer.example"}
            for number in range(first, first + leads)
        ]
        return self.form.post_all(buyers, threads=THREADS, together=TOGETHER)

    def _record(
        self, store: SqlJobStore, lead_ids: Sequence[str], gate: threading.Barrier, heard: threading.Event
    ) -> None:
        jobs = [
            NewJob(create_key(self.org_id, lead_id), lead_id, lead_id, {"event_at": datetime.now(UTC).isoformat()})
            for lead_id in lead_ids
        ]
        gate.wait()
        if jobs:
            store.record(jobs)
            heard.set()

    def _work(
        self, number: int, batch_max: int, gate: threading.Barrier, over: threading.Event, heard: threading.Event
    ) -> None:
        limited = replace(self.assembly, settings=self.assembly.settings.model_copy(update={"batch_max": batch_max}))
        with closing(limited.worker(number + 1)) as worker:
            gate.wait()
            while not over.is_set():
                if not worker.step():
                    heard.wait(IDLE_S)
                    heard.clear()

    def _open(self) -> bool:
        queue = self.watcher.queue()
        return queue.done < len(self.known) or queue.queued + queue.working > 0


@contextmanager
def course(database: str, reps: int, recorders: int = RECORDERS) -> Iterator[Course]:
    """A course while the block lasts: a simulated org as a process of its own, the router's parts in this one."""
    names = [f"Rep{number:02d}" for number in range(reps)]
    with ExitStack() as opened:
        org = opened.enter_context(simulator(scenario=scenario({GROUP: dict.fromkeys(names, 1)})))
        settings = load(environment(org, database, **LIMITS))
        assembly, counted = _assembled(settings)
        watcher, *stores = [
            opened.enter_context(closing(open_store(database, org_id=assembly.org_id))) for _ in range(recorders + 1)
        ]
        users = [row["Id"] for row in org.rows("User") if row["LastName"] in names]
        yield Course(org, assembly.org_id, Form(org), assembly, counted, stores, watcher, users)


def _assembled(settings: Settings) -> tuple[Assembly, Counted]:
    """What `lead-router run` makes of its settings, up to the loops."""
    wired = wire(settings)
    counted = Counted(wired.org)
    current, breaker = Current(wired.org.configuration()), Breaker(time.monotonic)
    vitals = Vitals(time.monotonic, patience_s=SETTLE_S)
    org_id = wired.tokens.token().org_id
    parts = replace(wired, org=counted)  # type: ignore[arg-type]
    return Assembly(settings, parts, current, org_id, breaker, vitals, lambda: None), counted
