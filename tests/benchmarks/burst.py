"""Leads that arrive at once, or one by one, given out by the router or by the loop that one writes first."""

from __future__ import annotations

import json
import random
import re
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simple_salesforce.exceptions import SalesforceError

from benchmarks.bare import bare
from benchmarks.figures import TOGETHER, Burst, Lone, Play, burst, commits
from benchmarks.lone_stages import staged
from benchmarks.report import HERE
from lead_router.demo.witness import Witness
from lead_router.jobs import open_store
from lead_router.ports import JobStore
from support.company import scenario
from support.router import PROGRAM, Router, environment, routers, until
from support.simulator import Simulator, simulator
from support.third_program import THREADS, Form, log_in

REPS = 5  # of each group
SETTLE_S = 600.0
LONE_S = 30.0
BARE = 30  # leads by two bare round trips
MARKS = "marks.json"
LOOK_S = 0.01
PAUSE_S = (0.05, 0.25)  # between lone leads, uneven, so that they keep no step with any timer
DEFAULTS = {"connect_timeout_s": "5", "read_timeout_s": "30", "lease_s": "60", "poll_s": "0.5"}
UNASSIGNED = {"Sforce-Auto-Assign": "FALSE"}
MIB_KB = 1024


@dataclass(frozen=True, slots=True)
class Running:
    """`lead-router run` with its default settings, subscribed, and the org and the job database it works on."""

    org: Simulator
    router: Router
    jobs: JobStore

    def memory_mb(self, name: str) -> float:
        """What Linux tells of its memory: VmRSS for now, VmHWM for the most so far. 0 where it is another system."""
        status = Path(f"/proc/{self.router.process.pid}/status") if self.router.process else Path()
        found = re.search(rf"^{name}:\s+(\d+) kB", status.read_text("ascii") if status.is_file() else "", re.MULTILINE)
        return int(found[1]) / MIB_KB if found else 0.0


def by_router(play: Play) -> Burst:
    """The router's calls and no one else's; it hears the stream before the leads come."""
    with _running(play) as running:
        form = Form(running.org)
        before = _calls(running.org)
        own = _post(form, play)
        until(lambda: _idle(running.jobs, play.leads), SETTLE_S, "every lead's job done")
        api_calls = _calls(running.org) - before - own
        peak_mb = running.memory_mb("VmHWM")
        running.router.stop()
        return _seen(running.org, play, api_calls, peak_mb=peak_mb)


def lone(leads: int, latency_ms: int) -> Lone:
    """Leads that come one by one, each when the one before has its owner and the router has been idle for a while.

    One more comes before them and is not counted: org and router do for it what they do once.

    Then some by two bare round trips each, on the same org without the router.
    """
    dice = random.Random(leads)
    with _running(Play(leads, 1, latency_ms), program=(str(HERE / "lone_router.py"), MARKS)) as running:
        form = Form(running.org)
        for number in range(leads + 1):
            time.sleep(dice.uniform(*PAUSE_S))
            form.post(_buyer(number, 1))
            _await(running.jobs, number + 1)
        rest_mb = running.memory_mb("VmRSS")
        running.router.stop()
        with closing(Witness(running.org.url)) as witness:
            created, owned = commits(witness.lead_changes())
        del created[next(iter(created))]
        marks = json.loads((running.router.folder / MARKS).read_text("ascii"))
        trips = bare(running.org, [_buyer(number, 1) for number in range(leads + 1, leads + 1 + BARE)])
    waits = tuple(float(owned[one] - created[one]) for one in created)
    read_ms, write_ms = (statistics.median(several) for several in zip(*trips, strict=True))
    both = sorted(read + write for read, write in trips)
    stages = staged(created, owned, marks, (read_ms, write_ms))
    return Lone(latency_ms, waits, statistics.median(both), rest_mb, both[-1], stages)


