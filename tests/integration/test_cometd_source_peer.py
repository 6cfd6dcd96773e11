"""The CometD source against the CometD project's own server: its restarts, and a token and a replay id that end."""

from __future__ import annotations

import json
import random
import subprocess
import urllib.request

import pytest

from lead_router.salesforce.cometd import CometdSource
from support.cometd_rig import CHANNEL, QUICK, Tokens, at
from support.lead_events import created, identity
from support.peers import PEERS, node
from support.shelf import Shelf, fill

pytestmark = pytest.mark.peer


class Peer:
    """The server as a process on a port that outlives it; its events are kept in a file."""

    def __init__(self, executable, file):
        self._executable = executable
        self._file = file
        self._port = 0
        self._emitted = 0
        self.start()

    def start(self):
        """Begin, or begin again where it was."""
        command = [self._executable, "replay_server.js", str(self._port), str(self._file), "token-1"]
        self._process = subprocess.Popen(command, cwd=PEERS, stdout=subprocess.PIPE, text=True)
        self._port = int(self._process.stdout.readline())
        self.url = f"http://localhost:{self._port}"

    def kill(self):
        """As by kill -9."""
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()

    def emit(self, count):
        """Publish the next creations."""
        numbers = range(self._emitted + 1, self._emitted + count + 1)
        self._emitted += count
        bodies = [{"schema": "s", "payload": created(one), "event": {"replayId": one}} for one in numbers]
        self.order(emit=[{"channel": CHANNEL, "data": body} for body in bodies])

    def order(self, **what):
        """Tell the server what to do."""
        request = urllib.request.Request(f"{self.url}/ctl", json.dumps(what).encode(), method="POST")
        with urllib.request.urlopen(request, timeout=10) as answer:
            assert answer.status == 200


@pytest.fixture
def peer(tmp_path):
    peer = Peer(node(), tmp_path / "events.json")
    yield peer
    peer.kill()


@pytest.fixture
def shelf():
    return Shelf()


@pytest.fixture
def tokens(peer):
    return Tokens(peer.url)


@pytest.fixture
def source(tokens, shelf):
    source = CometdSource(channel=CHANNEL, token=tokens, load_position=shelf.load, dice=random.Random(1), limits=QUICK)
    yield source
    source.close()


def identities(count):
    return [identity(number) for number in range(1, count + 1)]


def test_retained_and_new_events(peer, shelf, source):
    """Handshake, subscription with replay, and delivery, from a server that is not ours."""
    peer.emit(3)
    fill(shelf, source, lambda: shelf.position == at(3))
    peer.emit(2)
    fill(shelf, source, lambda: shelf.position == at(5))
    assert shelf.brought == identities(5)


def test_a_server_killed_and_started_again_loses_nothing(peer, shelf, source):
    """Killed three times, once in the midst of a burst: each event is kept once, in order."""
    peer.emit(10)
    fill(shelf, source, lambda: len(shelf.kept) == 10)
    for round_number in range(3):
        peer.emit(20)
        if round_number == 1:
            fill(shelf, source, lambda: source.poll(0.02).changes != ())
        peer.kill()
        source.poll(0.05)
        peer.start()
        peer.emit(10)
        fill(shelf, source, lambda: len(shelf.kept) == 10 + 30 * (round_number + 1))  # noqa: B023
    fill(shelf, source, lambda: shelf.position == at(100))
    assert shelf.identities == identities(100)


def test_a_revoked_token_costs_one_fetch_and_no_event(peer, shelf, source, tokens):
    """A5: revoked while a connect is waiting."""
    peer.emit(5)
    fill(shelf, source, lambda: shelf.position == at(5))
    peer.order(token="token-2")
    peer.emit(5)
    fill(shelf, source, lambda: shelf.position == at(10))
    peer.emit(1)
    fill(shelf, source, lambda: shelf.position == at(11))
    assert shelf.identities == identities(11)
    assert tokens.refreshes == ["token-1"]


def test_an_expired_replay_id_is_a_gap_and_the_stream_goes_on(peer, shelf, source):
    """A2: purged while the server was away; everything that is left comes, and the gap is told."""
    peer.emit(5)
    fill(shelf, source, lambda: shelf.position == at(5))
    peer.kill()
    peer.start()
    peer.emit(15)
    peer.order(first=11)
    fill(shelf, source, lambda: shelf.position == at(20))
    assert shelf.gaps == ["replay id 5 was refused: subscribed to all retained events instead"]
    assert shelf.identities == identities(5) + identities(20)[10:]
