"""A worker rig whose leads are enriched and scored: the production loop and client against a provider on loopback.

Time is simulated: a call is made at once, in real time, and heard of when it would have ended.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Executor, Future
from dataclasses import replace
from pathlib import Path
from typing import Any

from lead_router.core.keys import create_key, submission_of
from lead_router.hops.http_json import HttpJson
from lead_router.loops.breaker import Breaker
from lead_router.loops.current import Current
from lead_router.loops.enriching import Enriching
from lead_router.loops.filling import Filling
from lead_router.loops.promptness import Promptness, wanted_now
from lead_router.ports import NewJob
from lead_router.rulefiles.providers import read_provider
from lead_router.rulefiles.scores import read_scoring
from lead_router.salesforce.configuration import Intake
from org_simulator.clock import ManualClock
from org_simulator.sobjects import PermissionSet
from org_simulator.switches import Switches
from support.provider import Provider
from support.worker_rig import Rig

SCORE_FIELD = "Lead_Score__c"
FILE = """
url: "{url}/find?domain={{Email|domain}}&name={{Company?}}"
headers:
  X-Api-Key: "{{secret}}"
fields:
  Industry: company.industry
  NumberOfEmployees: company.size
  Rating: {{path: rating, overwrite: true}}
deadline_s: 2
timeout_s: 5
tries: 40
"""
SCORES = """
name: Score
field: Lead_Score__c
criteria:
  - {name: big, criteria: NumberOfEmployees >= 500, points: 50}
  - {name: steel, criteria: Industry = 'Steel', points: 15}
"""
CALL_S = 0.1  # of real time, after which the client gives up on a provider that hangs
STEPS = 3  # of the loop at one moment: hear, write and ask, and what follows of that
SECRET = "canary-Secret0987654321"


class Later(Executor):
    """Calls are heard of by the simulated clock; `took_s` says how long each lasts, in seconds of it."""

    def __init__(self, clock: ManualClock, took_s: Callable[[], float]) -> None:
        self._clock = clock
        self._took_s = took_s
        self._under_way: list[tuple[float, Future[Any], Any]] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self._under_way.append((self._clock.monotonic() + self._took_s(), future, fn(*args, **named)))
        return future

    def tick(self) -> None:
        """Whatever has ended by now is heard of."""
        now = self._clock.monotonic()
        for ends_at, future, answer in self._under_way:
            if ends_at <= now:
                future.set_result(answer)
        self._under_way = [one for one in self._under_way if one[0] > now]

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Nothing is left behind."""
        self._under_way.clear()


