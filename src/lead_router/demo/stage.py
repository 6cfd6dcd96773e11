"""The stage: a simulated org and the router, each a process of its own, over one folder that is gone afterwards."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lead_router.demo import scenario
from lead_router.errors import ContractMismatch, Unreachable

READY_S = 20.0
STOP_S = 30.0  # longer than the router's own drain
LOG = "router.log"
LOOK_S = 0.05
CLIENT_SECRET = "simulator"  # noqa: S105 - the simulated org's
NO_PROXY = {"NO_PROXY": "localhost,127.0.0.1", "no_proxy": "localhost,127.0.0.1"}


@dataclass(frozen=True, slots=True)
class SimulatedOrg:
    """Where the org is and how to get in."""

    url: str
    org_id: str
    client_id: str
    pubsub: str | None = None


class Stage:
    """The org, and at most one router at a time. Left to `raised`, which stops whatever still runs."""

    def __init__(self, folder: Path, org: SimulatedOrg) -> None:
        self.org = org
        self.database = f"sqlite:///{folder / 'jobs.db'}"
        self.log = folder / LOG
        self.folder = folder
        self.health = ""
        self._router: subprocess.Popen[bytes] | None = None
        self._told = 0

    def environment(self, shell: Mapping[str, str]) -> dict[str, str]:
        """What the router, and whoever looks at its work, is started with."""
        return router_environment(shell, self.org, self.database) | (
            {"LEAD_ROUTER_HEALTH_ADDRESS": self.health} if self.health else {}
        )

    def opened(self) -> None:
        """From its next start on the router answers how it is, at a port of this machine that is free now."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.health = f"127.0.0.1:{free.getsockname()[1]}"

    def settings_file(self) -> Path:
        """The router's settings, for other commands; only this user may read them, as a secret is among them."""
        path = self.folder / "demo.env"
        path.touch(mode=0o600)
        own = self.environment({})
        path.write_text("".join(f"{name}={own[name]}\n" for name in own if name not in NO_PROXY), encoding="utf-8")
        return path

    def start_router(self) -> None:
        """Start the router as an operator would: by its settings in the environment, and none of this shell's."""
        with self.log.open("ab") as log:
            self._told = log.tell()
            self._router = subprocess.Popen(
                [sys.executable, "-m", "lead_router", "run"],
                cwd=self.folder,
                env=self.environment(os.environ),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def await_subscription(self) -> None:
        """Until the router that was started last hears the stream. Raises Unreachable after `READY_S` seconds."""
        until = time.monotonic() + READY_S
        while b'"stream_subscribed"' not in self.log.read_bytes()[self._told :]:
            self.check_router()
            if time.monotonic() > until:
                raise Unreachable(f"the router did not subscribe within {READY_S:g} s")
            time.sleep(LOOK_S)

    def check_router(self) -> None:
        """Raises ContractMismatch if the router ended by itself."""
        if self._router is not None and (code := self._router.poll()) is not None:
            raise ContractMismatch(f"the router ended by itself with exit code {code}")

    def crash_router(self) -> None:
        """Kill -9: no drain, no goodbye."""
        if self._router is not None:
            self._router.kill()
            self._router.wait()
            self._router = None

    def stop_router(self) -> int:
        """SIGTERM, and the exit code of the drain."""
        if self._router is None:
            return 0
        code = _ended(self._router)
        self._router = None
        return code


def router_environment(shell: Mapping[str, str], org: SimulatedOrg, database: str) -> dict[str, str]:
    """The router's environment: this shell's, without any LEAD_ROUTER_ setting but the demo's own."""
    own = {
        "LOGIN_URL": org.url,
        "CLIENT_ID": org.client_id,
        "CLIENT_SECRET": CLIENT_SECRET,
        "DATABASE": database,
        "STREAM": "cometd" if org.pubsub is None else "pubsub",
        "PUBSUB_ENDPOINT": org.pubsub or "",
    }
    kept = {name: value for name, value in shell.items() if not name.startswith("LEAD_ROUTER_")}
    return {**kept, **NO_PROXY, **{f"LEAD_ROUTER_{name}": value for name, value in own.items()}}


@contextlib.contextmanager
def raised(folder: Path, seed: int, *, pubsub: bool = False) -> Iterator[Stage]:
    """A stage with an org that answers, and no router yet. Both are stopped at the end, whatever happens.

    With `pubsub` the org serves Pub/Sub API beside CometD, and the router listens there.

    Raises Unreachable or ContractMismatch, with the org's own words, if the org does not come up.
    """
    company = folder / "scenario.json"
    company.write_text(json.dumps(scenario.records()), encoding="utf-8")
    words = ["--port", "0", "--seed", str(seed), "--scenario", str(company), "--client-secret", CLIENT_SECRET]
    words += ["--pubsub-port", "0"] if pubsub else []
    told, complaints = folder / "org.out", folder / "org.err"
    with told.open("wb") as out, complaints.open("wb") as err:
        process = subprocess.Popen(
            [sys.executable, "-m", "org_simulator", *words],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
    stage: Stage | None = None
    try:
        ready = _ready(process, told, complaints)
        stage = Stage(folder, SimulatedOrg(ready["url"], ready["org_id"], ready["client_id"], ready["pubsub"]))
        yield stage
    finally:
        if stage is not None:
            stage.crash_router()
        _ended(process)


def _ready(process: subprocess.Popen[bytes], told: Path, complaints: Path) -> dict[str, Any]:
    """The one line that the org prints when it answers."""
    until = time.monotonic() + READY_S
    while not (line := told.read_text(encoding="utf-8")).endswith("\n"):
        if process.poll() is not None:
            said = complaints.read_text(encoding="utf-8", errors="replace").strip()
            raise ContractMismatch(f"the simulated org did not start: {said[-2000:]}")
        if time.monotonic() > until:
            raise Unreachable(f"the simulated org was not ready within {READY_S:g} s")
        time.sleep(LOOK_S)
    ready: dict[str, Any] = json.loads(line)
    return ready


def _ended(process: subprocess.Popen[bytes]) -> int:
    process.terminate()
    try:
        return process.wait(STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()
