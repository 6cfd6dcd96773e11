"""The queued subscriber: the production worker, store, upkeep and client over the day, on a clock of its own.

The stream alone is played: an event comes a second after its commit, or when the router is back, or never.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import requests

from benchmarks.decay_models import Touched
from benchmarks.decay_trace import ANSWER_LOST, CALL_S, DAY_S, EVENT_LOST, EVENT_S, Trace, records
from lead_router.errors import Transient
from lead_router.salesforce.auth import Login, TokenHolder
from lead_router.salesforce.gateway import SalesforceOrg
from lead_router.salesforce.rest import Rest
from lead_router.salesforce.wire import open_session
from org_simulator.wire.adapter import OrgAdapter
from support.worker_rig import Rig

PEOPLE = "005"
POLL_S = 0.5
UPKEEP_EVERY_S = 1.0
SWEEP_EVERY_S = 300.0
READ_S = 30.0
AFTER_S = 7_200.0


class Line(OrgAdapter):
    """The way to the org: it takes its time, is cut while the org is down, and loses an answer now and then."""

    def __init__(self, rig: Rig, day: Trace) -> None:
        super().__init__(rig.rest_org.world)
        self._clock = rig.clock
        self._day = day
        self._calls = 0

    def send(self, request: requests.PreparedRequest, *args: Any, **named: Any) -> requests.Response:
        self._calls += 1
        self._clock.advance(CALL_S)
        if self._day.down("crm", self._clock.monotonic()):
            raise requests.exceptions.ConnectionError("the org is down", request=request)
        answer = super().send(request, *args, **named)
        if self._day.chance("line", self._calls, 0) < ANSWER_LOST:
            self._clock.advance(READ_S)
            raise requests.exceptions.ReadTimeout("the answer was lost", request=request)
        return answer


class Played:
    """The day of one router. What is due is brought before each step, so a call under way may hold it up."""

    def __init__(self, folder: Path, day: Trace) -> None:
        self._day = day
        self._rig = Rig(folder)
        self._client = self._connected()
        self._worker = self._rig.worker(self._client)
        self._upkeep = self._rig.upkeep(
            org=self._client, breaker=self._rig.breaker, sweep_every_s=SWEEP_EVERY_S, configuration_every_s=DAY_S * 2
        )
        self._coming = records(day)
        self._events: list[tuple[float, str]] = []
        self._requests: dict[str, int] = {}
        self._open: set[str] = set()
        self._owners: dict[int, set[str]] = {}
        self._waits: dict[int, float] = {}
        self._upkeep_at = 0.0

    def play(self) -> Touched:
        """To the end of the day, and of what it left."""
        while self._now() < DAY_S + AFTER_S and (self._coming or self._events or self._open):
            self._arrive()
            if self._day.down("own", self._now()):
                self._pass_until(self._day.up_at("own", self._now()))
                continue
            self._hear()
            busy = self._stepped()
            self._look()
            if not busy:
                self._rest()
        self._rig.close()
        return Touched(self._waits, sum(len(owners) > 1 for owners in self._owners.values()))

    def _connected(self) -> SalesforceOrg:
        rest_org, clock = self._rig.rest_org, self._rig.clock
        session = open_session(rest_org.world.base_url, adapter=Line(self._rig, self._day))
        login = Login(rest_org.world.base_url, rest_org.world.app.client_id, rest_org.world.app.client_secret)
        tokens = TokenHolder(login, session, now=clock.now, sleep=clock.advance, dice=random.Random(1))
        return SalesforceOrg(Rest(tokens, session), self._rig.intake, now=clock.now)

    def _now(self) -> float:
        return self._rig.clock.monotonic()

    def _arrive(self) -> None:
        """Records that callers have written by now, and the events that tell of them."""
        while self._coming and self._coming[0][0] <= self._now():
            at, request = self._coming.pop(0)
            lead_id = self._rig.rest_org.lead(email=f"buyer{request}@buyer.example", Company=f"Buyer {request}")
            self._requests[lead_id] = request
            self._open.add(lead_id)
            if self._day.chance("event", len(self._requests), 0) >= EVENT_LOST:
                self._events.append((at + EVENT_S, lead_id))

    def _hear(self) -> None:
        """What the stream has brought; while the org is down nothing comes, and all of it afterwards."""
        due = [one for one in self._events if one[0] <= self._now()]
        if due and not self._day.down("crm", self._now()):
            self._rig.told(*(lead_id for _, lead_id in due))
            self._events = [one for one in self._events if one not in due]

    def _stepped(self) -> bool:
        busy = self._worker.step()
        if self._now() >= self._upkeep_at:
            self._upkeep_at = self._now() + UPKEEP_EVERY_S
            try:
                busy = self._upkeep.step() or busy
            except Transient:
                return busy
        return busy

    def _look(self) -> None:
        """Who has an owner now."""
        for lead_id in sorted(self._open):
            row: Mapping[str, Any] = self._rig.lead(lead_id)
            if row["OwnerId"].startswith(PEOPLE):
                request = self._requests[lead_id]
                self._waits.setdefault(request, self._now() - self._day.arrivals[request])
                self._owners.setdefault(request, set()).add(row["OwnerId"])
                self._open.remove(lead_id)

    def _rest(self) -> None:
        """Until something may be due: soon while leads wait, else when the next comes or a sweep is due."""
        if self._open or self._events:
            self._rig.clock.advance(POLL_S)
        elif self._coming:
            self._pass_until(self._coming[0][0])

    def _pass_until(self, at: float) -> None:
        self._rig.clock.advance(max(0.001, at - self._now()))


def subscriber(day: Trace) -> Touched:
    """Play the day with a job database in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="lead-router-decay-") as folder:
        return Played(Path(folder), day).play()
