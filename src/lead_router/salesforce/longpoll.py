"""One HTTP client for one Bayeux client: shared cookies, an answer's size limited, every request bounded in time."""

from __future__ import annotations

import asyncio
import itertools
import json
import ssl
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import aiohttp

from lead_router.errors import Misconfigured
from lead_router.salesforce import bayeux
from lead_router.salesforce.answers import redacted
from lead_router.salesforce.losses import Broken, Loss, Oversized, Refused
from lead_router.salesforce.proxies import proxy_for
from lead_router.salesforce.wire import trusting

CONNECT_S = 10.0
CHUNK_BYTES = 65536


class LongPoll:
    """Posts Bayeux requests, one at a time, from one event loop; over TLS as `trusting(ca_file)` says."""

    def __init__(self, *, answer_max_bytes: int, ca_file: Path | None) -> None:
        self._answer_max_bytes = answer_max_bytes
        self._ca_file = ca_file
        self._trusted: ssl.SSLContext | None = None
        self._ids = itertools.count(1)
        self._client: aiohttp.ClientSession | None = None

    async def post(
        self, url: str, access_token: str, request: bayeux.Request, *, within_s: float
    ) -> Sequence[Any] | Loss:
        """The answer's members, or why there are none. `request` gets its id here. Never raises for the network."""
        request["id"] = str(next(self._ids))
        try:
            return await self._post(url, access_token, request, within_s)
        except Misconfigured as fault:
            return Refused(str(fault))
        except TimeoutError:
            return Broken(f"no answer to {request['channel']} within {within_s:.0f} s")
        except aiohttp.ClientConnectorCertificateError:
            return Broken(
                "the server's certificate was not accepted: a proxy's own authority belongs in LEAD_ROUTER_CA_FILE"
            )
        except (aiohttp.ClientError, OSError, ValueError) as fault:
            # Foreign texts may repeat an address with its password; the operating system's own may not.
            reason = fault.strerror if isinstance(fault, OSError) else None
            return Broken(f"{type(fault).__name__}: {reason}" if reason else type(fault).__name__)

    async def _post(
        self, url: str, access_token: str, request: bayeux.Request, within_s: float
    ) -> Sequence[Any] | Loss:
        if self._client is None:
            # Loopback and IP hosts set cookies too; without them every connect is from an unknown client.
            self._client = aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True))
        headers = {"Authorization": f"Bearer {access_token}", "Content-Type": "application/json"}
        async with self._client.post(
            url,
            data=json.dumps([request]).encode(),
            headers=headers,
            allow_redirects=False,
            proxy=proxy_for(url),  # aiohttp left to look for itself would read ~/.netrc along with it
            ssl=self._tls(url),
            timeout=aiohttp.ClientTimeout(total=within_s, connect=min(CONNECT_S, within_s)),
        ) as response:
            body = bytearray()
            async for chunk in response.content.iter_chunked(CHUNK_BYTES):
                body += chunk
                if len(body) > self._answer_max_bytes:
                    return Oversized(f"an answer exceeds {self._answer_max_bytes} bytes")
        return bayeux.read_answer(response.status, redacted(bytes(body), [access_token]))

    def _tls(self, url: str) -> ssl.SSLContext | bool:
        """Made when it is first needed: to read all the authorities of a machine takes a tenth of a second."""
        if not url.startswith("https:"):
            return True
        if self._trusted is None:
            self._trusted = trusting(self._ca_file)
        return self._trusted

    async def forget(self) -> None:
        """Close the sockets and drop the cookies; the next post begins afresh."""
        if self._client is not None:
            client, self._client = self._client, None
            await client.close()
            await asyncio.sleep(0)  # lets the transports see the close before a loop may end
