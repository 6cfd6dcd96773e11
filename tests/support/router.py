"""`python -m lead_router` as processes of their own, and one-shot commands, configured as an operator does."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from support.simulator import Simulator

COMMAND_S = 30.0
LOOK_S = 0.05
PROGRAM = ("-m", "lead_router", "run")
QUIT_S = 25.0  # longer than the router's own drain
# A killed router's claims are free again when its lease is over, and a lease must outlast both time-outs by 10 s.
LIMITS = {"CONNECT_TIMEOUT_S": "0.5", "READ_TIMEOUT_S": "3", "LEASE_S": "13.5", "POLL_S": "0.2"}


def until(done: Callable[[], Any], within_s: float, what: str) -> Any:
    """What `done` answers as soon as that is true; fails, naming `what`, after `within_s` seconds."""
    deadline = time.monotonic() + within_s
    while not (found := done()):
        assert time.monotonic() < deadline, f"not within {within_s:g} s: {what}"
        time.sleep(LOOK_S)
    return found


def environment(org: Simulator, database: str, **settings: str) -> dict[str, str]:
    """This shell's environment without settings of its own, and those of the test: names in lower case."""
    own = {
        "LOGIN_URL": org.url,
        "CLIENT_ID": "lead-router",
        "CLIENT_SECRET": "simulator",
        "DATABASE": database,
        **LIMITS,
        **{name.upper(): value for name, value in settings.items()},
    }
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LEAD_ROUTER_")}
    return {**kept, "NO_PROXY": "localhost,127.0.0.1", **{f"LEAD_ROUTER_{name}": text for name, text in own.items()}}


@dataclass(frozen=True)
class Ended:
    """A command that has ended: exit code and what it printed."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        """The one JSON value on standard output."""
        return json.loads(self.out)


def command(folder: Path, settings: Mapping[str, str], *words: str, within_s: float = COMMAND_S) -> Ended:
    """One `lead-router` command in `folder`, to its end."""
    ended = subprocess.run(
        [sys.executable, "-m", "lead_router", *words],
        cwd=folder,
        env=dict(settings),
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
        timeout=within_s,
    )
    return Ended(ended.returncode, ended.stdout, ended.stderr)


class Router:
    """A `lead-router run` that may be started, killed and stopped again and again; its log is kept throughout."""

    def __init__(self, folder: Path, settings: Mapping[str, str], program: Sequence[str] = PROGRAM) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.program = program
        self.settings = dict(settings)
        self.log = folder / "router.log"
        self.process: subprocess.Popen[bytes] | None = None
        self._before = 0

    def start(self) -> Router:
        """Start it, without waiting for anything."""
        self._before = len(self.events("router_started"))
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, *self.program],
                cwd=self.folder,
                env=self.settings,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        return self

    def events(self, name: str = "") -> list[dict[str, Any]]:
        """The log's lines so far, those of one event only if `name` is given."""
        text = self.log.read_text(encoding="utf-8") if self.log.exists() else ""
        lines = [json.loads(line) for line in text.splitlines() if line.startswith("{") and line.endswith("}")]
        return [line for line in lines if name in {"", line.get("event")}]

    def await_event(self, name: str, *, count: int = 1, within_s: float = COMMAND_S) -> None:
        """Until the log holds `count` lines of this event."""
        until(lambda: len(self.events(name)) >= count or self._ended(), within_s, f"{count} of {name} logged")
        assert len(self.events(name)) >= count, self.log.read_text(encoding="utf-8")[-2000:]

    def subscribed(self) -> Router:
        """Until it hears the stream."""
        self.await_event("stream_subscribed")
        return self

    def at_work(self) -> Router:
        """Until it hears the stream, or waits because another one does."""
        heard = ("stream_subscribed", "listener_waits")
        until(lambda: any(map(self.events, heard)) or self._ended(), COMMAND_S, f"{self.folder.name} hears or waits")
        assert any(map(self.events, heard)), self.log.read_text(encoding="utf-8")[-2000:]
        return self

    def started(self) -> Router:
        """Until the process that was started last has begun to route."""
        self.await_event("router_started", count=self._before + 1)
        return self

    def kill(self) -> None:
        """`kill -9`: no drain, no goodbye."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def terminate(self) -> None:
        """SIGTERM, without waiting for what follows."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)

    def wait(self, within_s: float = QUIT_S) -> int:
        """The exit code, which must come within `within_s` seconds; 128 + number after a signal."""
        assert self.process is not None
        code = self.process.wait(within_s)
        return code if code >= 0 else 128 - code

    def stop(self) -> int:
        """SIGTERM, and the exit code of the drain."""
        self.terminate()
        return self.wait()

    def run(self, *words: str) -> Ended:
        """Another command with the same settings."""
        return command(self.folder, self.settings, *words)

    def _ended(self) -> bool:
        return self.process is not None and self.process.poll() is not None


@contextmanager
def routers(*several: Router) -> Iterator[tuple[Router, ...]]:
    """Routers of which one hears the stream while the block lasts, the others wait to; none outlives it."""
    try:
        for router in several:
            router.start()
        for router in several:
            router.at_work()
        yield several
    finally:
        for router in several:
            router.kill()


@pytest.fixture
def router_at(tmp_path: Path) -> Iterator[Callable[..., Router]]:
    """Makes routers for an org: `router_at(org, name="a", database=..., **settings)`; all are killed afterwards."""
    made: list[Router] = []

    def make(org: Simulator, *, name: str = "router", database: str = "sqlite:///jobs.db", **settings: str) -> Router:
        made.append(Router(tmp_path / name, environment(org, database, **settings)))
        return made[-1]

    yield make
    for router in made:
        router.kill()
