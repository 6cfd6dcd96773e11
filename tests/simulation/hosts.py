"""Hosts and the routers on them: production objects, put together as `app.assembly` does, that can be killed anywhere.

Every request, every transaction and every poll passes two points, before and after it. There the play may kill the
process, let others act, let time pass, or spoil what comes.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import requests

from lead_router.core.model import ALL_LIVE, AS_SET_OUT, Configuration, Lead
from lead_router.errors import LeadRouterError, StoreUnavailable, Transient
from lead_router.jobs import SqlJobStore
from lead_router.jobs.engine import Engine, Row, Run, Step, T
from lead_router.jobs.statements import LINE_UP, RECORD_POSITION
from lead_router.loops.breaker import Breaker
from lead_router.loops.current import Current
from lead_router.loops.enriching import Enriching
from lead_router.loops.filling import Filling
from lead_router.loops.firsttouch import FirstTouch
from lead_router.loops.intake import Intake
from lead_router.loops.listening import Listening
from lead_router.loops.predecessors import listener_name, succeed, worker_name
from lead_router.loops.promptness import Promptness, wanted_now
from lead_router.loops.upkeep import Upkeep
from lead_router.loops.worker import Worker
from lead_router.ports import Hold, Wanted
from lead_router.salesforce.auth import Login, TokenHolder
from lead_router.salesforce.changes import own_change
from lead_router.salesforce.cometd import CometdSource
from lead_router.salesforce.configuration import Intake as Unassigned
from lead_router.salesforce.gateway import SalesforceOrg
from lead_router.salesforce.names import Channels
from lead_router.salesforce.rest import Rest
from lead_router.salesforce.wire import open_session
from org_simulator.wire.adapter import OrgAdapter
from org_simulator.wire.faults import Fault
from org_simulator.wire.world import World
from simulation import hopping
from simulation.stream import Poll, embed, killed, outside
from support.hop_rig import Later

if TYPE_CHECKING:
    from simulation.play import Play

CHANNEL, REQUESTS = Channels.LEAD_CHANGES, Channels.REQUESTS
LEASE_S = 60.0
SWEEP_EVERY_S = 300.0
CONFIGURATION_EVERY_S = 120.0
KEEP_DONE_S = 1e6
TOUCH_EVERY_S = 30.0
POLL_S = 0.001
FAULTS_MAX = 10  # as the runner has it
CUTS = ("stream: renumber", "stream: expire")  # what came before may stay unheard: sweeps look for it
BROKEN: Step = ("SELECT nothing FROM nowhere", {})
_LEADS = re.compile(rb"00Q[A-Za-z0-9]{15}")
_OTHERS = re.compile(rb"(?:005|a..)[A-Za-z0-9]{15}")


class Crashed(BaseException):
    """The process ends here, as by kill -9: no `except Exception` and no clean-up of its own saves anything."""


@dataclass(frozen=True, slots=True)
class Point:
    """A place in the life of a router where others may act.

    `leads` are those that the exchange is about; `others` the users, groups and members that a commit names.
    """

    router: Router
    loop: str
    when: str  # "before", "after"
    kind: str  # "http", "login", "database", "stream"
    what: str
    leads: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


class Line(OrgAdapter):
    """The transport of one router."""

    def __init__(self, router: Router) -> None:
        super().__init__(router.host.world)
        self._router = router

    def send(self, request: requests.PreparedRequest, *args: Any, **named: Any) -> requests.Response:
        body = request.body.encode() if isinstance(request.body, str) else request.body or b""
        path = (request.url or "").partition("?")[0].rpartition("/")[2]
        kind = "login" if "/oauth2/" in (request.url or "") else "http"
        writes = b"Lead_Assignment__c" in body and b"PATCH" in body
        what = f"{request.method} {path}" + (" commit" if writes else " sweep" if self._router.sweeps else "")
        leads = _named(_LEADS, body + (request.url or "").encode())
        others = _named(_OTHERS, body) if writes else ()
        fault = self._router.point("before", kind, what, leads, others)
        if isinstance(fault, Fault):
            self.world.faults.put(fault)
        if self._router.anonymous:
            request.headers.pop("Sforce-Call-Options", None)
        answer = super().send(request, *args, **named)
        self._router.point("after", kind, what, leads, others)
        return answer


class Shaky:
    """An engine that may fail at any statement, or lose the answer after the commit."""

    def __init__(self, inner: Engine, router: Router) -> None:
        self.dialect = inner.dialect
        self._inner = inner
        self._router = router

    def write(self, steps: Sequence[Step], *, synced: bool = True, tidies: bool = False) -> list[list[Row]]:
        return self._carry_out("write", partial(self._inner.write, synced=synced, tidies=tidies), steps)

    def read(self, steps: Sequence[Step]) -> list[list[Row]]:
        return self._carry_out("read", self._inner.read, steps)

    def exclusively(self, body: Callable[[Run], T]) -> T:
        return self._inner.exclusively(body)

    def close(self) -> None:
        """The disk stays open for other processes of the host."""

    def _carry_out(
        self, name: str, verb: Callable[[Sequence[Step]], list[list[Row]]], steps: Sequence[Step]
    ) -> list[list[Row]]:
        what = " ".join(dict.fromkeys(statement.split(maxsplit=3)[0] for statement, _ in steps))
        fault = self._router.point("before", "database", f"{name} {what}")
        heard = next((values for statement, values in steps if statement is RECORD_POSITION), None)
        at = None if heard is None else self._router.host.place(heard)
        if fault == "statement":
            place = self._router.play.dice.randrange(len(steps) + 1)
            steps = [*steps[:place], BROKEN, *steps[place:]]
        rows = verb(steps)
        if fault == "lost":
            raise StoreUnavailable("the connection was lost while the transaction was committed")
        self._router.recorded |= LINE_UP in what
        if at is not None:
            self._router.host.listened(at)
        self._router.point("after", "database", f"{name} {what}")
        return rows


class Asked(SalesforceOrg):
    """The org's client, which knows when it sweeps, and counts the sweeps that failed on the way."""

    failed = 0
    sweeping = False
    configured = 0
    seen: Callable[[], int] = staticmethod(lambda: 0)  # how many commits there were

    def configuration(self) -> Configuration:
        """`configured` tells how many of them the last configuration knows."""
        return self._read(super().configuration)

    def glance(self) -> Configuration:
        return self._read(super().glance)

    def _read(self, read: Callable[[], Configuration]) -> Configuration:
        seen = self.seen()
        found = read()
        self.configured = seen
        return found

    def unassigned(self, *of: Any) -> Iterator[Sequence[Lead]]:
        return self._counted(super().unassigned(*of))

    def queued(self, *of: Any) -> Iterator[Sequence[Lead]]:
        return self._counted(super().queued(*of))

    def _counted(self, pages: Iterator[Sequence[Lead]]) -> Iterator[Sequence[Lead]]:
        self.sweeping = True
        try:
            yield from pages
        except LeadRouterError:
            self.failed += 1
            raise
        finally:
            self.sweeping = False


