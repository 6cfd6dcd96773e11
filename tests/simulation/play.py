"""A play: one seed, one thread, one clock; routers, people and faults in an order that the seed alone chooses."""

from __future__ import annotations

import gc
import hashlib
import logging
import random
import shutil
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from lead_router.core.keys import change_key, create_key
from lead_router.jobs.engine import Engine
from lead_router.jobs.migrations import migrate
from lead_router.jobs.sqlite import SqliteEngine
from lead_router.jobs.statements import LINE_UP
from lead_router.salesforce.names import Objects, RequestFields
from org_simulator.changes import RowChange
from org_simulator.clock import ManualClock
from org_simulator.cometd.server import Server
from org_simulator.cometd.sessions import Terms
from org_simulator.events import change_log
from org_simulator.org import Org
from org_simulator.schema import Schema, default_metadata, load
from org_simulator.switches import Switches
from org_simulator.wire.faults import Fault, Faults
from org_simulator.wire.start import BASE_URL
from org_simulator.wire.world import ConnectedApp, World
from simulation import aimed, clocks, faults, hopping, people
from simulation.company import Company
from simulation.hosts import CHANNEL, REQUESTS, Crashed, Host, Point, Router
from simulation.inside import Inside
from simulation.rebuilt import Looks
from simulation.trigger import Trigger, program
from simulation.witness import Witness

STARTS = (
    datetime(2026, 11, 30, 9, 0, 0, tzinfo=UTC),  # half an hour before early hours end
    datetime(2026, 11, 30, 22, 55, 0, tzinfo=UTC),  # shortly before the next day in Paris
)
DEPTH_MAX = 2
STEPS = (8, 24)
ROUNDS = (1, 3)  # in which every loop has its step, so that most leads are routed while the storm still blows
CALM_S = (1.5, 62, 62, 302, 302, 902, 902, 3602, 302, 302)
CALMS_MIN = (1, 1, 2)
PROMPT_S = 130.0  # the longest pause of a breaker or a stream, twice; by then nobody is to wait any more
IDLE_ROUNDS, IDLE_ROUNDS_MAX = 2, 25
ROUNDS_APART = 8  # at most, from one time that all loops are asked to the next, though some are busy all the while
WEIGHTS = {"worker": 4, "intake": 3, "upkeep": 1, "touch": 2, "enriching": 3}

COMMIT_BIAS = 4  # a commit is that much likelier to be disturbed than anything else
SWEEP_BIAS = 8  # and, of a process that is killed, a sweep: it has few points, and is seldom
INSIDE_OFTEN = 0.25
TRIGGER_OFTEN = 1 / 12
REQUESTS_OFTEN = 1 / 8  # listen to the platform event instead of Change Data Capture
TOUCHED = 0.2  # of the leads that somebody meddles with
HURRY = 0.5  # of those who come, the share whom a router hears at once
INTAKE_BIAS = 4  # so is a transaction that keeps events


