"""The org as a transport of `requests`: the real client, no socket."""

from __future__ import annotations

from collections.abc import Mapping
from http.client import RemoteDisconnected, responses
from io import BytesIO
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3 import HTTPConnectionPool, HTTPResponse
from urllib3.connection import HTTPConnection
from urllib3.exceptions import MaxRetryError, NewConnectionError, ProtocolError

from org_simulator.wire.exchange import Cut, Response
from org_simulator.wire.exchange import request as parse
from org_simulator.wire.respond import respond
from org_simulator.wire.world import World


class OrgAdapter(HTTPAdapter):
    """Mount it on `https://` and `http://`; every URL then leads to this org, whatever its host."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self.world = world

    def send(
        self,
        request: requests.PreparedRequest,
        stream: bool = False,
        timeout: float | tuple[float, float] | tuple[float, None] | None = None,
        verify: bool | str = True,
        cert: bytes | str | tuple[bytes | str, bytes | str] | None = None,
        proxies: Mapping[str, str] | None = None,
    ) -> requests.Response:
        """Carry out the request at once; a cut line raises what `requests` raises for one."""
        del stream, timeout, verify, cert, proxies
        parts = urlsplit(request.url or "")
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        body = request.body.encode() if isinstance(request.body, str) else request.body or b""
        answer = respond(self.world, parse(request.method or "GET", target, dict(request.headers), body))
        match answer:
            case Cut(reached=False):
                refused = NewConnectionError(HTTPConnection(parts.hostname or ""), "Connection refused")
                raise requests.exceptions.ConnectionError(
                    MaxRetryError(HTTPConnectionPool(parts.hostname or ""), target, refused), request=request
                )
            case Cut(hangs=True):
                raise requests.exceptions.ReadTimeout("the org did not answer in time", request=request)
            case Cut():
                gone = RemoteDisconnected("Remote end closed connection without response")
                raise requests.exceptions.ConnectionError(ProtocolError("Connection aborted.", gone), request=request)
            case Response(status=status, body=content, headers=headers):
                raw = HTTPResponse(
                    body=BytesIO(content),
                    headers=headers,
                    status=status,
                    reason=responses.get(status, ""),
                    preload_content=False,
                )
                return self.build_response(request, raw)


def session(world: World) -> requests.Session:
    """A session whose every request reaches this org."""
    made = requests.Session()
    made.trust_env = False
    for scheme in ("https://", "http://"):
        made.mount(scheme, OrgAdapter(world))
    return made
