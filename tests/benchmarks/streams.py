"""`python -m benchmarks.streams` (with tests on the path): events a second, from the wire to a committed job row.

The simulated org is a process of its own and holds the events before anybody subscribes; what is measured is the
production source, intake and job store, in a thread of their own as the router has them, over CometD and over Pub/Sub
API in turns. Beside them what bounds them: the bare receive loop of aiosfstream-ng, and a bare gRPC call that asks for
100 events whenever it has 100 and looks into none of them. Neither stores anything.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from aiosfstream_ng import Client, ReplayOption
from aiosfstream_ng.auth import AuthenticatorBase
from grpc.aio import insecure_channel

from benchmarks.named import put, told
from benchmarks.report import HERE, machine, rewritten
from benchmarks.streams_report import PEER, named, ratio_table, section, table
from lead_router.core.ids import to18
from lead_router.jobs import open_store
from lead_router.log import configure
from lead_router.loops.current import Current
from lead_router.loops.intake import Intake
from lead_router.ports import EventSource
from lead_router.salesforce import eventbus
from lead_router.salesforce.changes import own_change
from lead_router.salesforce.cometd import CometdSource
from lead_router.salesforce.pubsub import PubSubSource, position_name
from lead_router.salesforce.pubsub_call import PENDING_MAX
from org_simulator.clock import SystemClock
from org_simulator.cometd import Terms
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
CALM = Terms(poll_s=0.5, reconnect_s=40.0)  # a busy machine ends no session
BARE = "bare gRPC call, nothing read"


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
    parser.add_argument("--record", action="store_true", help="write the section of REPORT.md and named figures anew")
    parser.add_argument("--again", action="store_true", help="tell of what the JSON file holds, and measure nothing")
    options = parser.parse_args(words)
    configure("error")
    if options.again:
        written = json.loads(options.json.read_text("utf-8"))
    else:
        written = {"machine": machine(), "events": options.events, "events_per_s": rates(options.events, options.runs)}
        options.json.write_text(json.dumps(written, indent=2) + "\n", encoding="utf-8")
    seen = written["events_per_s"]
    figures = named(seen)
    lines = (*table(seen), "", *ratio_table(seen), "", told(figures), written["machine"])
    sys.stdout.write("\n".join(lines) + "\n")
    if options.record:
        report = HERE / "REPORT.md"
        report.write_text(rewritten(report.read_text("utf-8"), section(written)), encoding="utf-8")
        put(figures)
    return 0


def rates(events: int, runs: int) -> dict[str, list[float]]:
    """Events a second of each way, in the order of the runs."""
    with ExitStack() as opened:
        org = opened.enter_context(_served(events))
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="lead-router-streams-")))
        server = opened.enter_context(serving())
        thread = opened.enter_context(ThreadPoolExecutor(1))  # in the main one, asyncio waits for Ctrl-C, at a price
        current = Current(Rig(folder).client.configuration())
        ways: dict[str, Callable[[], float]] = {PEER: partial(_by_peer, org, events), BARE: partial(_bare, org, events)}
        for name, source in (("CometD", _cometd), ("Pub/Sub API", _pubsub)):
            ways[f"{name}, SQLite"] = partial(_stored, source, org, current, events, partial(_file, folder))
            ways[f"{name}, PostgreSQL"] = partial(_stored, source, org, current, events, server.new_database)
        _bare(org, events)  # the org makes each event's body once, as an event bus does: not in the first way's time
        seen: dict[str, list[float]] = {way: [] for way in ways}
        for run in range(1, runs + 1):
            for way, took in ways.items():
                seen[way].append(events / thread.submit(took).result())
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


def _bare(org: Org, events: int) -> float:
    """Seconds until so many events have come, the next 100 asked for when 100 are there."""

    async def received() -> float:
        metadata = (("accesstoken", org.token), ("instanceurl", org.url), ("tenantid", ORG))
        async with insecure_channel(org.address) as channel:
            began, came = time.perf_counter(), 0
            call = channel.stream_stream(
                eventbus.SUBSCRIBE,
                request_serializer=eventbus.FetchRequest.SerializeToString,
                response_deserializer=eventbus.FetchResponse.FromString,
            )(metadata=metadata)
            preset = eventbus.ReplayPreset.EARLIEST
            first = eventbus.FetchRequest(topic_name=LEAD, replay_preset=preset, num_requested=PENDING_MAX)
            await call.write(first)
            while came < events:
                came += len((await call.read()).events)
                if came % PENDING_MAX == 0:
                    await call.write(eventbus.FetchRequest(topic_name=LEAD, num_requested=PENDING_MAX))
            call.cancel()
            return time.perf_counter() - began

    return asyncio.run(received())


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
    with served(org, CALM) as url, pubsub_served(org) as endpoint:
        pipe.send(Org(url, endpoint.address, org.sessions.issue(INTEGRATION)))
        pipe.recv()


if __name__ == "__main__":
    sys.exit(main())