def by_loop(play: Play, threads: int = 1) -> Burst:
    """Three calls per lead with simple-salesforce: read whose turn it is, give the lead away, write the turn.

    It holds no promise: it neither survives a crash between two calls, nor a second copy of itself, nor a person who
    takes a lead meanwhile. It is told the leads' ids and the reps for free, is logged in before its time begins, and
    never has to wait for an event. In threads it need not even keep its rotation: two may read the same turn and give
    two leads to one rep; what was lost is told by how far the groups' turns came.
    """
    with _org(play) as org:
        form = Form(org)
        _post(form, play)
        salesforce = log_in(org, None, connections=threads)
        users = {row["LastName"]: row["Id"] for row in org.rows("User")}
        turns, before = _turns(org), _calls(org)

        def give(place: int) -> None:
            group = place % play.groups
            (state,) = salesforce.query(_state(group))["records"]
            epoch, turn = int(state["Epoch__c"] or 0), int(state["Turn__c"] or 0)
            owner = users[_rep(group, turn % REPS)]
            salesforce.Lead.update(form.created[place], {"OwnerId": owner}, headers=UNASSIGNED)
            moved = {"Turn__c": turn + 1, "Expected_Turn__c": f"{epoch}.{turn}"}
            with suppress(SalesforceError):  # another thread moved it on meanwhile
                salesforce.Round_Robin_Group__c.update(state["Id"], moved)

        began_ms = int(time.time() * 1000)
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(give, range(play.leads)))
        api_calls, lost = _calls(org) - before, play.leads - (_turns(org) - turns)
        return _seen(org, play, api_calls, lost=lost, began_ms=began_ms)


def _turns(org: Simulator) -> int:
    """How far all groups' rotations have come."""
    return sum(int(row["Turn__c"] or 0) for row in org.rows("Round_Robin_Group__c"))


def _state(group: int) -> str:
    return f"SELECT Id, Epoch__c, Turn__c FROM Round_Robin_Group__c WHERE Key__c = '{_key(group)}'"


def _key(group: int) -> str:
    return f"group{group}"


def _rep(group: int, place: int) -> str:
    return f"Rep{group}x{place}"


@contextmanager
def _org(play: Play) -> Iterator[Simulator]:
    groups = {_key(group): {_rep(group, place): 1 for place in range(REPS)} for group in range(play.groups)}
    lands = {_key(group): f"Land {group}" for group in range(play.groups)}
    with simulator("--latency-ms", str(play.latency_ms), scenario=scenario(groups, lands)) as org:
        yield org


@contextmanager
def _running(play: Play, program: Sequence[str] = PROGRAM) -> Iterator[Running]:
    with ExitStack() as opened:
        org = opened.enter_context(_org(play))
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="lead-router-burst-")))
        router = Router(folder, environment(org, "sqlite:///jobs.db", **DEFAULTS), program)
        opened.enter_context(routers(router))
        router.await_event("leads_swept")
        database = f"sqlite:///{folder / 'jobs.db'}"
        jobs = opened.enter_context(closing(open_store(database, org_id=org.control("state")["org_id"])))
        yield Running(org, router, jobs)


def _post(form: Form, play: Play) -> int:
    """All leads at once, each of another buyer; answers how many API calls that took."""
    answers: list[int] = []
    form.salesforce.session.hooks["response"].append(lambda answer, **_: answers.append(answer.status_code))
    buyers = [_buyer(number, play.groups) for number in range(play.leads)]
    form.post_all(buyers, threads=THREADS, together=TOGETHER)
    return len(answers)


def _buyer(number: int, groups: int) -> dict[str, str]:
    email, land = f"buyer{number}@buyer.example", f"Land {number % groups}"
    return {"LastName": f"Buyer {number}", "Company": "Buyers Ltd", "Email": email, "Country": land}


def _calls(org: Simulator) -> int:
    return int(org.control("state")["api_calls"])


def _await(jobs: JobStore, done: int) -> None:
    """Until so many jobs are done; looks often, as nothing else is asked meanwhile."""
    deadline, rest = time.monotonic() + LONE_S, threading.Event()
    while jobs.queue().done < done:
        if time.monotonic() > deadline:
            raise TimeoutError(f"lead {done} has no owner after {LONE_S:g} s")
        rest.wait(LOOK_S)


def _idle(jobs: JobStore, leads: int) -> bool:
    """Whether all is done; asked of the database, so that waiting costs the org nothing."""
    queue = jobs.queue()
    return queue.done >= leads and queue.queued == queue.working == 0


def _seen(org: Simulator, play: Play, api_calls: int, **more: Any) -> Burst:
    with closing(Witness(org.url)) as witness:
        return burst(witness.lead_changes(), play.leads, api_calls, **more)
