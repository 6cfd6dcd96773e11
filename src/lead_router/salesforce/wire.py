"""The HTTP session under every call: time-outs and TLS always, retries never, plain http on this machine only."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import requests
from requests.adapters import BaseAdapter, HTTPAdapter

from lead_router.errors import Misconfigured
from lead_router.salesforce.answers import ANSWER_MAX_BYTES, TooLarge, take

CONNECT_S = 5.0
READ_S = 30.0
POOL_MAX = 32  # sockets kept open; more threads than that open and close their own
LOGIN_URL = "the login URL (LEAD_ROUTER_LOGIN_URL)"
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


def base_url(url: str, what: str) -> str:
    """`url` as scheme, host and port alone, without a closing slash; `what` names it in the fault.

    Raises Misconfigured where it is not https, unless its host is this machine.
    """
    parts = urlsplit(url.strip())
    host = parts.hostname or ""
    if parts.scheme not in {"https", "http"} or not host or "//" in parts.path or parts.username is not None:
        raise Misconfigured(f"{what} must look like https://yourdomain.my.salesforce.com")
    if parts.scheme == "http" and host not in LOOPBACK:
        raise Misconfigured(f"{what} must begin with https:// (http:// is for this machine only)")
    return urlunsplit((parts.scheme, parts.netloc.lower(), "", "", ""))


_CAUSES: tuple[tuple[type[requests.RequestException], str], ...] = (
    (TooLarge, "it is longer than an answer may be"),
    (
        requests.exceptions.SSLError,
        "its certificate was not accepted: a proxy's own authority belongs in LEAD_ROUTER_CA_FILE",
    ),
    (requests.exceptions.ProxyError, "the proxy did not let it through"),
    (requests.exceptions.ConnectTimeout, "no connection in time"),
    (requests.exceptions.Timeout, "connected, but no answer in time"),
    (requests.exceptions.ConnectionError, "no connection, or it broke off"),
    (requests.exceptions.ChunkedEncodingError, "the connection broke off in the middle of the answer"),
)


def why_unanswered(fault: requests.RequestException) -> str:
    """Why there was no answer, in words; the fault's own text may repeat a header, so it is never told."""
    return next((told for kind, told in _CAUSES if isinstance(fault, kind)), type(fault).__name__)


class Wire(BaseAdapter):
    """Puts time-outs on every request and a limit on every answer, and always verifies certificates.

    It sends https requests for `plain` (`host:port`) as http: simple-salesforce always speaks https; a simulated org on
    this machine does not. Certificates in `ca_file` (PEM) are trusted instead of the usual ones.
    """

    def __init__(
        self,
        inner: BaseAdapter,
        *,
        connect_s: float,
        read_s: float,
        plain: str | None,
        ca_file: Path | None = None,
        answer_max_bytes: int = ANSWER_MAX_BYTES,
    ) -> None:
        super().__init__()
        self._inner = inner
        self._timeout = (connect_s, read_s)
        self._plain = plain
        self._ca_file = None if ca_file is None else str(ca_file)
        self._answer_max_bytes = answer_max_bytes

    def send(
        self,
        request: requests.PreparedRequest,
        stream: bool = False,
        timeout: Any = None,
        verify: bool | str = True,
        cert: Any = None,
        proxies: Mapping[str, str] | None = None,
    ) -> requests.Response:
        """Send once, with this adapter's time-outs where the caller set none; raises TooLarge."""
        url = urlsplit(request.url or "")
        if self._plain is not None and url.scheme == "https" and url.netloc == self._plain:
            request = request.copy()
            request.url = urlunsplit(url._replace(scheme="http"))
        answer = self._inner.send(
            request,
            stream=stream,
            timeout=timeout or self._timeout,
            verify=self._ca_file or verify or True,
            cert=cert,
            proxies=dict(proxies or {}),
        )
        take(answer, self._answer_max_bytes)
        return answer

    def close(self) -> None:
        """Close the sockets."""
        self._inner.close()


def _as_it_is(request: requests.PreparedRequest) -> requests.PreparedRequest:
    return request


def trusting(ca_file: Path | None) -> ssl.SSLContext:
    """A client's TLS, which verifies; certificates in `ca_file` (PEM) are trusted instead of the machine's.

    Raises Misconfigured where the file holds none.
    """
    try:
        return ssl.create_default_context(cafile=ca_file)
    except OSError as fault:  # of which a text that is no certificate is one
        why = "it holds no certificate in PEM form" if isinstance(fault, ssl.SSLError) else fault.strerror
        raise Misconfigured(f"LEAD_ROUTER_CA_FILE: {ca_file} cannot be used: {why}") from None


class Session(requests.Session):
    """Asks the environment once for each host which proxy and authorities it names: a tenth of a call else."""

    def __init__(self) -> None:
        super().__init__()
        self._settled: dict[str, Any] = {}

    def merge_environment_settings(self, url: Any, proxies: Any, stream: Any, verify: Any, cert: Any) -> Any:
        """As requests' own, for a call that brings no settings of its own."""
        if proxies or stream is not None or verify is not None or cert is not None:
            return super().merge_environment_settings(url, proxies, stream, verify, cert)
        host = "/".join(str(url).split("/", 3)[:3])
        if host not in self._settled:
            self._settled[host] = super().merge_environment_settings(url, proxies, stream, verify, cert)
        return {**self._settled[host]}


def open_session(
    login_url: str,
    *,
    connect_s: float = CONNECT_S,
    read_s: float = READ_S,
    ca_file: Path | None = None,
    answer_max_bytes: int = ANSWER_MAX_BYTES,
    adapter: BaseAdapter | None = None,
) -> requests.Session:
    """A session that many threads may share; `adapter` replaces the sockets.

    Raises Misconfigured for a bad URL, or a `ca_file` without certificates.
    """
    if ca_file is not None:
        trusting(ca_file)
    url = urlsplit(base_url(login_url, LOGIN_URL))
    plain = url.netloc if url.scheme == "http" else None
    inner = adapter or HTTPAdapter(max_retries=0, pool_connections=4, pool_maxsize=POOL_MAX)
    session = Session()
    session.auth = _as_it_is  # else an entry in ~/.netrc would replace the bearer token
    wire = Wire(
        inner, connect_s=connect_s, read_s=read_s, plain=plain, ca_file=ca_file, answer_max_bytes=answer_max_bytes
    )
    session.mount("https://", wire)
    session.mount("http://", wire)
    return session
