"""Two bare round trips: the requests by which the router reads and writes a lone lead, from a client without it."""

from __future__ import annotations

import http.client
import json
import random
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from typing import Any

from benchmarks.figures import commits
from lead_router.app.wiring import now
from lead_router.core.batch import batches
from lead_router.core.decide import decide
from lead_router.core.keys import create_key, submission_of
from lead_router.core.model import Ask
from lead_router.demo.witness import Witness
from lead_router.salesforce.auth import Login, TokenHolder
from lead_router.salesforce.configuration import Intake
from lead_router.salesforce.gateway import SalesforceOrg
from lead_router.salesforce.rest import DATA_PATH, Rest
from lead_router.salesforce.wire import open_session
from support.simulator import Simulator
from support.third_program import Form

COMPOSITE = f"{DATA_PATH}composite"


def bare(org: Simulator, leads: Sequence[dict[str, str]]) -> tuple[tuple[float, float], ...]:
    """Milliseconds of read and write for each lead, from the sending of the read to the commit's time in the org.

    What is sent was made ready before; the answer to the read is taken in and not looked at.
    """
    form, sent = Form(org), Sent(org)
    host = org.url.partition("://")[2]
    with closing(http.client.HTTPConnection(host, timeout=60)) as line, closing(Witness(org.url)) as witness:
        began: dict[str, tuple[float, float]] = {}
        for lead in leads:
            lead_id = form.post(lead)
            read, write = sent.bodies(lead_id)
            at = time.time() * 1000
            for body in (read, write):
                began[lead_id] = at, time.time() * 1000
                line.request("POST", COMPOSITE, body, sent.headers)
                line.getresponse().read()
        _, owned = commits(witness.lead_changes())
    return tuple((wrote - read, owned[lead_id] - wrote) for lead_id, (read, wrote) in began.items())


class Withheld(Exception):
    """A write that was not sent."""


class Keeping(Rest):
    """The production client's wire: it keeps what would be sent, and sends reads alone."""

    kept: tuple[Any, ...] = ()

    def _call(self, method: str, path: str, *, write: bool, **sent: Any) -> Any:
        self.kept = (*self.kept, sent.get("body"))
        if write:
            raise Withheld
        return super()._call(method, path, write=write, **sent)


class Sent:
    """What the production client sends for one lead; `headers` are of the integration user."""

    def __init__(self, org: Simulator) -> None:
        session = open_session(org.url)
        login = Login(org.url, "lead-router", "simulator")
        tokens = TokenHolder(login, session, now=now, sleep=time.sleep, dice=random.Random(1))
        self._rest = Keeping(tokens, session)
        self._client = SalesforceOrg(self._rest, Intake(), now=now)
        self._configuration = self._client.configuration()
        token = tokens.token()
        self._org_id = token.org_id
        self.headers = {"Authorization": f"Bearer {token.access_token}", "Content-Type": "application/json"}

    def bodies(self, lead_id: str) -> tuple[bytes, ...]:
        """The body of the read and of the write, as the router has them once an event has told the lead's fields."""
        plain = self._client.snapshot(self._configuration, [lead_id], [])
        submission = submission_of(plain.leads[lead_id].fields, self._configuration)
        keys = [submission.even, submission.odd] if submission else []
        self._rest.kept = ()
        snapshot = self._client.snapshot(self._configuration, [lead_id], keys)
        ask = Ask(1, create_key(self._org_id, lead_id), lead_id, now())
        with suppress(Withheld):
            self._client.commit(*batches(decide(self._configuration, snapshot, [ask])))
        return tuple(json.dumps(body).encode() for body in self._rest.kept)
