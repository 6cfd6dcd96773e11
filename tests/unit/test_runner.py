"""The runner ends when told, and no loop dies unseen."""

from __future__ import annotations

import signal
import threading
import time

import pytest

from lead_router.errors import LoginRefused, Misconfigured, Unreachable
from lead_router.loops import runner
from lead_router.loops.runner import FAULTS_MAX, Loop, Runner
from lead_router.loops.vitals import Vitals


class _Steps:
    """Counts its steps; raises what it is told to; says when it was closed."""

    def __init__(self, fault: Exception | None = None, faults: int = 10**6) -> None:
        self.fault, self.faults = fault, faults
        self.steps = 0
        self.enough = threading.Event()
        self.closed = threading.Event()

    def step(self) -> bool:
        self.steps += 1
        if self.steps >= 3:
            self.enough.set()
        if self.fault is not None and self.steps <= self.faults:
            raise self.fault
        return False

    def close(self) -> None:
        self.closed.set()


@pytest.fixture(autouse=True)
def _fast(monkeypatch):
    monkeypatch.setattr(runner, "PAUSE_FIRST_S", 0.0001)
    monkeypatch.setattr(runner, "PAUSE_CAP_S", 0.001)


def _run(*loops: Loop) -> tuple[Runner, threading.Thread, list[int]]:
    made = Runner(lambda _wake: loops, Vitals(time.monotonic, patience_s=60))
    codes: list[int] = []
    thread = threading.Thread(target=lambda: codes.append(made.run()))
    thread.start()
    return made, thread, codes


def test_stop_drains_every_loop_and_answers_zero():
    """C22: each loop ends its step, frees what it holds, and the process ends well."""
    steps = [_Steps(), _Steps()]
    made, thread, codes = _run(*(Loop(str(i), lambda s=s: s, 0.001) for i, s in enumerate(steps)))
    assert all(s.enough.wait(10) for s in steps)
    made.stop()
    thread.join(10)

    assert codes == [0]
    assert all(s.closed.is_set() for s in steps)


@pytest.mark.parametrize("fault", [Unreachable("gone"), LoginRefused("inactive user")])
def test_an_outage_never_ends_a_loop(fault):
    """F7: the database or the org may be away for long, or the user frozen; the loop goes on when it is back."""
    steps = _Steps(fault, faults=FAULTS_MAX * 3)
    steps_done = threading.Event()
    steps.enough = threading.Event()

    def step() -> bool:
        steps.steps += 1
        if steps.steps <= steps.faults:
            raise fault
        steps_done.set()
        return False

    steps.step = step
    made, thread, codes = _run(Loop("a", lambda: steps, 0.001))
    assert steps_done.wait(10)
    made.stop()
    thread.join(10)

    assert codes == [0]


def test_a_loop_that_keeps_failing_ends_the_process_with_one():
    """F8: a dead loop is seen by the service's supervisor, and its neighbours are closed."""
    bad, good = _Steps(RuntimeError("broken")), _Steps()

    def once_the_other_runs() -> _Steps:
        assert good.enough.wait(10)
        return bad

    _, thread, codes = _run(Loop("bad", once_the_other_runs, 0.001), Loop("good", lambda: good, 0.001))
    thread.join(10)

    assert codes == [1]
    assert (bad.steps, good.closed.is_set()) == (FAULTS_MAX, True)


def test_a_loop_that_cannot_be_built_for_good_ends_the_process():
    """A configuration fault does not leave a process that looks healthy."""

    def build() -> _Steps:
        raise Misconfigured("wrong")

    _, thread, codes = _run(Loop("a", build, 0.001))
    thread.join(10)

    assert codes == [1]


def test_wake_ends_a_rest_at_once():
    """Work that arrives while a loop rests does not wait for the rest to end."""
    steps = _Steps()
    made, thread, _ = _run(Loop("a", lambda: steps, 3600))
    while not steps.enough.wait(0.01):
        made.wake()
    made.stop()
    thread.join(10)

    assert steps.steps >= 3


def test_a_loop_that_is_not_named_rests_on():
    """Who has nothing to do does not take turns at the interpreter with who has."""
    named, other = _Steps(), _Steps()
    made, thread, _ = _run(Loop("a", lambda: named, 3600), Loop("b", lambda: other, 3600))
    while not named.enough.wait(0.01):
        made.wake("a")
    made.stop()
    thread.join(10)

    assert (named.steps >= 3, other.steps) == (True, 1)


def test_a_signal_that_the_system_gives_to_a_loops_thread_ends_the_run():
    """C22: such a one wakes no wait of the main thread, as one does not that comes just before a wait begins."""
    steps = _Steps()

    def step() -> bool:
        steps.steps += 1
        if steps.steps == 50:  # by then the main thread waits
            signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)
        return False

    steps.step = step
    made = Runner(lambda _wake: (Loop("a", lambda: steps, 0.001),), Vitals(time.monotonic, patience_s=60))
    former = signal.signal(signal.SIGUSR1, lambda *_: made.stop())
    late = threading.Timer(10, made.stop)
    late.start()
    try:
        began = time.monotonic()
        assert made.run() == 0
        assert time.monotonic() - began < 5
    finally:
        late.cancel()
        signal.signal(signal.SIGUSR1, former)
