"""The form: another client of the org, with a user of its own, that creates leads in the intake queue."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import requests

from lead_router.demo.scenario import QUEUE
from lead_router.errors import Rejected

THREADS = 50  # as many posts as the story has in one instant
ANSWER_S = 30.0
REST = "/services/data/v68.0"
# Without the header the org's own assignment rule would give web leads away.
HEADERS = {"Sforce-Auto-Assign": "FALSE", "Sforce-Call-Options": "client=demo-form"}


class Form:
    """Posts leads from a pool of threads, each with a connection of its own. `calls` counts its API calls."""

    def __init__(self, url: str, token: str) -> None:
        self._url = url + REST
        self._headers = {**HEADERS, "Authorization": f"Bearer {token}"}
        self._local = threading.local()
        self._sessions: list[requests.Session] = []
        self._lock = threading.Lock()
        self._calls = 0
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="form")
        self._queue_id = self._queue()

    @property
    def calls(self) -> int:
        """API calls so far."""
        with self._lock:
            return self._calls

    def send(self, fields: Mapping[str, Any]) -> Future[None]:
        """Create a lead soon; the future raises Rejected if the org does not want it."""
        return self._pool.submit(self._create, fields)

    def close(self) -> None:
        """Drop what is not sent yet, and wait for what is."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        for session in self._sessions:
            session.close()

    def _create(self, fields: Mapping[str, Any]) -> None:
        self._called("POST", "/sobjects/Lead", json={**fields, "OwnerId": self._queue_id})

    def _queue(self) -> str:
        query = f"SELECT Id FROM Group WHERE Type = 'Queue' AND DeveloperName = '{QUEUE}'"  # noqa: S608 - a constant
        found = self._called("GET", "/query", params={"q": query})
        return str(found["records"][0]["Id"])

    def _called(self, method: str, path: str, **body: Any) -> Any:
        with self._lock:
            self._calls += 1
        answer = self._session().request(method, self._url + path, headers=self._headers, timeout=ANSWER_S, **body)
        if not answer.ok:
            raise Rejected(f"the org refused the form: HTTP {answer.status_code} to {method} {path}")
        return answer.json()

    def _session(self) -> requests.Session:
        session: requests.Session | None = getattr(self._local, "session", None)
        if session is None:
            session = self._local.session = local_session()
            with self._lock:
                self._sessions.append(session)
        return session


def local_session() -> requests.Session:
    """A session for this machine: no proxy, no .netrc."""
    session = requests.Session()
    session.trust_env = False
    return session
