"""An answer without end, or one that unpacks to one, is refused with one clear error and costs no memory."""

from __future__ import annotations

import gzip
import itertools
import json
import random
import threading
import tracemalloc
from datetime import UTC, datetime

import pytest

from lead_router.errors import OutcomeUnknown, Unreachable
from lead_router.salesforce.auth import Login, TokenHolder
from lead_router.salesforce.changes import read_event
from lead_router.salesforce.rest import Rest
from lead_router.salesforce.stream_login import Limits
from lead_router.salesforce.wire import open_session
from support.cometd_rig import QUICK, Rig
from support.fault_cometd import CONNECT, Http
from support.raw_server import raw_server

MIB = 1024 * 1024
LIMIT = 1 * MIB
BOUND = 12 * MIB  # of memory at once, the server's own part in this process included
ENDLESS = list(itertools.repeat(b"1," * 32_768, 4_000))  # 250 MiB
BOMB = gzip.compress(b"[" + bytes(300 * MIB), 1)
DEEP = b"[" * 100_000 + b"]" * 100_000
TOKEN = {
    "access_token": "00D000000000001!token",
    "id": "https://login.salesforce.com/id/00D000000000001/005000000000001",
}
ANSWERS = {
    "hundreds of MiB": ({}, ENDLESS),
    "a gzip bomb": ({"Content-Encoding": "gzip"}, [BOMB]),
    "a bomb in a bomb": ({"Content-Encoding": "gzip, gzip"}, [gzip.compress(BOMB, 1)]),
}


def rest_of(url: str) -> Rest:
    """The production client, with a small limit."""
    session = open_session(url, read_s=10, answer_max_bytes=LIMIT)
    login = Login(url, "client", "client-secret")
    return Rest(
        TokenHolder(login, session, now=lambda: datetime.now(UTC), sleep=lambda _: None, dice=random.Random(1)),
        session,
    )


@pytest.fixture
def serving():
    """Makes a server that gives a token, and this answer to everything else."""
    opened = []

    def serve(headers, chunks, *, at_login=False):
        def answer(path, _body):
            if path.endswith("/oauth2/token") and not at_login:
                return {}, [json.dumps({**TOKEN, "instance_url": server.url}).encode()]
            return headers, chunks

        context = raw_server(answer)
        server = context.__enter__()
        opened.append(context)
        return server

    yield serve
    for context in opened:
        context.__exit__(None, None, None)


@pytest.fixture
def memory():
    """The most bytes that Python held at once since the test began."""
    tracemalloc.start()
    yield lambda: tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()


@pytest.mark.parametrize("kind", ANSWERS)
def test_an_answer_without_end_is_refused(serving, memory, kind):
    """A17: for REST as for the stream: one error that says so, and only so much is taken as the limit allows."""
    server = serving(*ANSWERS[kind])
    rest = rest_of(server.url)
    with pytest.raises(Unreachable, match="it is longer than an answer may be"):
        rest.query("SELECT Id FROM Lead")
    assert memory() < BOUND
    assert server.sent < 8 * MIB  # what the sockets' buffers hold besides


def test_whether_a_write_was_carried_out_is_then_not_known(serving):
    """The answer was not read; the ledger is."""
    server = serving(*ANSWERS["hundreds of MiB"])
    with pytest.raises(OutcomeUnknown, match="longer than an answer may be"):
        rest_of(server.url).send("POST", "sobjects/Lead", {})


@pytest.mark.parametrize("body", [DEEP, b"7", b"null", b'"text"', b"", b'{"cut'])
def test_an_answer_of_no_known_shape_is_refused(serving, body):
    """Nested 100,000 deep, or no object at all: one error of this program."""
    server = serving({}, [body])
    rest = rest_of(server.url)
    with pytest.raises(Exception, match=r"Salesforce|records") as refused:
        rest.query("SELECT Id FROM Lead")
    assert type(refused.value).__module__ == "lead_router.errors"
    assert len(str(refused.value)) < 400


@pytest.mark.parametrize("kind", [*ANSWERS, "nested"])
def test_a_login_is_limited_too(serving, memory, kind):
    """Whoever stands in for the login page gets no further."""
    server = serving(*(ANSWERS | {"nested": ({}, [DEEP])})[kind], at_login=True)
    with pytest.raises(Unreachable, match="the login"):
        rest_of(server.url).token()
    assert memory() < BOUND


@pytest.mark.parametrize(
    "fault",
    [
        Http(200, BOMB, {"Content-Encoding": "gzip"}),
        Http(200, b"[" + b" " * (20 * MIB) + b"]"),
        Http(200, DEEP),
    ],
    ids=["bomb", "large", "nested"],
)
def test_the_stream_outlives_such_an_answer(memory, fault):
    """A17: it subscribes anew from the stored position, and nothing is missing afterwards."""
    limits = Limits(**{name: getattr(QUICK, name) for name in QUICK.__slots__} | {"answer_max_bytes": LIMIT})
    with Rig() as rig:
        rig.settle(limits=limits)
        tracemalloc.reset_peak()
        with rig.server.changed:
            rig.server.fail(CONNECT, fault)
            rig.server.publish(
                {"ChangeEventHeader": {"entityName": "Other"}},
            )
        rig.fill(lambda: rig.shelf.position is not None and rig.shelf.position.replay_id == b"2")
        assert memory() < BOUND + len(fault.body)
        assert rig.server.starts()[-1] == 1


@pytest.mark.parametrize("depth", [900, 980, 5_000])
def test_an_event_nested_as_deep_as_can_be_parsed_is_kept_or_told_of(depth):
    """Reading an event raises nothing, however little of the stack is left: the stream would stop at it for ever."""
    found = []

    def read():
        nested = 0
        for _ in range(depth):
            nested = [nested]
        found.append(read_event("/data/LeadChangeEvent", {"data": {"event": {"replayId": 3}, "x": nested}}))

    thread = threading.Thread(target=read)
    thread.start()
    thread.join()
    assert (found[0].replay_id, found[0].unreadable is not None) == (3, True)