class Looped(Protocol):
    """What a loop's object can."""

    def step(self) -> bool: ...


@dataclass
class Host:
    """A machine: its clock may be wrong, and what it holds on disk outlives every process.

    `opener` opens the disk: once, as no process dies within a transaction and one thread serves all.
    """

    name: str
    play: Play
    opener: Callable[[Host], Engine]
    world: World
    offset_s: float = 0.0
    processes: int = 0
    routers: list[Router] = field(default_factory=list)
    opened: Engine | None = None
    heard: dict[int, tuple[int, int]] = field(default_factory=dict)

    def place(self, values: Mapping[str, Any]) -> tuple[bytes, bool]:
        """The position stored now, and whether who stores the next one by these values still holds the channel."""
        [row] = self.look("SELECT replay_id FROM stream_position WHERE channel = :name", name=self.play.channel) or [{}]
        [holder] = self.look("SELECT generation FROM listener WHERE channel = :name", name=self.play.channel) or [{}]
        fence = values.get("fence")
        return bytes(row.get("replay_id", b"")), fence is None or fence == holder.get("generation")

    def listened(self, before: tuple[bytes, bool]) -> None:
        """A position was stored: `heard` has the serials of the first and the last event, anew after each cut."""
        text, _ = self.place({})
        if not before[1] and text != before[0]:
            self.play.witness.faults.append(f"a router of {self.name} that had lost the channel stored a position")
        serial = self.play.serial_of(int(text)) if text.isdigit() else None
        if serial is None:
            return
        cuts = sum(self.play.counts[cut] for cut in CUTS)
        first, last = self.heard.get(cuts, (0 if cuts == 0 else serial, serial))
        self.heard[cuts] = (first, max(last, serial))

    @property
    def disk(self) -> Engine:
        """What all processes of the host share."""
        self.opened = self.opened or self.opener(self)
        return self.opened

    def look(self, sql: str, **values: Any) -> list[Row]:
        """What is on disk, past every fault."""
        return self.disk.read([(sql, {"org_id": self.play.org.org_id, **values})])[0]

    def jobs(self) -> list[Row]:
        """All jobs, by number."""
        return self.look("SELECT * FROM routing_job WHERE org_id = :org_id ORDER BY id")

    def now(self) -> datetime:
        return self.play.clock.now() + timedelta(seconds=self.offset_s)

    def time(self) -> float:
        return self.now().timestamp()

    def lives(self, process_id: int) -> bool:
        return any(one.process_id == process_id and one.alive for one in self.routers)