@dataclass
class Play:
    """The stage; `run` plays it to the end of the calm. `apex` says whether the shipped Apex routes too; by default the
    seed does. So it does where `requests` does not say whether the routers listen to platform events.
    """

    seed: int
    folder: Path
    engine: Callable[[Host], Engine] | None = None
    elapsed: Callable[[float], None] = lambda _seconds: None
    apex: bool | None = None
    requests: bool | None = None
    trace: list[str] = field(default_factory=list)
    surprises: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.dice = random.Random(self.seed)
        self.upkeep = random.Random(f"upkeep {self.seed}")
        self.clock = ManualClock(self.dice.choice(STARTS))
        self.air = faults.weather(self.dice)
        worst = self.dice.random() < 0.5
        self.switches = Switches.pessimistic() if worst else Switches()
        org = Org(_schema(), clock=self.clock, switches=self.switches, seed=self.seed)
        log = change_log(org)
        self.server = Server(org, Terms())
        log.wakers += [self.server.wake, self._published]
        self.log = log
        self.creations: list[tuple[int, str, str]] = []
        self._serial = 0
        # By dice of its own: seeds without it tell what they told before it was there.
        often = REQUESTS_OFTEN if self.requests is None else float(self.requests)
        self.channel = REQUESTS if random.Random(f"requests {self.seed}").random() < often else CHANNEL
        self.company = Company(org, self.clock, self.dice, random.Random(f"aimed {self.seed}"))
        self.company.found()
        people.settle(self.company)
        self.clock_dice = clocks.settle(self.company, seed=self.seed)
        self.outside = hopping.settle(self.seed)
        self.org = org
        self.worlds = [self._world(user_id) for user_id in self.company.users]
        self.trigger: Trigger | None = None
        self.witness = Witness(self)
        if self.channel == REQUESTS:
            self.counts["routers: asked by platform events"] += 1
            org.listeners.append(self._asks)
        self.looks = Looks()
        self.storm = False
        self.late: frozenset[str] = frozenset()
        self.depth = 0
        self.hosts: list[Host] = []
        self.routers: list[Router] = []
        self.inside: Inside | Trigger | None = None
        self._settle()

    def _world(self, user_id: str) -> World:
        """The org as the routers of one user see it."""
        faults_of_it = Faults(self.seed)
        app = ConnectedApp(run_as=user_id)
        return World(org=self.org, app=app, base_url=BASE_URL, faults=faults_of_it, sleep=self.elapse)

    def _settle(self) -> None:
        """Which routers there are: one, two on one database, two with a database each, or those of two users."""
        kind = self.dice.choice(("one", "one", "together", "together", "apart", "strangers"))
        self.counts[f"routers: {kind}"] += 1
        opener = self.engine or _sqlite
        for place in range(2 if kind in {"apart", "strangers"} else 1):
            world = self.worlds[place if kind == "strangers" else 0]
            host = Host(f"host{place}", self, opener, world)
            self.hosts.append(host)
            for _ in range(2 if kind == "together" else 1):
                name = "ABC"[len(self.routers)]
                batch_max = self.dice.choice((1, 3, 200))
                self.routers.append(Router(self, host, name, workers=self.dice.choice((1, 2)), batch_max=batch_max))
        stand_in = self.dice.random() < INSIDE_OFTEN
        # By dice of its own: seeds without it tell what they told before it was there.
        apex = random.Random(f"apex {self.seed}").random() < TRIGGER_OFTEN if self.apex is None else self.apex
        shipped = program() if apex else None
        if shipped is not None:
            self.counts["routers: trigger"] += 1
            self.inside = self.trigger = Trigger(self, shipped)
        elif apex or stand_in:
            self.counts["routers: trigger, not here" if apex else "routers: inside too"] += 1
            host = Host("org", self, opener, self.worlds[2])
            self.hosts.append(host)
            self.inside = Inside(self, host, "I", workers=1, batch_max=200)

    # ---- the two acts -----------------------------------------------------------------------------------------------

    def run(self) -> None:
        """The storm, then the calm. In most plays the routers run when it breaks."""
        if self.dice.random() < 0.8:
            for router in self.routers:
                for name in ("", *router.names, "intake"):
                    self.step(router, name)
        self.storm = True
        for _ in range(self.dice.randint(*STEPS)):
            self._next()
            self.looks.look(self.company, len(self.witness.commits))
        for _ in range(self.dice.randint(*ROUNDS)):
            everybody = [(router, name) for router in self.routers for name in router.names]
            self.dice.shuffle(everybody)
            for router, name in everybody:
                self.step(router, name)
            self.elapse(self.dice.choice((0.01, 1.0, 5.0, 61.0)))
        self.storm = False
        self._calm()

    @property
    def fingerprint(self) -> str:
        """Equal for equal histories."""
        return hashlib.sha256("\n".join(self.trace).encode()).hexdigest()

    def note(self, what: str) -> None:
        """One line of history."""
        self.trace.append(f"{self.clock.monotonic():10.3f} {'  ' * self.depth}{what}")

    def elapse(self, seconds: float) -> None:
        """Time passes, for everybody."""
        self.clock.advance(seconds)
        self.elapsed(seconds)
        self.server.wake()

    def _published(self) -> None:
        """Of each event that tells of new leads that want an owner, its serial and theirs."""
        for event in [one for one in self.log._events if one.serial > self._serial]:
            self._serial = event.serial
            head = event.payload.get("ChangeEventHeader", {})
            created = event.channel == self.channel == CHANNEL and head["changeType"] == "CREATE"
            if created and self._wants(event.payload):
                self.creations += [
                    (event.serial, lead_id, create_key(self.org.org_id, lead_id)) for lead_id in head["recordIds"]
                ]
            elif event.channel == self.channel == REQUESTS:
                lead_id = event.payload[RequestFields.LEAD_ID]
                key = change_key(self.org.org_id, lead_id, str(event.event_uuid))
                self.creations.append((event.serial, lead_id, key))

    def _wants(self, fields: Mapping[str, Any]) -> bool:
        owned = fields.get("OwnerId") not in {None, *self.company.intakes}
        return not owned or fields.get("Status") in self.company.intake_statuses

    def _asks(self, changes: Sequence[RowChange]) -> None:
        """A flow of the company asks with each save of a lead, once it is committed; not with those of the routers."""
        if changes[0].user_id in self.company.users:
            return
        for change in changes:
            if change.sobject == "Lead" and change.after is not None:
                self.log.publish(Objects.REQUEST, {RequestFields.LEAD_ID: change.id}, changes[0].user_id)

    def serial_of(self, replay_id: int) -> int | None:
        """The serial of the first retained event of this replay id."""
        return next((event.serial for event in self.log._events if event.replay_id == replay_id), None)

    def _next(self) -> None:
        chance = self.dice.random()
        if chance < 0.25 and len(self.company.leads) < people.LEADS_MAX:
            self._somebody_comes()
            if self.dice.random() < HURRY:
                self._hurries(self.dice.choice(self.routers))
        elif chance < 0.36:
            self._people(*people.ON_LEADS)
        elif chance < 0.44:
            self._people(*people.ON_GROUPS)
        elif chance < 0.52:
            self._pass_time()
        else:
            self._some_router()
        self._behind_commits()
        sort = faults.on_stream(self.air, self.dice, self.log, self.company.leads, self._placed)
        if sort is not None:
            self.count(f"stream: {sort}")

    def _behind_commits(self) -> None:
        """What the Apex left for later runs sooner or later; now and then it is turned off or on."""
        if self.trigger is None:
            return
        if self.dice.random() < 0.5:
            self.trigger.goes_on()
        if self.dice.random() < 0.05:
            self.trigger.turns()

    def _somebody_comes(self) -> None:
        known = len(self.company.leads)
        self.note(people.comes(self.company, ()))
        if self.inside is not None and self.dice.random() < 0.15:
            self.inside.routes(self.company.leads[known:], new=True)

    def _hurries(self, router: Router) -> None:
        """The router hears of it at once and goes to work, or looks for what the stream kept from it."""
        if self.dice.random() < 0.2:
            self.log.faults.arm("overflow")
            self.count("stream: overflow")
            self._somebody_comes()
            loops = ("intake", "intake", "upkeep")
        else:
            loops = ("intake", "intake", "worker-1")
        for name in loops:
            if router.may_step(name):
                self.step(router, name)

    def _inside_acts(self, inside: Inside | Trigger, leads: Sequence[str]) -> None:
        """A buyer comes again, or the very leads in flight are saved once more, or a sweep inside tries again."""
        chance, known = self.dice.random(), len(self.company.leads)
        if chance < 0.5 and (came := people.comes_again(self.company, leads)) is not None:
            self.note(came)
            inside.routes(self.company.leads[known:], new=True)
        elif chance < 0.8 and leads:
            inside.routes([lead for lead in leads if self.company.row(lead) is not None], new=False)
        else:
            inside.works()

    def _placed(self) -> bool:
        listening = {router.host.name: router.host for router in self.routers}
        return all(host.look("SELECT replay_id FROM stream_position") for host in listening.values())

    def _pass_time(self) -> None:
        seconds = self.dice.choice((0.1, 1.0, 5.0, 20.0, 70.0, 400.0))
        self.note(f"{seconds} s pass")
        self.elapse(seconds)
        if self.air.skew and self.dice.random() < 0.3:
            host = self.dice.choice(self.hosts)
            host.offset_s = self.dice.choice((-300.0, -3.0, 0.0, 2.0, 200.0))
            self.count("clock: jump")
            self.note(f"the clock of {host.name} is off by {host.offset_s} s")

    def _people(self, *acts: tuple[people.Act, int], near: tuple[str, ...] = ()) -> None:
        done = people.act(self.company, acts, near)
        if done is not None:
            self.counts["acts of people"] += 1
            self.note(done)

    def _some_router(self, kind: str = "") -> None:
        able = [
            (router, name)
            for router in self.routers
            for name in router.names
            if router.may_step(name) and name.startswith(kind)
        ]
        if able:
            weights = [WEIGHTS[name.partition("-")[0]] for _, name in able]
            self.step(*self.dice.choices(able, weights)[0])

    def step(self, router: Router, name: str) -> bool:
        """One step of one loop, whatever becomes of its process."""
        self.counts["steps"] += 1
        self.note(f"{router.name}.{name}" if router.alive else f"{router.name} starts")
        try:
            return self.witness.during(router, name)
        except Crashed:
            self.note(f"{router.name} is dead")
            if not router.running:
                router.kill()
            return True

    # ---- points -----------------------------------------------------------------------------------------------------

    def pass_point(self, point: Point) -> Fault | str | None:
        """What happens at a point of a router, and the fault that spoils what comes."""
        self.note(f"{point.router.name}.{point.loop} {point.when} {point.what}")
        if not self.storm:
            return None
        commits = faults.COMMIT in point.what
        if commits and point.when == "before":
            self.counts["commits in the storm"] += 1
        bias = COMMIT_BIAS if commits else INTAKE_BIAS if _keeps(point) else 1
        if self.dice.random() < self.air.crash * (SWEEP_BIAS if faults.SWEEP in point.what else bias):
            self.count("process: killed")
            point.router.alive = False
            raise Crashed
        eager = COMMIT_BIAS if commits else INTAKE_BIAS if _records(point) else 1
        if self.depth < DEPTH_MAX and self.dice.random() < self.air.meddling * eager:
            with self._deeper():
                self._meddle(point)
        return self._spoils(point) if point.when == "before" else None

    def _meddle(self, point: Point) -> None:
        """Someone else acts before the router goes on, most often on the very lead in flight."""
        chance = self.dice.random()
        if _records(point):
            chance = 0.5 + 0.3 * chance  # what races with the intake is time, and who else listens
        self.counts["meddled"] += 1
        self._touch(point)
        self._first_touch(point.leads)
        self._types(point.leads)
        self._aims(point)
        racing = faults.COMMIT in point.what and point.when == "before"
        if self.inside is not None and not self.inside.running and self.dice.random() < (0.8 if racing else 0.05):
            self._inside_acts(self.inside, point.leads)
        elif chance < 0.35:
            self._people(*people.ON_LEADS, near=point.leads)
        elif chance < 0.50:
            self._people(*people.ON_GROUPS, near=point.others)
        elif chance < 0.70:
            seconds = self.dice.choice((10.0, 61.0, 130.0) if _records(point) else (0.5, 10.0, 61.0, 130.0))
            self.count("answer: slow")
            self.note(f"{seconds} s pass")
            self.elapse(seconds)
            if self.dice.random() < 0.7 and point.kind != "login":
                self._some_router("intake" if point.loop == "intake" else "worker")  # a lease may be over
        elif point.kind != "login":
            self._some_router()

    def _types(self, near: Sequence[str]) -> None:
        """Where there is a provider, somebody types what it is asked for."""
        done = None if self.outside is None else hopping.types(self.company, self.outside, near)
        if done is not None:
            self.count("enrichment: typed")
            self.note(done)

    def _aims(self, point: Point) -> None:
        """Somebody goes who is being given a lead, or a lead in flight asks for an owner by its status."""
        gone = aimed.goes(self.company, point.others) if faults.COMMIT in point.what else None
        asks, flips = (each(self.company, point.leads) for each in (aimed.asks, aimed.flips))
        for name, done in (("goes", gone), ("asks by status", asks), ("flips", flips)):
            if done is not None:
                self.count(f"aimed: {name}")
                self.note(done)

    def _first_touch(self, near: Sequence[str]) -> None:
        """Where there is a clock, somebody does something about a lead before it runs out, or just then."""
        if self.clock_dice is not None and self.clock_dice.random() < clocks.OFTEN:
            done = clocks.touches(self.company, self.clock_dice, near)
            if done is not None:
                self.count("first touch: touched")
                self.note(done)

    def _touch(self, point: Point) -> None:
        """The platform's own upkeep comes by a lead in flight."""
        leads = [lead for lead in point.leads if self.company.row(lead) is not None]
        if leads and self.upkeep.random() < TOUCHED:
            self.count("platform: touched a lead")
            self.org.touch(self.upkeep.choice(leads))

    def _spoils(self, point: Point) -> Fault | str | None:
        match point.kind:
            case "http" | "login":
                fault = faults.for_request(self.air, self.dice, point.what, login=point.kind == "login")
                if fault is not None:
                    self.count(f"request: {fault.name}{'' if fault.value is None else f' {fault.value}'}")
                return fault
            case "database" if self.dice.random() < self.air.database * (INTAKE_BIAS if _keeps(point) else 1):
                sort = self.dice.choice(faults.DATABASE)
                self.count(f"database: {sort}")
                return sort
            case _:
                return None

    def count(self, fault: str) -> None:
        """A fault was injected."""
        self.counts[fault] += 1
        self.note(f"! {fault}")

    @contextmanager
    def _deeper(self) -> Iterator[None]:
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1

    # ---- the calm ---------------------------------------------------------------------------------------------------

    def _calm(self) -> None:
        """Everything works again; all that waits must come to its end, however long the clock has to run."""
        self.note("calm")
        for world in self.worlds:
            world.faults.clear()
        self.log.faults.clear()
        self.log.release()
        self.company.mends()
        if self.trigger is not None:
            self.trigger.mends()
        if self.outside is not None:
            self.outside.well = True
        for host in self.hosts:
            host.offset_s = 0.0
        least, settled = self.dice.choice(CALMS_MIN), False
        for number, seconds in enumerate(CALM_S):
            self.elapse(seconds)
            self._quiet()
            if self.inside is not None and self.witness.owned():
                self.inside.works()  # it hides nothing: the others had found everybody
            waiting = self.witness.waiting()
            settled = settled or not waiting
            if sum(CALM_S[: number + 1]) < PROMPT_S < sum(CALM_S[: number + 2]) and not settled:
                self.late = waiting
            if not waiting and number + 1 >= least:
                return

    def _quiet(self) -> None:
        """All loops, until twice none of them had anything to do: a step of the intake may renew its lease alone.

        The jobs of one lead are asked one by one, so that many of them take as many rounds more.
        """
        waiting = sum(job["status"] == "queued" for host in self.hosts for job in host.jobs())
        everybody = [(router, name) for router in self.routers for name in router.names]
        asked, idle = everybody, 0
        for number in range(IDLE_ROUNDS_MAX + waiting):
            if self.trigger is not None:
                self.trigger.goes_on()
            busy = [(router, name) for router, name in asked if self.step(router, name)]
            idle = idle + 1 if not busy and asked is everybody else 0
            if idle == IDLE_ROUNDS:
                return
            asked = busy if busy and number % ROUNDS_APART else everybody  # what one brings another may have to do
            self.elapse(1.0 if busy and all(name == "intake" for _, name in busy) else 0.01)


