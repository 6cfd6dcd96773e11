"""A third program: it knows nothing of the router, and Salesforce only through simple-salesforce's production class."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import requests
from requests.adapters import HTTPAdapter
from simple_salesforce.api import Salesforce

from support.company import FORM, PERSON
from support.simulator import Simulator

CONNECTIONS = 16
THREADS = 5


class PlainHttp(HTTPAdapter):
    """Sends https requests as http: the library speaks https only, and the simulated org listens without TLS."""

    def send(self, request: requests.PreparedRequest, *args: Any, **more: Any) -> requests.Response:
        """Send to the same host and port over http."""
        request.url = urlunsplit(urlsplit(str(request.url))._replace(scheme="http"))
        return super().send(request, *args, **more)


def log_in(org: Simulator, username: str | None = FORM, *, connections: int = CONNECTIONS) -> Salesforce:
    """The production class, logged in as `username` (None: the administrator). Its requests are real HTTP."""
    session = org.open_session()
    session.mount("https://", PlainHttp(pool_maxsize=connections))
    return Salesforce(session_id=org.token(username), instance_url=org.url, version="68.0", session=session)


def intake_queue(salesforce: Salesforce) -> str:
    """The id of the queue that new leads come to."""
    found = salesforce.query("SELECT Id FROM Group WHERE Type = 'Queue' AND DeveloperName = 'Lead_Intake'")
    return str(found["records"][0]["Id"])


class Form:
    """Creates leads in the intake queue and remembers their ids. Many threads may use one form."""

    def __init__(self, org: Simulator, username: str = FORM) -> None:
        self.salesforce = log_in(org, username)
        self.queue = intake_queue(self.salesforce)
        self.created: list[str] = []
        # Without this header the org's own assignment rule would give the leads away before the router sees them.
        self._headers = {"Sforce-Auto-Assign": "FALSE"}

    def post(self, lead: Mapping[str, Any]) -> str:
        """One lead by a call of its own; its id."""
        made = self.salesforce.Lead.create({"OwnerId": self.queue, **lead}, headers=self._headers)
        self.created.append(str(made["id"]))
        return self.created[-1]

    def post_together(self, leads: Sequence[Mapping[str, Any]]) -> list[str]:
        """At most 200 leads in one call and one transaction; their ids in order."""
        records = [{"attributes": {"type": "Lead"}, "OwnerId": self.queue, **lead} for lead in leads]
        content = {"allOrNone": True, "records": records}
        answer = self.salesforce.restful("composite/sobjects", method="POST", json=content, headers=self._headers)
        ids = [str(made["id"]) for made in answer if made["success"]]
        assert len(ids) == len(leads), answer
        self.created += ids
        return ids

    def post_all(self, leads: Sequence[Mapping[str, Any]], *, threads: int = THREADS, together: int = 1) -> list[str]:
        """All leads from several threads, `together` leads in a call; their ids in order."""
        parts = [leads[at : at + together] for at in range(0, len(leads), together)]
        with ThreadPoolExecutor(threads) as pool:
            if together == 1:
                return list(pool.map(self.post, leads))
            return [lead_id for ids in pool.map(self.post_together, parts) for lead_id in ids]


class Person:
    """Takes leads by hand, as the CRM's own page does."""

    def __init__(self, org: Simulator, username: str = PERSON) -> None:
        self.salesforce = log_in(org, username)
        found = self.salesforce.query(f"SELECT Id FROM User WHERE Username = '{username}'")
        self.id = str(found["records"][0]["Id"])

    def take(self, lead_id: str) -> None:
        """The lead is this person's, or the call fails."""
        self.salesforce.Lead.update(lead_id, {"OwnerId": self.id}, headers={"Sforce-Auto-Assign": "FALSE"})


@contextmanager
def meanwhile(form: Form, leads: Sequence[Mapping[str, Any]], *, threads: int = 2, together: int = 1) -> Iterator[None]:
    """Post all leads beside the block; the block's end waits for the last of them."""
    with ThreadPoolExecutor(1) as pool:
        posted = pool.submit(form.post_all, leads, threads=threads, together=together)
        yield
        posted.result()
