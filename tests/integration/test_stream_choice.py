"""Which protocol brings the events, who decides it, and what is told of it."""

from __future__ import annotations

import importlib
import importlib.util
import os
import socket
import time
from types import SimpleNamespace

import pytest
from structlog.testing import capture_logs

from lead_router.app import streams
from lead_router.app.wiring import wire
from lead_router.errors import Misconfigured
from lead_router.loops.listening import LEASE_S
from lead_router.ports import Delivery
from lead_router.salesforce.pubsub import REACHED_S, unreachable
from lead_router.salesforce.pubsub_way import proxy_options
from lead_router.settings import load
from support.simulator import simulator


@pytest.fixture(scope="module")
def org(tmp_path_factory):
    with simulator("--pubsub-port", "0", tls=tmp_path_factory.mktemp("tls")) as org:
        org.client().create("Lead", LastName="Doe", Company="Acme")
        yield org


def settings_of(org, **more):
    told = {
        "LOGIN_URL": org.url,
        "CLIENT_ID": "lead-router",
        "CLIENT_SECRET": "simulator",
        "CA_FILE": org.certificate,
        "STREAM_START": "retained",
        **{name.upper(): value for name, value in more.items()},
    }
    return load({f"LEAD_ROUTER_{name}": value for name, value in told.items()})


def opened(org, **more):
    """A source as the process would open it, and what the log says of the choice."""
    settings = settings_of(org, **more)
    with capture_logs() as logs:
        source = streams.open_source(settings, wire(settings), load=lambda _name: None, notices=())
    chosen = next(line for line in logs if line["event"] == "stream_chosen")
    return source, chosen


def hears(source):
    """Whether a delivery with changes comes."""
    try:
        return any(source.poll(0.5).changes for _ in range(20))
    finally:
        source.close()


@pytest.mark.parametrize(("stream", "protocol"), [("auto", "pubsub"), ("pubsub", "pubsub"), ("cometd", "cometd")])
def test_each_protocol_brings_leads_over_verified_tls(stream, protocol, org):
    """Auto takes Pub/Sub API where it is reached; one line of the log says which it is."""
    source, chosen = opened(org, stream=stream, pubsub_endpoint=org.ready["pubsub"])
    assert chosen["protocol"] == protocol
    assert (chosen["why"] == "LEAD_ROUTER_STREAM says so") is (stream != "auto")
    assert hears(source)


def test_auto_takes_cometd_where_nobody_answers(org):
    """The line says why, and leads come all the same."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        nobody = f"127.0.0.1:{taken.getsockname()[1]}"
        source, chosen = opened(org, pubsub_endpoint=nobody)
    assert (chosen["protocol"], nobody in chosen["why"]) == ("cometd", True)
    assert hears(source)


def test_a_look_at_an_endpoint_that_never_answers_is_over_before_the_channel_is_lost():
    """P28: two routers behind a firewall that drops packets would else take the channel from each other for ever."""
    assert REACHED_S + 1 < LEASE_S
    with socket.create_server(("127.0.0.1", 0)) as silent:
        endpoint = f"http://127.0.0.1:{silent.getsockname()[1]}"
        token = SimpleNamespace(access_token="token", instance_url="https://localhost")
        began = time.monotonic()
        why = unreachable(endpoint, "/data/X", tenant="00D", token=token, authority=None, within_s=0.2)
        assert time.monotonic() - began < REACHED_S
    assert endpoint in why


DIRECT = [("grpc.enable_http_proxy", 0)]


@pytest.mark.parametrize(
    ("plain", "told", "options"),
    [
        (False, {}, DIRECT),
        (False, {"HTTPS_PROXY": "http://proxy.example:3128"}, [("grpc.http_proxy", "http://proxy.example:3128")]),
        (False, {"https_proxy": "proxy.example:3128"}, [("grpc.http_proxy", "http://proxy.example:3128")]),
        (False, {"HTTPS_PROXY": "http://proxy.example:3128", "NO_PROXY": ".salesforce.com"}, DIRECT),
        (False, {"HTTP_PROXY": "http://proxy.example:3128"}, DIRECT),
        (False, {"HTTPS_PROXY": "http://proxy.example:3128", "grpc_proxy": "http://other.example:1"}, []),
        (True, {"HTTPS_PROXY": "http://proxy.example:3128", "grpc_proxy": "http://other.example:1"}, DIRECT),
    ],
)
def test_pubsub_goes_through_the_proxy_that_rest_goes_through(plain, told, options, monkeypatch):
    """F13: whatever the case of its setting; what is on this machine is shown to no proxy."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy", "grpc_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    assert proxy_options(streams.ENDPOINT, os.environ, plain=plain) == options


@pytest.mark.parametrize(("spared", "protocol"), [("127.0.0.1,localhost", "pubsub"), ("", "cometd")])
def test_grpc_heeds_the_proxy_it_is_told(spared, protocol, org, monkeypatch):
    """F13: a proxy that is away keeps Pub/Sub API away, unless the endpoint is spared from it."""
    settings = settings_of(org, pubsub_endpoint=org.ready["pubsub"])
    wired = wire(settings)
    wired.tokens.token()
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("NO_PROXY", spared)
    with capture_logs() as logs:
        streams.open_source(settings, wired, load=lambda _name: None, notices=()).close()
    assert [one["protocol"] for one in logs if one["event"] == "stream_chosen"] == [protocol]


