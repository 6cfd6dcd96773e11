"""A simulated org on a clock that tests drive, and threads whose outcome is a value."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from org_simulator.clock import ManualClock
from org_simulator.failures import Failure
from org_simulator.org import Org
from org_simulator.schema import default_metadata, load
from org_simulator.switches import Switches

START = datetime(2026, 11, 29, 20, 26, 27, 512_000, tzinfo=UTC)
PATIENCE_S = 20.0
"""Real seconds after which a test gives up on a thread."""

POLL_S = 0.005


class Clock(ManualClock):
    """Remembers how long each look at a lock was still willing to wait, in seconds."""

    def __init__(self) -> None:
        super().__init__(START)
        self.waits: list[float] = []

    def wait(self, condition: threading.Condition, timeout_s: float) -> None:
        self.waits.append(timeout_s)
        super().wait(condition, timeout_s)


SCHEMA = load(default_metadata())


def build_org(switches: Switches | None = None) -> Org:
    """A new org at START."""
    return Org(SCHEMA, clock=Clock(), switches=switches or Switches(), seed=7)


def add(org: Org, sobject: str, **fields: Any) -> str:
    """A record committed by the administrator, without assignment rules."""
    with org.transaction(org.admin_user_id, auto_assign=False) as tx:
        return tx.insert(sobject, fields)


def add_lead(org: Org, **fields: Any) -> str:
    return add(org, "Lead", **{"LastName": "Doe", "Company": "Acme", **fields})


def add_user(org: Org, name: str) -> str:
    return add(org, "User", LastName=name, Username=f"{name}@reps.example")


def field(org: Org, sobject: str, record_id: str, name: str) -> Any:
    """A committed value."""
    with org.transaction(org.admin_user_id) as tx:
        row = tx.row(sobject, record_id)
    assert row is not None
    return row[name]


class Thread:
    """Work on another thread; `code` is "done" or the code of the Failure it met."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self._work = work
        self._code: str | BaseException = "still working"
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._work()
        except Failure as failure:
            self._code = failure.code
        except BaseException as fault:  # noqa: BLE001 - handed to the test
            self._code = fault
        else:
            self._code = "done"

    @property
    def working(self) -> bool:
        return self._thread.is_alive()

    @property
    def code(self) -> str:
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive(), "the thread did not end"
        if isinstance(self._code, BaseException):
            raise self._code
        return self._code


def until(true: Callable[[], bool], *, patience_s: float = PATIENCE_S) -> None:
    """Until a condition holds that another thread brings about."""
    patience = threading.Event()
    for _ in range(int(patience_s / POLL_S)):
        if true():
            return
        patience.wait(POLL_S)
    raise AssertionError("it never came true")


def until_waiting(org: Org, count: int, *, patience_s: float = PATIENCE_S) -> None:
    """Until `count` transactions wait for a lock."""
    until(lambda: org.store.locks.waiting >= count, patience_s=patience_s)
