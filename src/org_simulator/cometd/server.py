"""Answers Bayeux messages: the long poll and everything around it. Knows nothing of HTTP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from org_simulator.cometd import protocol
from org_simulator.cometd.access import heard
from org_simulator.cometd.protocol import Json, accepted, refused
from org_simulator.cometd.sessions import Session, Sessions, Terms, collect, pending
from org_simulator.events import ALL_CHANGES, NEW_ONLY, ChangeLog, UnknownReplayId, change_log

if TYPE_CHECKING:
    from collections.abc import Callable

    from org_simulator.org import Org


@dataclass(frozen=True, slots=True)
class Caller:
    """What a request says of its sender. `listening` is false once its connection is gone."""

    token: str | None
    browser: str | None
    listening: Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes back; `browser` is a cookie to set, `lost` asks the transport to break off in mid answer."""

    replies: list[Json]
    browser: str | None = None
    lost: bool = False


class Server:
    """One org's CometD endpoint; every method runs on one event loop."""

    def __init__(self, org: Org, terms: Terms) -> None:
        self._org = org
        self.terms = terms
        self.log: ChangeLog = change_log(org)
        self.sessions = Sessions(self.log, org.clock, terms)
        self.closing = False

    async def answer(self, calls: list[Json], caller: Caller) -> Answer:
        """Answer the messages of one request, in their order."""
        replies: list[Json] = []
        browser: str | None = None
        lost = False
        for call in calls:
            if call["channel"] == protocol.HANDSHAKE:
                reply, browser = self._handshake(call, caller)
                replies.append(reply)
                continue
            session = self._session(call, caller)
            if not isinstance(session, Session):
                replies.append(session)
            elif call["channel"] == protocol.CONNECT:
                connected = await self._connect(call, session, caller, alone=len(calls) == 1)
                lost = lost or (len(connected) > 1 and self.log.faults.take("lose_answer") is not None)
                replies.extend(connected)
            else:
                replies.append(self._other(call, session))
        return Answer(replies, browser, lost)

    def wake(self) -> None:
        """Something changed: events, tokens or the time."""
        self.sessions.wake()

    def close(self) -> None:
        """Answer every held poll at once."""
        self.closing = True
        self.wake()

    # ---- one message each -------------------------------------------------------------------------------------------

    def _handshake(self, call: Json, caller: Caller) -> tuple[Json, str | None]:
        kinds = call.get("supportedConnectionTypes") or []
        if protocol.LONG_POLLING not in kinds:
            offered = kinds[0] if kinds else None
            return refused(call, protocol.connection_type_invalid(offered), advice={"reconnect": "none"}), None
        if (reason := self.log.faults.take("refuse_handshake")) is not None:
            return protocol.denied(call, reason or protocol.AUTHENTICATION_INVALID), None
        user_id = self._user(caller)
        if caller.token is None or user_id is None:
            return protocol.denied(call, self._token_fault(caller)), None
        session = self.sessions.open(caller.token, user_id, caller.browser)
        if session is None:
            return protocol.denied(call, protocol.TOO_MANY_CLIENTS), None
        reply = accepted(
            call,
            version="1.0",
            minimumVersion="1.0",
            clientId=session.client_id,
            supportedConnectionTypes=[protocol.LONG_POLLING],
            ext=dict(protocol.EXTENSIONS),
        )
        return reply, session.browser

    def _session(self, call: Json, caller: Caller) -> Session | Json:
        client_id = call.get("clientId")
        if not isinstance(client_id, str):
            return refused(call, protocol.HANDSHAKE_MISSING, advice=protocol.HANDSHAKE_AGAIN)
        session = self.sessions.find(client_id, caller.browser)
        user_id = self._user(caller)
        if user_id is None:
            if session is not None:
                self.sessions.close(session)
            return refused(call, self._token_fault(caller), advice=protocol.STOP)
        if session is None:
            return refused(call, protocol.UNKNOWN_CLIENT, advice=protocol.HANDSHAKE_AGAIN)
        if session.user_id != user_id:
            return refused(call, protocol.OTHER_USER)
        session.token = caller.token or session.token
        return session

    async def _connect(self, call: Json, session: Session, caller: Caller, *, alone: bool) -> list[Json]:
        kind = call.get("connectionType")
        if kind != protocol.LONG_POLLING:
            return [refused(call, protocol.connection_type_invalid(kind))]
        if (ended := self._disturbed(call, session)) is not None:
            return ended
        session.connects += 1
        turn = session.connects
        session.gives_up_at = None
        session.woken.set()  # an older poll of the same client ends: one connect at a time
        try:
            # The first connect, and one that shares its request with other messages, is answered at once.
            await self._hold(session, turn, caller, self._patience_s(call) if alone and turn > 1 else 0.0)
        finally:
            if session.connects == turn:
                self.sessions.answered(session)
        return self._connected(call, session, turn, caller)

    def _connected(self, call: Json, session: Session, turn: int, caller: Caller) -> list[Json]:
        if self._org.sessions.user(session.token) is None:
            self.sessions.close(session)
            return [refused(call, protocol.AUTHENTICATION_INVALID, advice=protocol.STOP)]
        if not self.sessions.alive(session):
            return [refused(call, protocol.UNKNOWN_CLIENT, advice=protocol.HANDSHAKE_AGAIN)]
        current = session.connects == turn and caller.listening()
        events = collect(session, self.log, self.terms.events_max) if current else []
        advice = {"reconnect": "retry", "interval": 0, "timeout": round(self.terms.poll_s * 1000)}
        return [*events, accepted(call, advice=advice)]

    def _disturbed(self, call: Json, session: Session) -> list[Json] | None:
        match self.log.faults.first(("busy", "drop_session", "disconnect")):
            case None:
                return None
            case ("busy", _):
                return [protocol.busy(call)]
            case ("disconnect", _):
                self.sessions.close(session)
                return [protocol.goodbye(session.client_id), accepted(call, advice=dict(protocol.STOP))]
            case _:
                self.sessions.close(session)
                return [refused(call, protocol.UNKNOWN_CLIENT, advice=protocol.HANDSHAKE_AGAIN)]

    def _other(self, call: Json, session: Session) -> Json:
        match call["channel"]:
            case protocol.SUBSCRIBE:
                return self._subscribe(call, session)
            case protocol.UNSUBSCRIBE:
                session.cursors.pop(str(call.get("subscription")), None)
                return accepted(call)
            case protocol.DISCONNECT:
                self.sessions.close(session)
                return accepted(call)
            case _:  # publishing over CometD is not offered
                return refused(call, protocol.RESTRICTED_CHANNEL)

    def _subscribe(self, call: Json, session: Session) -> Json:
        channel = call.get("subscription")
        session.heard = heard(self._org, session.user_id)
        if (error := self._channel_fault(channel, session)) is not None:
            return refused(call, error)
        channel = str(channel)
        replay_id = _replay_id(call, channel)
        if (position := self._position(replay_id)) is None:
            return refused(call, protocol.replay_id_invalid(replay_id))
        early = self.log.faults.take("rewind") if replay_id != NEW_ONLY else None
        session.cursors[channel] = max(0, position - (int(early or 1) if early is not None else 0))
        session.woken.set()
        return accepted(call)

    def _position(self, replay_id: object) -> int | None:
        try:
            return self.log.position(replay_id) if isinstance(replay_id, int) else None
        except UnknownReplayId:
            return None

    def _channel_fault(self, channel: object, session: Session) -> str | None:
        if not isinstance(channel, str) or not channel:
            return protocol.CHANNEL_MISSING
        if not channel.startswith("/"):
            return protocol.CHANNEL_MALFORMED
        if (error := self.log.faults.take("refuse_subscribe")) is not None:
            return error or protocol.RESTRICTED_CHANNEL
        if channel not in self.log.channels():
            return protocol.channel_unknown(channel)
        # On the channel of all changes the permission is asked for at delivery.
        allowed = not channel.startswith("/data/") or channel == ALL_CHANGES or channel in session.heard
        return None if allowed else protocol.VIEW_ALL_MISSING

    # ---- waiting ----------------------------------------------------------------------------------------------------

    async def _hold(self, session: Session, turn: int, caller: Caller, patience_s: float) -> None:
        """Until there are events, the client came anew or is gone, or `patience_s` of the org's clock are over."""
        until = self._org.clock.monotonic() + patience_s
        while True:
            session.woken.clear()
            over = self._org.clock.monotonic() >= until or self.closing
            if over or session.connects != turn or not caller.listening():
                return
            if not self.sessions.alive(session) or self._org.sessions.user(session.token) is None:
                return
            if pending(session, self.log):
                return
            await session.woken.wait()

    def _patience_s(self, call: Json) -> float:
        advice = call.get("advice")
        asked = advice.get("timeout") if isinstance(advice, dict) else None
        if isinstance(asked, int | float) and not isinstance(asked, bool):
            return min(max(asked, 0) / 1000, self.terms.poll_s)
        return self.terms.poll_s

    def _user(self, caller: Caller) -> str | None:
        return None if caller.token is None else self._org.sessions.user(caller.token)

    def _token_fault(self, caller: Caller) -> str:
        return protocol.AUTHENTICATION_MISSING if caller.token is None else protocol.AUTHENTICATION_INVALID


def _replay_id(call: Json, channel: str) -> object:
    ext = call.get("ext")
    replay = ext.get("replay") if isinstance(ext, dict) else None
    value = replay.get(channel, -1) if isinstance(replay, dict) else -1
    return str(value) if isinstance(value, bool) else value
