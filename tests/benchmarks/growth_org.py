"""A simulated org in which much happens: a process of its own, which ends on SIGTERM.

Most of what happens needs no routing and is written to the org's event log alone, each time of another lead: changes of
leads that people own, owners changed by people, our own writes come back. New leads are real records, which the
router gives away. The org never runs far ahead of the subscriber, and forgets events that are far behind it.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import signal
import sys
import threading
import time
import uuid
from calendar import day_name
from collections.abc import Iterator
from random import Random
from typing import Any

from aiohttp import web

from org_simulator.cometd import SERVER, protocol
from org_simulator.cometd.server import Server
from org_simulator.events import change_log
from org_simulator.ids import make_id
from org_simulator.wire import scenario, start
from org_simulator.wire.app import build
from org_simulator.wire.world import World
from support.company import scenario as company

LEADS = "/data/LeadChangeEvent"
REPS = ("Ann", "Ben", "Cem", "Dia", "Eli")
TOGETHER = 100  # new leads of one transaction
CHUNK = 500
BACKLOG_MAX = 6_000  # events that the subscriber has not got yet
UNROUTED_MAX = 600
KEPT = 20_000  # events behind it that it may ask for again
LOOK_S = 0.002
FIRST_LEAD = 50_000_000  # above the ids of leads that are there
KINDS = (("changed", 70), ("given", 15), ("ours", 14), ("deleted", 1))


class Feed:
    """Lets things happen until the log has told of `events` of them."""

    def __init__(self, world: World, server: Server, refs: dict[str, str], *, events: int, new: float) -> None:
        self._org = world.org
        self._server = server
        self._log = change_log(world.org)
        self._refs = refs
        self._events = events
        self._new = new
        self._dice = Random(17)
        self._numbers = itertools.count(FIRST_LEAD)
        self._queue = world.org.queue_id("Lead_Intake")
        self._created = 0

    def run(self) -> None:
        """On a thread of its own, which ends with the process."""
        while (told := self._log.state()["published"]) < self._events:
            got = self._got()
            if got is None or told - got > BACKLOG_MAX:
                time.sleep(LOOK_S)
                continue
            if self._created < told * self._new:
                if self._created - len(self._org.store.tables["lead_assignment__c"].rows) >= UNROUTED_MAX:
                    time.sleep(LOOK_S)
                    continue
                self._create()
            self._happen(min(CHUNK, self._events - told))
            self._log.expire(keep=KEPT)

    def _got(self) -> int | None:
        """The serial that the subscriber got last, None while there is none."""
        sessions = tuple(self._server.sessions._all.values())
        return min((one.cursors[LEADS] for one in sessions if LEADS in one.cursors), default=None)

    def _create(self) -> None:
        with self._org.transaction(self._refs["form"], auto_assign=False) as opened:
            for number in range(self._created, self._created + TOGETHER):
                buyer = {"LastName": f"Buyer {number}", "Company": "Buyers Ltd", "Email": f"b{number}@buyer.example"}
                opened.insert("Lead", {"OwnerId": self._queue, **buyer})
        self._created += TOGETHER

    def _happen(self, count: int) -> None:
        kinds, weights = zip(*KINDS, strict=True)
        now = self._org.clock.now()
        with self._log._lock:
            for kind in self._dice.choices(kinds, weights, k=count):
                self._log._append(LEADS, now, self._change(kind, int(now.timestamp() * 1000)))
        self._log.wake()

    def _change(self, kind: str, at_ms: int) -> dict[str, Any]:
        number = next(self._numbers)
        modified = {"LastModifiedDate": "2026-11-30T09:00:00.000Z"}
        fields: dict[str, Any]
        origin, user = "com/salesforce/api/soap/68.0;client=SfdcInternalAPI/", self._refs["person"]
        match kind:
            case "changed":
                address = {"Address": {"City": f"City {number}", "Country": "Norway"}}
                fields = {"Status": "Working - Contacted", "Rating": "Hot", "Phone": f"+47 {number}", **address}
            case "given":
                fields = {"OwnerId": self._refs[self._dice.choice(REPS)]}
            case "ours":
                origin, user = "com/salesforce/api/rest/68.0;client=lead-router", self._org.integration_user_id
                fields = {"OwnerId": self._refs[self._dice.choice(REPS)], "Routing_Status__c": "Assigned"}
            case _:
                fields, modified = {}, {}
        header = {
            "entityName": "Lead",
            "recordIds": [make_id("00Q", number)],
            "changeType": "UPDATE" if fields else "DELETE",
            "changeOrigin": origin,
            "transactionKey": str(uuid.UUID(int=self._dice.getrandbits(128), version=4)),
            "sequenceNumber": 1,
            "commitTimestamp": at_ms,
            "commitNumber": number,
            "commitUser": user,
            "changedFields": [*fields, *modified],
        }
        return {"ChangeEventHeader": header, **fields, **modified}


async def _serve(world: World, refs: dict[str, str], options: argparse.Namespace) -> None:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    app = build(world)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        await web.TCPSite(runner, "localhost", 0).start()
        world.base_url = f"http://localhost:{runner.addresses[0][1]}"
        feed = Feed(world, app[SERVER], refs, events=options.events, new=options.new)
        threading.Thread(target=feed.run, name="feed", daemon=True).start()
        ready = {"url": world.base_url, "certificate": None, "org_id": world.org.org_id}
        sys.stdout.write(json.dumps(ready) + "\n")
        sys.stdout.flush()
        await ended.wait()
    finally:
        await runner.cleanup()


def _company() -> dict[str, Any]:
    """One group of five reps, whose hours never close and have to be reckoned all the same."""
    made = company({"all": dict.fromkeys(REPS, 1)})
    week = {f"{day}{end}Time": "00:00" for day in day_name for end in ("Start", "End")}
    fields = {"Name": "Always", "IsActive": True, "TimeZoneSidKey": "Europe/Paris", **week}
    made["records"].insert(0, {"sobject": "BusinessHours", "ref": "always", "fields": fields})
    for record in made["records"]:
        if record["sobject"] == "Round_Robin_Group__c":
            record["fields"]["Business_Hours__c"] = "@always"
    return made


def _schemas() -> Iterator[str]:
    """Each event comes under a schema of its own, as in an org whose fields change all day."""
    return (f"{number:022d}" for number in itertools.count())


def main() -> int:
    """Serve until SIGTERM; the first line of standard output says where."""
    parser = argparse.ArgumentParser("growth_org")
    parser.add_argument("--events", type=int, required=True)
    parser.add_argument("--new", type=float, required=True, help="share of them that are new leads")
    options = parser.parse_args()
    world = start.world()
    refs = scenario.load(world.org, _company())
    schemas = _schemas()
    protocol.schema_id = lambda _channel: next(schemas)
    asyncio.run(_serve(world, refs, options))
    return 0


if __name__ == "__main__":
    sys.exit(main())
