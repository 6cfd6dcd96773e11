"""A bare Bayeux speaker: sends exactly what the test says and shows exactly what came back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp
from aiohttp import web

from org_simulator.cometd import SERVER, Terms, build_app
from org_simulator.cometd.server import Server

HELD_S = 10.0  # real seconds after which a wait that should have ended is a failure


@dataclass
class Served:
    """A CometD endpoint on a free port; `url` uses localhost, for cookie jars refuse the cookies of numbered hosts."""

    url: str
    server: Server
    runner: web.AppRunner

    @property
    def connections(self) -> int:
        """Open connections as the server sees them."""
        return sum(connection.connected for connection in self.runner.server.connections)

    async def until(self, condition: Callable[[Server], bool]) -> None:
        """Wait for the server to come into a state."""
        async with asyncio.timeout(HELD_S):
            while not condition(self.server):  # noqa: ASYNC110  (the state has no event of its own)
                await asyncio.sleep(0.002)


@asynccontextmanager
async def serving(org: Any, terms: Terms | None = None) -> AsyncIterator[Served]:
    """Serve the org's stream for a while."""
    app = build_app(org, terms)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "localhost", 0)
    await site.start()
    port = runner.addresses[0][1]
    try:
        yield Served(f"http://localhost:{port}", app[SERVER], runner)
    finally:
        await runner.cleanup()


class Speaker:
    """One client: its token, its cookies, its client id."""

    def __init__(self, url: str, token: str | None, http: aiohttp.ClientSession, scheme: str = "Bearer") -> None:
        self.url = url
        self.token = token
        self.http = http
        self.scheme = scheme
        self.client_id: str | None = None

    async def post(self, *calls: dict[str, Any], path: str = "/cometd/68.0") -> list[dict[str, Any]]:
        """Send these messages in one request; answers the messages that came back."""
        headers = {} if self.token is None else {"Authorization": f"{self.scheme} {self.token}"}
        identified = [{**({"clientId": self.client_id} if self.client_id else {}), **call} for call in calls]
        async with self.http.post(f"{self.url}{path}", json=identified, headers=headers) as response:
            return await response.json(content_type=None)

    async def handshake(self) -> dict[str, Any]:
        """Handshake and keep the client id."""
        self.client_id = None
        offer = {"version": "1.0", "minimumVersion": "1.0", "supportedConnectionTypes": ["long-polling"]}
        (reply,) = await self.post({"channel": "/meta/handshake", "id": "1", **offer})
        self.client_id = reply.get("clientId")
        return reply

    async def connect(self, **more: Any) -> list[dict[str, Any]]:
        """One connect; answers events and reply."""
        return await self.post({"channel": "/meta/connect", "id": "2", "connectionType": "long-polling", **more})

    async def subscribe(self, channel: str, replay_id: Any = None) -> dict[str, Any]:
        """Subscribe; None sends no replay id."""
        ext = {} if replay_id is None else {"ext": {"replay": {channel: replay_id}}}
        (reply,) = await self.post({"channel": "/meta/subscribe", "id": "3", "subscription": channel, **ext})
        return reply

    async def open(self, channel: str, replay_id: Any = None) -> None:
        """Handshake, first connect, subscribe; each must succeed."""
        replies = [await self.handshake(), *await self.connect(), await self.subscribe(channel, replay_id)]
        assert all(reply["successful"] for reply in replies), replies


@asynccontextmanager
async def speaking(served: Served, token: str | None, scheme: str = "Bearer") -> AsyncIterator[Speaker]:
    """A client with a cookie jar of its own."""
    async with aiohttp.ClientSession() as http:
        yield Speaker(served.url, token, http, scheme)


def record_ids(replies: list[dict[str, Any]]) -> list[str]:
    """The record ids of the change events among these messages, in order."""
    heads = [reply["data"]["payload"]["ChangeEventHeader"] for reply in replies if "data" in reply]
    return [record_id for head in heads for record_id in head["recordIds"]]


def replay_ids(replies: list[dict[str, Any]]) -> list[int]:
    """The replay ids of the events among these messages, in order."""
    return [reply["data"]["event"]["replayId"] for reply in replies if "data" in reply]
