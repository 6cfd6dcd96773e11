"""The loops of one process on a rig, run by a runner as in production, with their vitals."""

from __future__ import annotations

import threading
import time

from lead_router.errors import StoreUnavailable
from lead_router.loops.runner import Loop, Runner
from lead_router.loops.vitals import Vitals
from support.listeners import Process
from support.worker_rig import Rig

SETTLE_S = 30.0  # on a busy machine
PATIENCE_S = 60.0


class Life:
    """A listener, a worker and upkeep on a rig, in a runner with their vitals."""

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self.process = Process(rig, "host/1/listener")
        self.listening = self.process.loop
        self.worker = rig.router
        self.upkeep = rig.upkeep(configuration_every_s=1e9)
        self.vitals = Vitals(rig.clock.monotonic, patience_s=PATIENCE_S)
        self.vitals.ear = self.listening.hearing
        self.vitals.refusal = rig.breaker.why
        loops = {"intake": self.listening, "worker-1": self.worker, "upkeep": self.upkeep}
        made = tuple(Loop(name, lambda loop=loop: loop, 0.005) for name, loop in loops.items())
        self.runner = Runner(lambda _: made, self.vitals)
        self.codes: list[int] = []
        self.thread = threading.Thread(target=lambda: self.codes.append(self.runner.run()))

    def start(self):
        self.thread.start()
        self.until(lambda: self.vitals.health().ready)

    def until(self, met, within_s=SETTLE_S):
        deadline = time.monotonic() + within_s
        while not met():
            assert time.monotonic() < deadline, self.vitals.health()
            threading.Event().wait(0.002)

    def write(self, act):
        """Whatever the loops write meanwhile: a wait for them is as short here as theirs."""

        def written():
            try:
                act()
            except StoreUnavailable:
                return False
            return True

        self.until(written)

    def leads(self, count):
        """New leads, told of by the stream."""
        made = [self.rig.rest_org.lead() for _ in range(count)]
        self.write(lambda: self.rig.told(*made))
        return made

    def stop(self):
        self.runner.stop()
        if self.thread.ident is not None:
            self.thread.join(10)
