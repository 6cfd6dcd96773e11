"""The runner: one supervised thread per loop, a drain on SIGTERM, and no loop that dies unseen."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import structlog

from lead_router.errors import OUTAGES, Misconfigured, Transient
from lead_router.loops.vitals import Pulse, Vitals
from lead_router.ports.meter import LOOP_FAULTS, NO_METER, Meter

_log = structlog.get_logger(__name__)

FAULTS_MAX = 10
PAUSE_FIRST_S = 0.2
PAUSE_CAP_S = 10.0
DRAIN_S = 20.0
LOOK_S = 0.5


class Stepper(Protocol):
    """A loop: `step` is called again and again, `close` once, both on the loop's own thread."""

    def step(self) -> bool:
        """Do one piece of work; False when there was none."""
        ...

    def close(self) -> None:
        """Free what the loop holds."""
        ...


@dataclass(frozen=True, slots=True)
class Loop:
    """A named loop, built on its own thread (a store belongs to one thread); `idle_s` is its rest when idle."""

    name: str
    build: Callable[[], Stepper]
    idle_s: float


class Runner:
    """Runs loops until `stop` is called or one of them fails `FAULTS_MAX` times in a row.

    `loops` makes them, given the runner's own `wake`, by which one loop tells others of work. Each step, and each
    fault of one, is told to `vitals`.
    """

    def __init__(
        self, loops: Callable[[Callable[..., None]], tuple[Loop, ...]], vitals: Vitals, meter: Meter = NO_METER
    ) -> None:
        self._stop = threading.Event()
        self._dead: str | None = None
        self._vitals = vitals
        self._meter = meter
        self._loops = loops(self.wake)
        self._wakes = {loop.name: threading.Event() for loop in self._loops}
        for loop in self._loops:
            meter.count(LOOP_FAULTS, loop.name, "fault", by=0.0)

    def wake(self, *names: str) -> None:
        """There is work: none of these loops rests longer, no loop at all where none is named."""
        for name in names or self._wakes:
            self._wakes[name].set()

    def stop(self) -> None:
        """Finish the current steps and end."""
        self._vitals.stage = "stopping"
        self._stop.set()
        self.wake()

    def run(self) -> int:
        """Run until stopped; the answer is the exit code: 0 drained, 1 a loop died or did not end in `DRAIN_S`."""
        threads = [
            threading.Thread(target=self._guard, args=(loop,), name=loop.name, daemon=True) for loop in self._loops
        ]
        for loop in self._loops:
            self._vitals.pulse(loop.name).beat()
        self._vitals.stage = "stopping" if self._stop.is_set() else "running"
        for thread in threads:
            thread.start()
        # In steps: a signal is only seen once a wait ends, where the system gave it to another thread, or it came just
        # as the wait began.
        while not self._stop.wait(LOOK_S):
            pass
        deadline = threading.Event()
        timer = threading.Timer(DRAIN_S, deadline.set)
        timer.daemon = True
        timer.start()
        for thread in threads:
            while thread.is_alive() and not deadline.is_set():
                thread.join(0.1)
        timer.cancel()
        stuck = [thread.name for thread in threads if thread.is_alive()]
        if stuck:
            _log.error("loops_stuck", loops=stuck, waited_s=DRAIN_S)
        return 1 if stuck or self._dead else 0

    def _guard(self, loop: Loop) -> None:
        pulse = self._vitals.pulse(loop.name)
        try:
            self._turn(loop, pulse)
        except Exception as fault:  # noqa: BLE001 - seen by the exit code, the log and the health
            pulse.failed(fault)
            _log.exception("loop_died", loop=loop.name)
        finally:
            if not self._stop.is_set():
                self._dead = loop.name
                pulse.died()
            self.stop()

    def _turn(self, loop: Loop, pulse: Pulse) -> None:
        stepper = self._built(loop, pulse)
        wake = self._wakes[loop.name]
        try:
            while stepper is not None and not self._stop.is_set():
                wake.clear()
                busy = self._step(loop, stepper, pulse)
                if not busy and not self._stop.is_set():
                    wake.wait(loop.idle_s)
        finally:
            if stepper is not None:
                stepper.close()

    def _step(self, loop: Loop, stepper: Stepper, pulse: Pulse) -> bool:
        try:
            pulse.beat()
            busy = stepper.step()
        except OUTAGES as fault:
            self._meter.count(LOOP_FAULTS, loop.name, "outage")
            _log.warning("step_failed", loop=loop.name, error=str(fault), kind=type(fault).__name__)
            self._pause(pulse.failed(fault))
            return False
        except Exception as fault:
            self._meter.count(LOOP_FAULTS, loop.name, "fault")
            faults = pulse.failed(fault)
            if faults >= FAULTS_MAX:
                raise
            _log.exception("step_failed", loop=loop.name, faults=faults)
            self._pause(faults)
            return False
        pulse.well(0.0 if busy else loop.idle_s)
        return busy

    def _built(self, loop: Loop, pulse: Pulse) -> Stepper | None:
        while not self._stop.is_set():
            try:
                return loop.build()
            except Misconfigured:
                raise
            except Transient as fault:
                _log.warning("loop_not_started", loop=loop.name, error=str(fault))
                self._pause(pulse.failed(fault))
        return None

    def _pause(self, faults: int) -> None:
        self._stop.wait(min(PAUSE_CAP_S, PAUSE_FIRST_S * 2 ** min(faults, 10)))
