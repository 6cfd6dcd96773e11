"""`python -m benchmarks.streams` (with tests on the path): events a second, from the wire to a committed job row.

The simulated org is a process of its own and holds the events before anybody subscribes; what is measured is the
production source, intake and job store of this process, over CometD and over Pub/Sub API in turns. Beside them the bare
receive loop of aiosfstream-ng, which stores nothing: the most that a CometD client of its kind would leave to intake.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from aiosfstream_ng import Client, ReplayOption
from aiosfstream_ng.auth import AuthenticatorBase

from benchmarks.report import HERE, machine
from lead_router.core.ids import to18
from lead_router.jobs import open_store
from lead_router.log import configure
from lead_router.loops.current import Current
from lead_router.loops.intake import Intake
from lead_router.ports import EventSource
from lead_router.salesforce.changes import own_change
from lead_router.salesforce.cometd import CometdSource
from lead_router.salesforce.pubsub import PubSubSource, position_name
from org_simulator.clock import SystemClock
from org_simulator.schema import default_metadata, load
from support.lead_events import lead_id
from support.postgres import serving
from support.pubsub_served import pubsub_served
from support.served import served
from support.stream_org import INTEGRATION, LEAD, ORG_ID, StreamOrg
from support.worker_rig import Rig

EVENTS = 5_000
ORG = to18(ORG_ID[:15])
RUNS = 3
WITHIN_S = 120.0
PEER = "aiosfstream-ng, nothing stored"


@dataclass(frozen=True, slots=True)
class Org:
    """Where the org is and who may hear it."""

    url: str
    address: str
    token: str

    def login(self, _refused: str | None) -> SimpleNamespace:
        """As `TokenHolder.token` is called."""
        return SimpleNamespace(access_token=self.token, instance_url=self.url)


def main(words: Sequence[str] | None = None) -> int:
    """Print the table, and write all figures to a JSON file."""
    parser = argparse.ArgumentParser("python -m benchmarks.streams", description="Events a second, wire to job row.")
    parser.add_argument("--events", type=int, default=EVENTS)
    parser.add_argument("--runs", type=int, default=RUNS, help="of each way, in turns; medians are told")
    parser.add_argument("--json", type=Path, default=HERE / "streams.json", metavar="FILE")
    options = parser.parse_args(words)
    configure("error")
    started = machine()
    seen = figures(options.events, options.runs)
    rows = [f"{'way':<32} events/s (median)   all runs"]
    for way, rates in seen.items():
        rows.append(f"{way:<32} {statistics.median(rates):>17,.0f}   {', '.join(f'{rate:,.0f}' for rate in rates)}")
    sys.stdout.write("\n".join((*rows, f"{options.events:,} events; {started}")) + "\n")
    written = {"machine": started, "events": options.events, "events_per_s": seen}
    options.json.write_text(json.dumps(written, indent=2) + "\n", encoding="utf-8")
    return 0


def figures(events: int, runs: int) -> dict[str, list[float]]:
    """Events a second of each way, in the order of the runs."""
    with ExitStack() as opened:
        org = opened.enter_context(_served(events))
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="lead-router-streams-")))
        server = opened.enter_context(serving())
        current = Current(Rig(folder).client.configuration())
        ways: dict[str, Callable[[], float]] = {PEER: partial(_by_peer, org, events)}
        for source in (_cometd, _pubsub):
            name = {"_cometd": "CometD", "_pubsub": "Pub/Sub API"}[source.__name__]
            ways[f"{name}, SQLite"] = partial(_stored, source, org, current, events, partial(_file, folder))
            ways[f"{name}, PostgreSQL"] = partial(_stored, source, org, current, events, server.new_database)
        seen: dict[str, list[float]] = {way: [] for way in ways}
        for run in range(1, runs + 1):
            for way, took in ways.items():
                seen[way].append(events / took())
                sys.stderr.write(f"run {run} of {runs}: {way}: {seen[way][-1]:,.0f} events/s\n")
    return seen


def _cometd(org: Org, store: Any) -> EventSource:
    return CometdSource(
        channel=LEAD,
        token=org.login,
        load_position=lambda: store.position(LEAD),
        dice=random.Random(1),
        default_start=-2,
    )


def _pubsub(org: Org, store: Any) -> EventSource:
    return PubSubSource(
        topic=LEAD,
        tenant=ORG,
        endpoint=f"http://{org.address}",
        token=org.login,
        load_position=lambda: store.position(position_name(LEAD)),
        dice=random.Random(1),
    )


def _stored(
    source: Callable[[Org, Any], EventSource], org: Org, current: Current, events: int, new: Callable[[], str]
) -> float:
    """Seconds from the first call to the last job's commit, in an empty database."""
    with closing(open_store(new(), org_id=ORG)) as store:
        intake = Intake(
            source(org, store),
            store,
            current,
            channel=LEAD,
            org_id=ORG,
            own=partial(own_change, user_id=INTEGRATION),
            wait_s=1.0,
            wake=lambda: None,
        )
        began = time.perf_counter()
        while intake.heard < events:
            if time.perf_counter() - began > WITHIN_S:
                raise TimeoutError(f"{intake.heard} of {events} events in {WITHIN_S:.0f} s: {intake.state()}")
            intake.step()
        took = time.perf_counter() - began
        if store.queue().queued != events:
            raise AssertionError(f"{store.queue()} of {events} events")
        intake.close()
    return took


def _file(folder: Path) -> str:
    return f"sqlite:///{folder / f'{time.monotonic_ns()}.db'}"


class _SignedIn(AuthenticatorBase):  # type: ignore[misc]
    """The package's own extension point for a session that exists already."""

    def __init__(self, org: Org) -> None:
        super().__init__()
        self._answer = {"access_token": org.token, "token_type": "Bearer", "instance_url": org.url}

    async def _authenticate(self) -> tuple[int, dict[str, str]]:
        return 200, self._answer


def _by_peer(org: Org, events: int) -> float:
    async def received() -> float:
        began = time.perf_counter()
        async with Client(_SignedIn(org), replay=ReplayOption.ALL_EVENTS) as client:
            await client.subscribe(LEAD)
            for _ in range(events):
                await client.receive()
            return time.perf_counter() - began

    with asyncio.Runner() as runner:
        runner.get_loop().set_exception_handler(lambda *_: None)  # it cancels its own poll, and says so
        return runner.run(received())


class _served:  # noqa: N801 - a context as a function would give
    """The org in a process of its own, with so many leads created."""

    def __init__(self, events: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._ours, theirs = context.Pipe()
        self._child = context.Process(target=_serve, args=(theirs, events))
        self._child.start()

    def __enter__(self) -> Org:
        return self._ours.recv()  # type: ignore[no-any-return]

    def __exit__(self, *_: object) -> None:
        self._ours.send("end")
        self._child.join()


def _serve(pipe: Connection, events: int) -> None:
    configure("error")
    org = StreamOrg(clock=SystemClock(), schema=load(default_metadata()))
    for number in range(events):
        values = {"LastName": f"Doe {number}", "Company": "Acme", "Email": f"doe{number}@acme.example", "Country": "DE"}
        org.commit(org.change(lead_id(number), **values))
    with served(org) as url, pubsub_served(org) as endpoint:
        pipe.send(Org(url, endpoint.address, org.sessions.issue(INTEGRATION)))
        pipe.recv()


if __name__ == "__main__":
    sys.exit(main())
