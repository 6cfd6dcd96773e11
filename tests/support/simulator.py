"""The simulated org for tests: as a process on a free port, and in this process behind the transport adapter."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import requests

from org_simulator.clock import Clock, ManualClock
from org_simulator.switches import Switches
from org_simulator.wire import adapter, start
from org_simulator.wire.world import ConnectedApp, World

START = datetime(2026, 11, 30, 9, 0, 0, tzinfo=UTC)
DATA = "/services/data/v68.0"
STOP_S = 15.0
CALL_S = 30.0


@dataclass(frozen=True)
class Client:
    """A logged-in user's plain HTTP client; paths are below the API version."""

    url: str
    session: requests.Session

    def call(self, method: str, path: str, content: Any = None, **more: Any) -> requests.Response:
        """One request; `more` is for requests (headers, params)."""
        url = self.url + (path if path.startswith("/services/") else f"{DATA}/{path}")
        return self.session.request(method, url, json=content, timeout=CALL_S, **more)

    def query(self, soql: str, **more: Any) -> list[dict[str, Any]]:
        """The records of a query's first page."""
        answer = self.call("GET", "query", params={"q": soql}, **more)
        assert answer.status_code == 200, answer.text
        records: list[dict[str, Any]] = answer.json()["records"]
        return records

    def create(self, sobject: str, **fields: Any) -> str:
        """A new record's id."""
        answer = self.call("POST", f"sobjects/{sobject}", fields)
        assert answer.status_code == 201, answer.text
        record_id: str = answer.json()["id"]
        return record_id

    def composite(self, *parts: Mapping[str, Any], **options: Any) -> list[dict[str, Any]]:
        """The answers of a composite's parts; by default all or none, in the order given; None leaves one out."""
        content = {"allOrNone": True, "collateSubrequests": False, "compositeRequest": parts, **options}
        content = {name: value for name, value in content.items() if value is not None}
        answer = self.call("POST", "composite", content)
        assert answer.status_code == 200, answer.text
        answers: list[dict[str, Any]] = answer.json()["compositeResponse"]
        return answers


def part(
    method: str, name: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """A subrequest of a composite; the path is below the API version."""
    made = {"method": method, "referenceId": name, "url": f"{DATA}/{path}", "body": body, "httpHeaders": headers}
    return {key: value for key, value in made.items() if value is not None}


def lead(**fields: Any) -> dict[str, Any]:
    """A lead's fields, good enough to be saved."""
    return {"LastName": "Lovelace", "Company": "Engines Ltd", **fields}


# ---- in this process ------------------------------------------------------------------------------------------------


def world(
    *,
    clock: Clock | None = None,
    switches: Switches | None = None,
    seed: int = 7,
    app: ConnectedApp | None = None,
) -> World:
    """A fresh org on a clock that stands still."""
    return start.world(clock=clock or ManualClock(START), switches=switches, seed=seed, app=app)


def client(of: World, user_id: str | None = None) -> Client:
    """A client of the org without sockets; the integration user's by default."""
    session = adapter.session(of)
    token = of.org.sessions.issue(user_id or of.org.integration_user_id)
    session.headers["Authorization"] = f"Bearer {token}"
    return Client(of.base_url, session)


def admin(of: World) -> Client:
    """The administrator's client."""
    return client(of, of.org.admin_user_id)


# ---- as a process ---------------------------------------------------------------------------------------------------


@dataclass
class Simulator:
    """`python -m org_simulator`, running. `ready` is what it printed when it was."""

    process: subprocess.Popen[str]
    ready: dict[str, Any]
    sessions: list[requests.Session] = field(default_factory=list)

    @property
    def url(self) -> str:
        """The org's URL, without a slash at its end."""
        return str(self.ready["url"])

    @property
    def certificate(self) -> str | None:
        """The file to verify the org's TLS with."""
        found = self.ready["certificate"]
        return None if found is None else str(found)

    def open_session(self) -> requests.Session:
        """A session that trusts the org's certificate."""
        session = requests.Session()
        session.trust_env = False
        session.verify = self.certificate or True
        self.sessions.append(session)
        return session

    def control(self, name: str, content: Any = None, method: str | None = None) -> Any:
        """A control call: POST with content, GET without, unless told otherwise."""
        verb = method or ("GET" if content is None else "POST")
        answer = self.open_session().request(verb, f"{self.url}/simulator/{name}", json=content, timeout=CALL_S)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def token(self, username: str | None = None) -> str:
        """A fresh access token, the administrator's by default."""
        return str(self.control("login", {"username": username} if username else {})["access_token"])

    def client(self, username: str | None = None) -> Client:
        """A logged-in client, the administrator's by default."""
        session = self.open_session()
        session.headers["Authorization"] = f"Bearer {self.token(username)}"
        return Client(self.url, session)

    def rows(self, sobject: str) -> list[dict[str, Any]]:
        """All records of an object, as stored."""
        found: list[dict[str, Any]] = self.control(f"rows?sobject={sobject}")
        return found

    def stop(self) -> int:
        """End it as an operator does; the answer is its exit code."""
        for session in self.sessions:
            session.close()
        if self.process.poll() is None:
            self.process.terminate()
        try:
            return self.process.wait(STOP_S)
        finally:
            self.process.kill()
            self.process.wait()
            if self.process.stdout is not None:
                self.process.stdout.close()


@contextmanager
def simulator(
    *options: str, scenario: Mapping[str, Any] | None = None, tls: Path | None = None, python: Sequence[str] = ()
) -> Iterator[Simulator]:
    """A simulated org as a process on a free port, while the block lasts. `tls` is the certificate's folder."""
    command = [*(python or (sys.executable,)), "-m", "org_simulator", "--port", "0", "--seed", "0", *options]
    if tls is not None:
        command += ["--tls", str(tls)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    running = Simulator(process, {"url": None, "certificate": None})
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, f"the simulator did not start: exit code {process.wait(STOP_S)}"
        running.ready = json.loads(line)
        if scenario is not None:
            running.control("scenario", scenario)
        yield running
    finally:
        running.stop()