def _wanted(current: Current, promptness: Promptness) -> Wanted | None:
    return wanted_now(current.get(), promptness)


class Router:
    """One place for a process on a host; each `start` is a new process, `kill` its end."""

    anonymous = False
    configuration_every_s = CONFIGURATION_EVERY_S

    def __init__(self, play: Play, host: Host, name: str, *, workers: int, batch_max: int) -> None:
        self.play = play
        self.host = host
        self.name = name
        self.workers = workers
        self.batch_max = batch_max
        self.alive = False
        self.process_id = 0
        self.loops: dict[str, Looped] = {}
        self.running: list[str] = []
        self.stores: list[SqlJobStore] = []
        self.source: CometdSource | None = None
        self.recorded = False
        self.org: Asked | None = None
        self.breaker: Breaker | None = None
        self.calls: Later | None = None
        host.routers.append(self)

    @property
    def names(self) -> list[str]:
        """The loops, whether the process lives or not."""
        workers = (f"worker-{number}" for number in range(1, self.workers + 1))
        touch = () if self.play.clock_dice is None else ("touch",)
        return ["intake", *workers, "upkeep", *touch, *(() if self.play.outside is None else ("enriching",))]

    def point(
        self, when: str, kind: str, what: str, leads: tuple[str, ...] = (), others: tuple[str, ...] = ()
    ) -> Fault | str | None:
        """Pass a point; the answer spoils what comes. Raises Crashed where the process is dead."""
        process = self.process_id
        loop = self.running[-1] if self.running else "start"
        fault = self.play.pass_point(Point(self, loop, when, kind, what, leads, others)) if self.alive else None
        if not self.alive or self.process_id != process:
            raise Crashed
        return fault

    def start(self) -> bool:
        """A new process, up to running loops; False where Salesforce or the database was away."""
        self.host.processes += 1
        self.process_id = self.host.processes
        self.alive = True
        self.running = ["start"]
        try:
            self._build()
        except Transient as fault:
            self.play.note(f"{self.name} does not start: {type(fault).__name__}")
            self.kill()
            return False
        finally:
            self.running = []
        return True

    def kill(self) -> None:
        """The process is gone; what was on disk and in the org stays."""
        self.alive = False
        self.loops = {}
        if self.source is not None:
            killed(self.source)
        self.source, self.stores = None, []

    def step(self, name: str) -> bool:
        """One step of a loop, guarded as the runner guards it; False when there was nothing to do."""
        if not self.alive:
            return self.start()
        if name == "intake":
            self.play.server.wake()
        if name == "enriching" and self.calls is not None:
            self.calls.tick()
        self.running.append(name)
        try:
            self.recorded = False
            with outside():
                busy = self.loops[name].step()
        except Transient as fault:
            self.play.note(f"{self.name}.{name} failed: {type(fault).__name__}")
        except LeadRouterError as fault:
            self.play.note(f"{self.name}.{name} failed: {type(fault).__name__}: {fault}")
        except Exception as fault:  # noqa: BLE001 - a fault that nobody named is a broken promise
            self.play.surprises.append(f"{self.name}.{name}: {type(fault).__name__}: {fault}")
        else:
            return self._hears() if name == "intake" else busy
        finally:
            self.running.pop()
        return False

    def _hears(self) -> bool:
        """Whether a step of the intake brought something, or the way to it: who listens says that he is never idle."""
        return self.recorded or (self.source is not None and self.source.state() != "subscribed")

    @property
    def sweeps(self) -> bool:
        """Whether its upkeep looks for leads that nothing told of, just now."""
        return self.running[-1:] == ["upkeep"] and self.org is not None and self.org.sweeping

    def may_step(self, name: str) -> bool:
        """Whether the loop is not in mid step, nor its process at its beginning or end."""
        return not (name in self.running or "start" in self.running or (self.running and not self.alive))

    def _build(self) -> None:
        host, dice, clock = self.host, random.Random(self.play.dice.random()), self.play.clock
        world, firm = host.world, self.play.company
        session = open_session(world.base_url, adapter=Line(self))
        session.trust_env = False  # no proxy stands before an org in this process
        login = Login(world.base_url, world.app.client_id, world.app.client_secret)
        tokens = TokenHolder(login, session, now=host.now, sleep=self.play.elapse, dice=dice, monotonic=clock.monotonic)
        rest = Rest(tokens, session)
        rollout = AS_SET_OUT if self.play.clock_dice is None else ALL_LIVE
        asking = None if self.play.outside is None or self.anonymous else hopping.ASKING
        unassigned = Unassigned(
            queues=firm.intake_names, statuses=firm.intake_statuses, rollout=rollout, enrichment=asking
        )
        org = Asked(rest, unassigned, now=host.now)
        org.seen = lambda: len(self.play.witness.commits)
        self.org = org
        org_id = tokens.token().org_id
        succeed(self._store(org_id), host=host.name, process_id=self.process_id, lives=host.lives)
        current, breaker = Current(org.configuration()), Breaker(clock.monotonic)
        self.breaker = breaker
        promptness = Promptness(Breaker(clock.monotonic))
        wanted = partial(_wanted, current, promptness)
        listening = Listening(
            self._store(org_id),
            current,
            partial(self._intake, tokens, org_id, current, dice, wanted),
            channel=self.play.channel,
            name=listener_name(host.name, self.process_id),
            monotonic=clock.monotonic,
        )
        made: dict[str, Looped] = {"intake": listening}
        for number in range(1, self.workers + 1):
            made[f"worker-{number}"] = Worker(
                org,
                self._store(org_id),
                current,
                breaker,
                name=worker_name(host.name, self.process_id, number),
                now=host.now,
                monotonic=clock.monotonic,
                pause=self.play.elapse,
                dice=dice,
                batch_max=self.batch_max,
                lease_s=LEASE_S,
                backoff_first_s=2.0,
                backoff_cap_s=60.0,
            )
        made["upkeep"] = Upkeep(
            org,
            self._store(org_id),
            current,
            org_id=org_id,
            now=host.now,
            monotonic=clock.monotonic,
            configuration_every_s=self.configuration_every_s,
            sweep_every_s=SWEEP_EVERY_S,
            keep_done_s=KEEP_DONE_S,
            wake=lambda: None,
            breaker=breaker,
            wanted=wanted,
        )
        if self.play.outside is not None:
            made["enriching"] = self._enriching(org, self._store(org_id), current, self.play.outside, promptness)
        if self.play.clock_dice is not None:
            made["touch"] = FirstTouch(
                org,
                self._store(org_id),
                current,
                org_id=org_id,
                now=host.now,
                monotonic=clock.monotonic,
                every_s=TOUCH_EVERY_S,
                wake=lambda: None,
                routing=breaker,
            )
        self.loops = made

    def _enriching(
        self, org: Asked, store: SqlJobStore, current: Current, provider: hopping.Outside, promptness: Promptness
    ) -> Enriching:
        self.calls = hopping.calls(self.play, provider)
        return Enriching(
            org,
            store,
            current,
            provider,
            promptness,
            Filling(org, store, current, now=self.host.now),
            pool=self.calls,
            wait=hopping.at_once,
            monotonic=self.play.clock.monotonic,
            wake=lambda: None,
        )

    def _intake(
        self,
        tokens: TokenHolder,
        org_id: str,
        current: Current,
        dice: random.Random,
        wanted: Callable[[], Wanted | None],
        hold: Hold,
    ) -> Intake:
        store, clock = self._store(org_id), self.play.clock
        source = CometdSource(
            channel=self.play.channel,
            token=tokens.token,
            load_position=partial(store.position, self.play.channel),
            dice=dice,
            default_start=-2,
            notices=Channels.CONFIGURATION_CHANGES,
            monotonic=clock.monotonic,
        )
        poll = Poll(self.play.server, self._at_stream, lambda: self.alive)
        embed(source, poll, clock.monotonic, self.play.elapse)
        self.source = source
        own = partial(own_change, user_id=tokens.token().user_id)
        return Intake(
            source,
            store,
            current,
            channel=self.play.channel,
            org_id=org_id,
            own=own,
            wait_s=POLL_S,
            wake=lambda: None,
            wanted=wanted,
            hold=hold,
        )

    def _at_stream(self, when: str, what: str) -> None:
        self.point(when, "stream", what)

    def _store(self, org_id: str) -> SqlJobStore:
        store = SqlJobStore(Shaky(self.host.disk, self), org_id=org_id, channels=_to_everybody)
        self.stores.append(store)
        return store


def _to_everybody(_notice: object) -> tuple[str, ...]:
    return ("everybody",)


def _named(pattern: re.Pattern[bytes], text: bytes) -> tuple[str, ...]:
    return tuple(sorted({found.decode() for found in pattern.findall(text)}))
