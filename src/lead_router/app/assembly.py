"""The loops of one process, put together from settings and from the parts that reach outside."""

from __future__ import annotations

import os
import random
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from lead_router.app.hops import enriching
from lead_router.app.noticing import Post
from lead_router.app.streams import open_source
from lead_router.app.wiring import Wired, now, store_of
from lead_router.core.model import Switch
from lead_router.loops.breaker import Breaker
from lead_router.loops.current import Current
from lead_router.loops.enriching import Enriching
from lead_router.loops.firsttouch import FirstTouch
from lead_router.loops.intake import Intake
from lead_router.loops.listening import LOOK_EVERY_S, Listening
from lead_router.loops.noticing import Noticing
from lead_router.loops.predecessors import listener_name, worker_name
from lead_router.loops.promptness import Promptness, wanted_now
from lead_router.loops.runner import Loop
from lead_router.loops.upkeep import Upkeep
from lead_router.loops.verifying import Verifying
from lead_router.loops.vitals import Vitals
from lead_router.loops.worker import Worker
from lead_router.ports import Hold, JobStore, Wanted
from lead_router.ports.meter import NO_METER, Meter
from lead_router.ports.notices import Channel, nowhere
from lead_router.salesforce.books import SalesforceBooks
from lead_router.salesforce.changes import own_change
from lead_router.salesforce.names import Channels
from lead_router.settings import Settings

INTAKE_WAIT_S = 1.0
UPKEEP = "upkeep"
UPKEEP_IDLE_S = 1.0
ENRICHING = "enriching"
ENRICHING_IDLE_S = 1.0
NOTICE_IDLE_S = 0.5
VERIFYING_IDLE_S = 5.0