def test_auto_takes_cometd_where_the_certificate_is_strange(org, tmp_path):
    """No switch lets it pass: Pub/Sub API is verified like everything else."""
    with simulator("--pubsub-port", "0", tls=tmp_path) as other:
        source, chosen = opened(org, pubsub_endpoint=other.ready["pubsub"])
        source.close()
    assert (chosen["protocol"], "LEAD_ROUTER_CA_FILE" in chosen["why"]) == ("cometd", True)


def test_auto_takes_cometd_where_another_protocol_is_spoken(org):
    """The org's own address speaks HTTP/1.1: the line names the setting."""
    source, chosen = opened(org, pubsub_endpoint=org.url.removeprefix("https://"))
    source.close()
    assert (chosen["protocol"], "no Pub/Sub API is there: check LEAD_ROUTER_PUBSUB_ENDPOINT" in chosen["why"]) == (
        "cometd",
        True,
    )


def test_an_org_on_this_machine_is_never_looked_for_at_salesforce(org):
    """Its token would be shown to strangers."""
    source, chosen = opened(org)
    source.close()
    assert chosen["protocol"] == "cometd"
    assert "LEAD_ROUTER_PUBSUB_ENDPOINT" in chosen["why"]
    with pytest.raises(Misconfigured, match="LEAD_ROUTER_PUBSUB_ENDPOINT"):
        streams.check_stream(settings_of(org, stream="pubsub"))


def test_an_org_at_salesforce_is_looked_for_at_salesforce(org):
    """The endpoint that its documentation names."""
    settings = settings_of(org, login_url="https://acme.my.salesforce.com")
    assert streams.endpoint_of(settings) == "api.pubsub.salesforce.com:7443"


def test_what_is_not_installed_is_named_with_its_remedy(org, monkeypatch):
    """Auto goes on over CometD, a wish for Pub/Sub API ends the start."""
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "grpc" else found(name))
    source, chosen = opened(org, pubsub_endpoint=org.ready["pubsub"])
    source.close()
    assert (chosen["protocol"], "lead-router[pubsub]" in chosen["why"]) == ("cometd", True)
    with pytest.raises(Misconfigured, match=r"grpc.*lead-router\[pubsub\]"):
        streams.check_stream(settings_of(org, stream="pubsub", pubsub_endpoint=org.ready["pubsub"]))


@pytest.mark.parametrize(
    "fault", [ImportError("libstdc++.so.6: cannot open"), AttributeError("no GetMessageClass"), RuntimeError("too old")]
)
def test_what_is_installed_and_cannot_be_loaded_is_named_with_its_remedy(fault, org, monkeypatch):
    """F13: a wheel of another machine, or a version from before; auto goes on over CometD, a wish ends the start."""

    def fail(name):
        assert name == "lead_router.salesforce.pubsub"
        raise fault

    monkeypatch.setattr(importlib, "import_module", fail)
    source, chosen = opened(org, pubsub_endpoint=org.ready["pubsub"])
    source.close()
    assert chosen["protocol"] == "cometd"
    assert str(fault) in chosen["why"]
    with pytest.raises(Misconfigured, match=r"cannot be loaded.*lead-router\[pubsub\]"):
        streams.check_stream(settings_of(org, stream="pubsub", pubsub_endpoint=org.ready["pubsub"]))


@pytest.mark.parametrize("stream", ["pubsub", "cometd"])
def test_the_doctor_subscribes_and_leaves(stream, org):
    """What it found is told with the protocol; a channel that is not there is told with its remedy."""
    settings = settings_of(org, stream=stream, pubsub_endpoint=org.ready["pubsub"])
    finding = streams.try_stream(settings, wire(settings))
    assert (finding.ok, "subscribed" in finding.detail) == (True, True)
    settings = settings_of(
        org, stream=stream, pubsub_endpoint=org.ready["pubsub"], stream_channel="/data/NothingChangeEvent"
    )
    finding = streams.try_stream(settings, wire(settings))
    assert (finding.ok, "LEAD_ROUTER_STREAM_CHANNEL" in finding.remedy) == (False, True)
    assert (stream == "pubsub") is (f"LEAD_ROUTER_PUBSUB_ENDPOINT ({org.ready['pubsub']})" in finding.remedy)


@pytest.mark.parametrize("endpoint", ["http://example.org:7443", "https://localhost:1", "localhost", "a b:1", "x:"])
def test_an_endpoint_without_tls_or_port_is_refused(endpoint, org):
    """Plain text is for this machine alone."""
    with pytest.raises(Misconfigured, match="LEAD_ROUTER_PUBSUB_ENDPOINT must look like"):
        settings_of(org, pubsub_endpoint=endpoint)


def test_positions_of_the_two_protocols_are_kept_apart(org):
    """A16: neither ever resumes from the other's id."""
    asked = []
    for stream in ("pubsub", "cometd"):
        settings = settings_of(org, stream=stream, pubsub_endpoint=org.ready["pubsub"])
        source = streams.open_source(settings, wire(settings), load=asked.append, notices=())
        while source.state() == "connecting" and source.poll(0.2) == Delivery():
            pass
        source.close()
    assert asked == ["pubsub:/data/LeadChangeEvent", "/data/LeadChangeEvent"]
