"""Certificates are always verified, for REST and for the stream; an authority of one's own is a setting."""

from __future__ import annotations

import contextlib
import json
import random
import re
import socket
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from lead_router.errors import Misconfigured, Unreachable
from lead_router.salesforce.auth import Login, TokenHolder
from lead_router.salesforce.cometd import CometdSource
from lead_router.salesforce.rest import Rest
from lead_router.salesforce.wire import open_session
from lead_router.settings import Settings
from org_simulator.wire import tls
from support.cometd_rig import CHANNEL, QUICK
from support.raw_server import raw_server

TOKEN = {
    "access_token": "00D000000000001!token",
    "id": "https://login.salesforce.com/id/00D000000000001/005000000000001",
}
OTHER_NAME = "127.0.0.2"  # of this machine, and in no certificate


def _is_here(name):
    with contextlib.suppress(OSError), socket.create_server((name, 0)):
        return True
    return False


def answer(server):
    """As an org would, as far as it is asked here."""

    def answered(path, body):
        if path.endswith("/oauth2/token"):
            return {}, [json.dumps({**TOKEN, "instance_url": server[0].url}).encode()]
        if "/cometd/" not in path:
            return {}, [b'{"records": [], "done": true}']
        (frame,) = json.loads(body)
        reply = {"channel": frame["channel"], "id": frame["id"], "successful": True, "clientId": "client-1"}
        return {}, [json.dumps([reply]).encode()]

    return answered


@pytest.fixture
def org(tmp_path):
    """A server with a certificate that it signed itself: `url`, and `ca_file` with that certificate."""
    certificate, key = tls.ensure(tmp_path / "server", "localhost")
    at: list = []
    with raw_server(answer(at), tls.context(certificate, key)) as server:
        at.append(server)
        yield SimpleNamespace(server=server, url=server.url, ca_file=certificate)


def rest_of(org, ca_file=None):
    session = open_session(org.url, ca_file=ca_file)
    login = Login(org.url, "client", "client-secret")
    return Rest(
        TokenHolder(login, session, now=lambda: datetime.now(UTC), sleep=lambda _: None, dice=random.Random(1)),
        session,
    ), session


def stream_of(org, ca_file=None):
    token = SimpleNamespace(access_token=TOKEN["access_token"], instance_url=org.url)
    return CometdSource(
        channel=CHANNEL,
        token=lambda _: token,
        load_position=lambda: None,
        dice=random.Random(1),
        limits=QUICK,
        ca_file=ca_file,
    )


def polled(source, state):
    """Poll until the source is in this state, or ten seconds are over."""
    try:
        for _ in range(100):
            source.poll(0.1)
            if source.state() == state:
                return True
        return False
    finally:
        source.close()


def test_rest_trusts_only_who_is_vouched_for(org):
    """Refused without the authority, before a secret is sent, by the name of its setting; accepted with it."""
    with pytest.raises(Unreachable, match=r"its certificate was not accepted.*LEAD_ROUTER_CA_FILE"):
        rest_of(org)[0].query("SELECT Id FROM Lead")
    assert org.server.asked == []
    assert rest_of(org, org.ca_file)[0].query("SELECT Id FROM Lead") == []


def test_the_stream_trusts_only_who_is_vouched_for(org):
    """The same for the long poll, whose HTTP client is another."""
    assert polled(stream_of(org), "backing-off")
    assert org.server.asked == []
    assert polled(stream_of(org, org.ca_file), "subscribed")


def test_why_the_stream_stays_away_is_told(org, caplog):
    """The log names the certificate, so that nobody looks for the fault in the network."""
    assert polled(stream_of(org), "backing-off")
    assert "certificate was not accepted: a proxy's own authority belongs in LEAD_ROUTER_CA_FILE" in caplog.text


def test_another_authority_vouches_for_nobody(org, tmp_path):
    """What is named is trusted instead of the usual ones, and alone."""
    other, _ = tls.ensure(tmp_path / "other", "localhost")
    with pytest.raises(Unreachable, match="certificate"):
        rest_of(org, other)[0].query("SELECT Id FROM Lead")
    assert polled(stream_of(org, other), "backing-off")
    assert org.server.asked == []


@pytest.mark.skipif(not _is_here(OTHER_NAME), reason=f"no {OTHER_NAME} on this machine")
def test_a_name_that_the_certificate_does_not_bear_is_refused(tmp_path):
    """A vouched-for certificate of another host is no proof of this one."""
    certificate, key = tls.ensure(tmp_path / "server", "localhost")
    with raw_server(answer([]), tls.context(certificate, key), OTHER_NAME) as server:
        org = SimpleNamespace(url=server.url)
        with pytest.raises(Unreachable, match="certificate"):
            rest_of(org, certificate)[0].query("SELECT Id FROM Lead")
        assert polled(stream_of(org, certificate), "backing-off")
        assert server.asked == []


def test_nothing_turns_it_off(org, monkeypatch):
    """No setting, no variable of the libraries, not even who holds the session."""
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "PYTHONHTTPSVERIFY"):
        monkeypatch.setenv(name, "0" if name.startswith("PYTHON") else "")
    rest, session = rest_of(org)
    session.verify = False
    with pytest.raises(Unreachable, match="certificate"):
        rest.query("SELECT Id FROM Lead")
    assert polled(stream_of(org), "backing-off")
    assert org.server.asked == []
    assert [name for name in Settings.model_fields if re.search("verify(?!_every)|insecure|tls|ssl", name)] == []


@pytest.mark.parametrize("held", [None, b"", b"no certificate", b"\xff\xfe"])
def test_a_file_without_certificates_is_refused_by_name(tmp_path, held):
    """At the start, not at the first connection."""
    path = tmp_path / "ca.pem"
    if held is not None:
        path.write_bytes(held)
    with pytest.raises(Misconfigured, match=f"LEAD_ROUTER_CA_FILE: {path} cannot be used: "):
        open_session("https://acme.my.salesforce.com", ca_file=path)