class HopRig:
    """`loop` asks `outside`; `latency_s` is how long its calls take while they are well, a hanging one its time-out.

    While it `wants` nothing, leads come as to a router without hops.
    """

    def __init__(
        self,
        path: Path,
        outside: Provider,
        *,
        file: str = FILE,
        scores: str | None = None,
        rules: Sequence[str] = (),
        latency_s: Callable[[], float] = lambda: 0.3,
        switches: Switches | None = None,
    ) -> None:
        self.outside = outside
        self.wants = True
        self.latency_s = latency_s
        (path / "enrichment.yaml").write_text(file.format(url=outside.url), encoding="utf-8")
        read = read_provider(path / "enrichment.yaml")
        scoring = None
        if scores is not None:
            (path / "scores.yaml").write_text(scores, encoding="utf-8")
            scoring = read_scoring(path / "scores.yaml")
        self.asking = read.asking
        self.rig = Rig(path, switches=switches or Switches())
        self.clock = self.rig.clock
        self.headers = {name: value.replace("{secret}", SECRET) for name, value in read.headers.items()}
        self.allow("Industry", "NumberOfEmployees", "Rating")
        if scores is not None:
            self._score_field()
        self._connected(Intake(enrichment=read.asking, scoring=scoring))
        for number, criteria in enumerate(rules, start=1):
            self._rule(number, criteria)
        self.breaker = Breaker(self.clock.monotonic)
        self.promptness = Promptness(self.breaker)
        self.pool, self.loop = self.restarted()

    def restarted(self) -> tuple[Later, Enriching]:
        """Another process's loop, with calls of its own; the breaker is shared."""
        client = self.rig.connect()
        current = Current(client.configuration())
        self.current = current
        self.worker = self.rig.worker(client)
        pool = Later(self.clock, self._took_s)
        store = self.rig.open()
        loop = Enriching(
            client,
            store,
            current,
            HttpJson(self.headers, timeout_s=CALL_S),
            self.promptness,
            Filling(client, store, current, now=self.clock.now),
            pool=pool,
            wait=_at_once,
            monotonic=self.clock.monotonic,
            wake=lambda: None,
        )
        self.pool, self.loop = pool, loop
        return pool, loop

    def leads(self, count: int, **fields: Any) -> list[str]:
        """New leads of as many companies, told of by the stream."""
        number = len(self.rig.rest_org.rows("Lead"))
        email = fields.pop("Email", "ann@firm{}.example")
        made = [
            self.rig.rest_org.lead(email and email.format(number + each), **{"Company": f"Firm {each}", **fields})
            for each in range(count)
        ]
        self.told(*made)
        return made

    def told(self, *lead_ids: str) -> None:
        """As the intake records them."""
        configuration = self.current.get()
        jobs = []
        for lead_id in lead_ids:
            submission = submission_of(self.rig.rest_org.row(lead_id), configuration)
            payload = {"event_at": self.clock.now().isoformat()}
            jobs.append(NewJob(create_key(self.rig.org.org_id, lead_id), lead_id, lead_id, payload, submission))
        self.rig.store.record(jobs, wanted=wanted_now(configuration, self.promptness) if self.wants else None)

    def play(self, seconds: float, *, step_s: float = 0.25) -> None:
        """Let time pass, with all loops at work beside each other."""
        for _ in range(round(seconds / step_s)):
            self.turn()
            self.clock.advance(step_s)
        self.turn()

    def turn(self) -> None:
        """All that is due at this moment."""
        self.pool.tick()
        for _ in range(STEPS):
            self.loop.step()
        self.rig.drain(self.worker)

    def lead(self, lead_id: str) -> Any:
        return self.rig.lead(lead_id)

    def explanation(self, lead_id: str) -> str:
        (row,) = [row for row in self.rig.ledger() if row["Lead__c"] == lead_id]
        return str(row["Explanation__c"])

    def owned(self, lead_id: str) -> bool:
        return str(self.lead(lead_id)["OwnerId"]).startswith("005")

    def calls(self) -> int:
        return len(self.outside.asked)

    def allow(self, *fields: str) -> None:
        """An administrator lets the integration user edit these fields of leads."""
        named = {f"lead.{field.lower()}": True for field in fields}
        own = PermissionSet(f"Own_{fields[0]}", "Own", frozenset(), frozenset(), {}, named)
        self.rig.org.schema.permission_sets[own.name] = own  # type: ignore[index]
        self.rig.rest_org.insert("PermissionSet", Name=own.name, Label=own.label)
        self.rig.rest_org.assign(own.name)

    def close(self) -> None:
        self.loop.close()
        self.rig.close()

    def _took_s(self) -> float:
        return self.asking.timeout_s if self.outside.mode == "hang" else self.latency_s()

    def _connected(self, intake: Intake) -> None:
        """From now on clients go by these settings."""
        org = self.rig.rest_org
        self.rig.intake = org.intake = intake
        org.holder, org.rest, org.client = org.connect()

    def _score_field(self) -> None:
        lead = self.rig.org.schema.objects["lead"]
        field = replace(lead.fields["numberofemployees"], name=SCORE_FIELD, label="Lead Score")
        self.rig._replace(replace(lead, fields={**lead.fields, SCORE_FIELD.lower(): field}))
        self.allow(SCORE_FIELD)

    def _rule(self, number: int, criteria: str) -> None:
        """To Bob by name, before the rule for all."""
        bob = self.rig.rest_org.refs["bob"]
        named = {"Name": f"Rule {number}", "Precedence__c": number, "Active__c": True}
        self.rig.rest_org.insert("Routing_Rule__c", **named, Criteria__c=criteria, Target_User__c=bob)


def _at_once(_calls: Collection[Future[Any]]) -> None:
    """Time stands still."""
