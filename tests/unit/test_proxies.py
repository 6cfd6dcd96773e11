"""Which proxy a connection goes through: both streams go the way that REST goes."""

from __future__ import annotations

import asyncio

import pytest

from lead_router.salesforce import bayeux
from lead_router.salesforce.longpoll import LongPoll
from lead_router.salesforce.proxies import proxy_for
from lead_router.salesforce.wire import open_session
from support.raw_server import raw_server

PROXY = "http://user:secret@proxy.example:3128"


@pytest.fixture(autouse=True)
def _bare(monkeypatch):
    """No setting of this machine's."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.mark.parametrize(
    ("told", "proxy"),
    [
        ({}, None),
        ({"HTTPS_PROXY": PROXY}, PROXY),
        ({"https_proxy": "proxy.example:3128"}, "http://proxy.example:3128"),
        ({"ALL_PROXY": PROXY}, PROXY),
        ({"HTTP_PROXY": PROXY}, None),
        ({"HTTPS_PROXY": PROXY, "NO_PROXY": "10.0.0.0/8"}, None),
        ({"HTTPS_PROXY": PROXY, "NO_PROXY": "10.1.2.3"}, None),
        ({"HTTPS_PROXY": PROXY, "NO_PROXY": ".example"}, PROXY),
    ],
)
def test_the_proxy_is_the_one_that_the_environment_names_for_the_host(told, proxy, monkeypatch):
    """F13: by every spelling that REST takes, and none where the host is spared."""
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    assert proxy_for("https://10.1.2.3:8443/cometd/66.0") == proxy


def test_cometd_is_spoken_through_the_proxy_of_every_protocol(monkeypatch):
    """F13: named for all protocols and without one of its own, it sees the request, with the whole address."""

    async def post(url: str) -> object:
        line = LongPoll(answer_max_bytes=100, ca_file=None)
        try:
            return await line.post(url, "token", bayeux.handshake(), within_s=5)
        finally:
            await line.forget()

    with raw_server(lambda _path, _body: ({}, [b"[]"])) as proxy:
        monkeypatch.setenv("ALL_PROXY", proxy.url.removeprefix("http://"))
        asyncio.run(post("http://org.example/cometd/66.0"))
    assert proxy.asked == ["http://org.example/cometd/66.0"]


def test_rest_asks_the_environment_once_for_each_host(monkeypatch):
    """What it answers is what requests' own sessions find, call for call."""
    urls = ("https://acme.my.salesforce.com/a", "https://acme.my.salesforce.com/b", "https://other.my.salesforce.com/a")
    monkeypatch.setenv("HTTPS_PROXY", PROXY)
    session = open_session("https://acme.my.salesforce.com")
    first = [session.merge_environment_settings(url, {}, None, None, None)["proxies"].get("https") for url in urls[:1]]
    monkeypatch.delenv("HTTPS_PROXY")
    later = [session.merge_environment_settings(url, {}, None, None, None)["proxies"].get("https") for url in urls]

    assert (first, later) == ([PROXY], [PROXY, PROXY, None])