def _keeps(point: Point) -> bool:
    """Whether the intake speaks to its database."""
    return point.loop == "intake" and point.kind == "database"


def _records(point: Point) -> bool:
    """Whether the intake is about to record what it heard."""
    return point.loop == "intake" and point.when == "before" and LINE_UP in point.what


@lru_cache
def _schema() -> Schema:
    return load(default_metadata())


@lru_cache
def _template() -> bytes:
    """An empty job database of the present schema."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "jobs.db"
        engine = SqliteEngine(path)
        migrate(engine)
        engine.close()
        sqlite3.connect(path).close()
        return path.read_bytes()


def _sqlite(host: Host) -> Engine:
    path = host.play.folder / f"{host.name}.db"
    if not path.exists():
        path.write_bytes(_template())
    return SqliteEngine(path, clock=host.time)


@contextmanager
def played(seed: int, **options: Any) -> Iterator[Play]:
    """The play of a seed, played to its end, as long as the block lasts."""
    memory = Path("/dev/shm")  # noqa: S108 - plays do not outlive the machine
    folder = Path(tempfile.mkdtemp(prefix="simulation-", dir=memory if memory.is_dir() else None))
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    collects = gc.isenabled()
    gc.disable()  # a play is short; its rings are swept away at its end
    play = Play(seed, folder, **options)
    try:
        play.run()
        yield play
    finally:
        for host in play.hosts:
            for router in host.routers:
                router.kill()
        for host in play.hosts:
            if host.opened is not None:
                host.opened.close()
        logging.disable(before)
        if collects:
            gc.enable()
        shutil.rmtree(folder, ignore_errors=True)
