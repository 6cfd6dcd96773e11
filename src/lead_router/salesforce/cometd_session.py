"""One Bayeux session after another: log in, shake hands, subscribe, wait. Says what was lost and decides nothing."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from lead_router.errors import LeadRouterError, Permanent, RateLimited
from lead_router.salesforce import bayeux
from lead_router.salesforce.bayeux import Advice, Broken, Loss, Refused, SessionLost
from lead_router.salesforce.longpoll import LongPoll

LEAVE_S = 5.0


class Token(Protocol):
    """What a login gives; `instance_url` is scheme and host."""

    @property
    def access_token(self) -> str:
        """The bearer token."""
        ...

    @property
    def instance_url(self) -> str:
        """Where the org is."""
        ...


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds and bytes. Pauses between failures grow from `pause_s` to `pause_max_s`; a refusal waits `refused_s`.

    A connect may last what the server advises plus `slack_s`; every other request `request_s`. A replay id counts as
    complete after `settle_s` of silence (several events may bear one).
    """

    pause_s: float = 0.5
    pause_max_s: float = 60.0
    refused_s: float = 300.0
    request_s: float = 30.0
    slack_s: float = 20.0
    settle_s: float = 1.0
    answer_max_bytes: int = 32 * 1024 * 1024


class Lost(Exception):
    """The session is over; `loss` says what is needed next, `wait_s` how long to wait at least."""

    def __init__(self, loss: Loss, *, wait_s: float = 0.0) -> None:
        super().__init__(loss.text)
        self.loss = loss
        self.wait_s = wait_s


class Session:
    """The verbs raise Lost. Events that any answer brings are put into `inbox`, whatever else the answer says."""

    def __init__(
        self, token: Callable[[str | None], Token], api_version: str, limits: Limits, trusted: ssl.SSLContext
    ) -> None:
        self._token_of = token
        self._version = api_version
        self._limits = limits
        self._http = LongPoll(answer_max_bytes=limits.answer_max_bytes, trusted=trusted)
        self._token: Token | None = None
        self._refused_token: str | None = None
        self._client_id = ""
        self.advice = Advice()
        self.inbox: list[Any] = []

    async def open(self) -> None:
        """Log in if need be, shake hands, and connect once without waiting, as the protocol wants it."""
        self._client_id = ""
        self.advice = Advice()
        self._token = await self._log_in()
        reply = await self._exchange(bayeux.handshake(), self._limits.request_s)
        client_id = reply.get("clientId")
        if not isinstance(client_id, str) or not client_id:
            raise Lost(Broken("the handshake gave no client id"))
        self._client_id = client_id
        await self._exchange(bayeux.connect(client_id, at_once=True), self._limits.request_s)

    async def subscribe(self, channel: str, start: int) -> None:
        """Returns once the server has acknowledged the subscription."""
        await self._exchange(bayeux.subscribe(self._client_id, channel, start), self._limits.request_s)

    async def connect(self) -> None:
        """Wait for events, for as long as the server holds the request."""
        within_s = self.advice.timeout_s + self._limits.slack_s
        reply = await self._exchange(bayeux.connect(self._client_id), within_s)
        if (loss := bayeux.parting(reply)) is not None:
            raise Lost(loss)

    def token_refused(self) -> None:
        """The next login gives another token than the present one."""
        self._refused_token = self._token.access_token if self._token is not None else None

    async def leave(self) -> None:
        """Tell the server that this client goes."""
        await self._exchange(bayeux.disconnect(self._client_id), LEAVE_S)

    async def forget(self) -> None:
        """Free the sockets and drop the cookies: the next session comes from a fresh client."""
        await self._http.forget()

    async def _exchange(self, request: bayeux.Request, within_s: float) -> bayeux.Frame:
        token = self._token
        if token is None:
            raise Lost(SessionLost("there is no token yet"))
        members = await self._http.post(self._url(token), token.access_token, request, within_s=within_s)
        if isinstance(members, Loss):
            raise Lost(members)
        self.inbox += [member for member in members if not bayeux.is_meta(member)]
        reply = bayeux.reply_to(request, members)
        if isinstance(reply, Loss):
            raise Lost(reply)
        self.advice = bayeux.advised(self.advice, reply)
        if reply["successful"] is not True:
            raise Lost(bayeux.judge(reply))
        return reply

    def _url(self, token: Token) -> str:
        return f"{token.instance_url.rstrip('/')}/cometd/{self._version}"

    async def _log_in(self) -> Token:
        refused = self._refused_token
        try:
            # In a thread, as the login is a blocking call and must not outlast the time-out.
            async with asyncio.timeout(self._limits.request_s):
                token = await asyncio.to_thread(self._token_of, refused)
        except RateLimited as fault:
            raise Lost(Refused(str(fault)), wait_s=fault.retry_after) from None
        except Permanent as fault:
            raise Lost(Refused(str(fault))) from None
        except LeadRouterError as fault:
            raise Lost(Broken(f"no token: {fault}")) from None
        except TimeoutError:
            raise Lost(Broken(f"no token within {self._limits.request_s:.0f} s")) from None
        self._refused_token = None
        return token