@dataclass(frozen=True, slots=True)
class Assembly:
    """What the loops of one process are made of; each loop is made on its own thread, with a store of its own."""

    settings: Settings
    wired: Wired
    current: Current
    org_id: str
    breaker: Breaker
    vitals: Vitals
    wake: Callable[..., None]
    promptness: Promptness = field(default_factory=lambda: Promptness(Breaker(time.monotonic)))
    post: Post | None = None
    meter: Meter = NO_METER
    breakers: dict[str, Breaker] = field(default_factory=dict)

    def loops(self) -> tuple[Loop, ...]:
        """The loops, by name; none is built yet."""
        numbered = enumerate(self._workers(), 1)
        workers = (Loop(name, partial(self.worker, number), self.settings.poll_s) for number, name in numbered)
        hops = (Loop(ENRICHING, self.enriching, ENRICHING_IDLE_S),) if self.wired.hops.loops else ()
        channels = () if self.post is None else self.post.plan.channels
        told = (Loop(f"notices-{one.name}", partial(self.noticing, one), NOTICE_IDLE_S) for one in channels)
        verifying = (Loop("verifying", self.verifying, VERIFYING_IDLE_S),) if self.settings.verify_every_s else ()
        upkeep = Loop(UPKEEP, self.upkeep, UPKEEP_IDLE_S)
        optional = (*hops, *told, *verifying, *self._clocks())
        return (Loop("intake", self.listening, LOOK_EVERY_S), *workers, upkeep, *optional)

    def _clocks(self) -> tuple[Loop, ...]:
        off = self.settings.first_touch is Switch.OFF
        return () if off else (Loop("first-touch", self.first_touch, UPKEEP_IDLE_S),)

    def _workers(self) -> tuple[str, ...]:
        return tuple(f"worker-{number}" for number in range(1, self.settings.workers + 1))

    def store(self) -> JobStore:
        """A job store for the calling thread; the start has opened one before."""
        channels = nowhere if self.post is None else self.post.plan.channels_of
        return store_of(self.settings, self.org_id, channels, admitted=True)

    def listening(self) -> Listening:
        """The loop that listens, or waits for its turn to."""
        listening = Listening(
            self.store(),
            self.current,
            self.intake,
            channel=self.settings.stream_channel,
            name=listener_name(socket.gethostname(), os.getpid()),
            monotonic=time.monotonic,
        )
        self.vitals.ear = listening.hearing
        return listening

    def intake(self, hold: Hold) -> Intake:
        """What listens while the hold stands, from the position that is stored now."""
        store = self.store()
        channel = self.settings.stream_channel
        notices = Channels.CONFIGURATION_CHANGES if self.settings.configuration_events else ()
        source = open_source(self.settings, self.wired, load=store.position, notices=notices)
        own = partial(own_change, user_id=self.wired.tokens.token().user_id)
        return Intake(
            source,
            store,
            self.current,
            channel=channel,
            org_id=self.org_id,
            own=own,
            wait_s=INTAKE_WAIT_S,
            wake=partial(self.wake, *self._workers(), *((ENRICHING,) if self.wired.hops.loops else ())),
            wake_upkeep=partial(self.wake, UPKEEP),
            hold=hold,
            wanted=self.wanted,
            meter=self.meter,
            now=now,
        )

    def wanted(self) -> Wanted | None:
        """What new leads are wanted for, as the provider is now."""
        return wanted_now(self.current.get(), self.promptness)

    def enriching(self) -> Enriching:
        """The loop that asks the provider, and writes what it answered, and scores, on the leads."""
        self.breakers["enrichment"] = self.promptness.breaker
        return enriching(
            self.wired.org,
            self.store(),
            self.current,
            self.wired.hops,
            self.promptness,
            now=now,
            wake=partial(self.wake, *self._workers()),
            meter=self.meter,
        )

    def worker(self, number: int) -> Worker:
        """A loop that routes."""
        settings = self.settings
        return Worker(
            self.wired.org,
            self.store(),
            self.current,
            self.breaker,
            name=worker_name(socket.gethostname(), os.getpid(), number),
            now=now,
            monotonic=time.monotonic,
            pause=time.sleep,
            dice=random.Random(),  # noqa: S311 - jitter
            batch_max=settings.batch_max,
            lease_s=settings.lease_s,
            backoff_first_s=settings.backoff_first_s,
            backoff_cap_s=settings.backoff_cap_s,
            reroutes_max=settings.reroutes_max,
            meter=self.meter,
        )

    def noticing(self, channel: Channel) -> Noticing:
        """A loop that tells one channel."""
        assert self.post is not None  # noqa: S101 - it has no loop else
        breaker = self.breakers[f"notices-{channel.name}"] = Breaker(time.monotonic)
        return Noticing(
            self.store(),
            self.wired.org,
            self.current,
            self.post.messengers[channel.name],
            channel,
            breaker=breaker,
            now=now,
            monotonic=time.monotonic,
            home=lambda: self.wired.tokens.token().instance_url,
            call_s=self.settings.connect_timeout_s + self.settings.read_timeout_s,
            meter=self.meter,
        )

    def first_touch(self) -> FirstTouch:
        """The loop that looks for leads which their owners let lie."""
        return FirstTouch(
            self.wired.org,
            self.store(),
            self.current,
            org_id=self.org_id,
            now=now,
            monotonic=time.monotonic,
            every_s=self.settings.first_touch_every_s,
            wake=self.wake,
            routing=self.breaker,
        )

    def upkeep(self) -> Upkeep:
        """The loop that sweeps, at once where the last sweep is long ago or there was none."""
        return Upkeep(
            self.wired.org,
            self.store(),
            self.current,
            org_id=self.org_id,
            now=now,
            monotonic=time.monotonic,
            configuration_every_s=self.settings.configuration_every_s,
            sweep_every_s=self.settings.sweep_every_s,
            keep_done_s=self.settings.keep_done_days * 86_400.0,
            wake=self.wake,
            silent_after_s=self.settings.silent_after_s,
            breaker=self.breaker,
            wanted=self.wanted,
            meter=self.meter,
        )

    def verifying(self) -> Verifying:
        """The loop that holds the rotations against the ledger."""
        return Verifying(
            SalesforceBooks(self.wired.rest),
            self.store(),
            now=now,
            monotonic=time.monotonic,
            every_s=self.settings.verify_every_s,
            breaker=self.breaker,
            since=self.settings.ledger_since,
            meter=self.meter,
        )
