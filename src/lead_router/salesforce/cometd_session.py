"""One Bayeux session after another: log in, shake hands, subscribe, wait. Says what was lost and decides nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from lead_router.salesforce import bayeux
from lead_router.salesforce.bayeux import Advice
from lead_router.salesforce.longpoll import LongPoll
from lead_router.salesforce.losses import Broken, Loss, Lost, SessionLost
from lead_router.salesforce.stream_login import Limits, StreamLogin, Token

LEAVE_S = 5.0


class Session:
    """The verbs raise Lost. Events that any answer brings are put into `inbox`, whatever else the answer says."""

    def __init__(
        self, token: Callable[[str | None], Token], api_version: str, limits: Limits, ca_file: Path | None
    ) -> None:
        self._login = StreamLogin(token, within_s=limits.request_s)
        self._version = api_version
        self._limits = limits
        self._http = LongPoll(answer_max_bytes=limits.answer_max_bytes, ca_file=ca_file)
        self._token: Token | None = None
        self._client_id = ""
        self.advice = Advice()
        self.inbox: list[Any] = []

    async def open(self) -> None:
        """Log in if need be, shake hands, and connect once without waiting, as the protocol wants it."""
        self._client_id = ""
        self.advice = Advice()
        self._token = await self._login.log_in()
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
        self._login.refused()

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
