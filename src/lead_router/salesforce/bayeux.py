"""Bayeux over long polling, without socket or clock: requests as values, answers judged by what to do next.

Shapes and error texts are those of the Streaming API (`400:args:text`; Salesforce leaves the args empty). Where an
answer carries `ext.sfdc.failureReason`, that reason counts and the outer error does not.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from lead_router.core.hidden import scrub, without_numbers
from lead_router.salesforce.losses import (
    Broken,
    ClientEnded,
    Loss,
    PositionExpired,
    Refused,
    SessionLost,
    TokenRefused,
)

HANDSHAKE, CONNECT, SUBSCRIBE, DISCONNECT = "/meta/handshake", "/meta/connect", "/meta/subscribe", "/meta/disconnect"
RETAINED, NEW_ONLY = -2, -1
ADVICE_MAX_S = 300.0
TEXT_MAX = 200
LOOKED_AT_MAX = 1_000  # characters of a text; cut before it is scrubbed, half a secret would be told
UNAUTHORISED, PAYMENT, FORBIDDEN, BUSY = 401, 402, 403, 503

Frame: TypeAlias = Mapping[str, Any]
Request: TypeAlias = dict[str, Any]


# Parts of error texts, in lower case: Salesforce's own, and how CometD servers word a lost session.
_SIGNS: tuple[tuple[str, type[Refused | SessionLost | ClientEnded]], ...] = (
    ("limit exceeded", Refused),
    ("to protect all customers", Refused),
    ("does not match the session", ClientEnded),
    ("has established a session, but no", ClientEnded),
    ("unknown client", SessionLost),
    ("session_unknown", SessionLost),
    ("has not completed handshake", SessionLost),
)


@dataclass(frozen=True, slots=True)
class Advice:
    """What the server wants of the next connect: a pause before it, and how long it may be held. Both in seconds."""

    interval_s: float = 0.0
    timeout_s: float = 110.0


def handshake() -> Request:
    """Ask for a client id and for replay."""
    return {
        "channel": HANDSHAKE,
        "version": "1.0",
        "minimumVersion": "1.0",
        "supportedConnectionTypes": ["long-polling"],
        "ext": {"replay": True},
    }


def connect(client_id: str, *, at_once: bool = False) -> Request:
    """Wait for events; `at_once` asks for an answer without waiting, as the first connect of a session needs."""
    request: Request = {"channel": CONNECT, "clientId": client_id, "connectionType": "long-polling"}
    return request | ({"advice": {"timeout": 0}} if at_once else {})


def subscribe(client_id: str, channel: str, replay_id: int) -> Request:
    """Receive what follows `replay_id`; -2 is everything retained, -1 only what is new."""
    return {
        "channel": SUBSCRIBE,
        "clientId": client_id,
        "subscription": channel,
        "ext": {"replay": {channel: replay_id}},
    }


def disconnect(client_id: str) -> Request:
    """End the session."""
    return {"channel": DISCONNECT, "clientId": client_id}


def read_answer(status: int, body: bytes) -> Sequence[Any] | Loss:
    """The answer's members where it is a Bayeux answer, whatever the HTTP status; else what the status means.

    A member may be of any JSON type: one that is no frame must not cost the events beside it.
    """
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        answer = None
    members = answer if isinstance(answer, list) else []
    if any(is_frame(member) for member in members):
        return members
    told = [member.get("errorCode") for member in members if isinstance(member, dict)]
    codes = {code for code in told if isinstance(code, str)}
    text = " ".join([f"HTTP {status}", *sorted(codes)])
    if status == UNAUTHORISED or "INVALID_SESSION_ID" in codes:
        return TokenRefused(text)
    if "REQUEST_LIMIT_EXCEEDED" in codes:
        return Refused(text)
    return Broken(f"{text}: not a Bayeux answer")


def is_frame(member: object) -> bool:
    """Whether a member of an answer is a Bayeux frame: an object with a channel."""
    return isinstance(member, dict) and isinstance(member.get("channel"), str)


def is_meta(member: Any) -> bool:
    """Whether a member speaks of the session, not of an event."""
    return is_frame(member) and member["channel"].startswith("/meta/")


def reply_to(request: Frame, members: Sequence[Any]) -> Frame | Broken | ClientEnded:
    """The server's reply to the request, good or bad, or why there is none.

    A disconnect that nobody asked for ends the client, even beside a good reply.
    """
    frames: list[Frame] = [member for member in members if is_meta(member)]
    channel = request["channel"]
    if channel != DISCONNECT and any(frame["channel"] == DISCONNECT for frame in frames):
        return ClientEnded("the server disconnected this client")
    for frame in frames:
        answers = frame["channel"] == channel and frame.get("id", request.get("id")) == request.get("id")
        if answers and "successful" in frame:
            return frame
    return Broken(f"no reply to {channel}")


def judge(frame: Frame) -> Loss:
    """What an unsuccessful reply asks for. Its text may be logged, whatever the reply repeats of what was sent."""
    loss = _judged(frame)
    return replace(loss, text=without_numbers(scrub(loss.text))[:TEXT_MAX])


def _judged(frame: Frame) -> Loss:
    text = _reason(frame)
    lower, code = text.lower(), _code(text)
    if code == BUSY or "server is too busy" in lower:
        return Broken(text)
    if code == UNAUTHORISED:
        return TokenRefused(text)
    if frame["channel"] == SUBSCRIBE and "replayid" in lower:
        return PositionExpired(text)
    for sign, loss in _SIGNS:
        if sign in lower:
            return loss(text)
    if code == PAYMENT:
        return SessionLost(text)
    return _judge_by_place(frame, text, code)


def _judge_by_place(frame: Frame, text: str, code: int) -> Loss:
    # A refused subscription names a channel, permission or version that stays wrong; 400 on another channel the same.
    if frame["channel"] == SUBSCRIBE or code in {400, 413}:
        return Refused(text)
    match reconnect(frame):
        case "handshake":
            return SessionLost(text)
        case "none":
            return ClientEnded(text)
        case _ if code == FORBIDDEN:
            return SessionLost(text)
        case _:
            return Broken(text)


def parting(frame: Frame) -> Loss | None:
    """Why a session ends although the reply is a success: the advice says so."""
    match reconnect(frame):
        case "handshake":
            return SessionLost("the server advised a handshake")
        case "none":
            return ClientEnded("the server advised not to reconnect")
        case _:
            return None


def reconnect(frame: Frame) -> str:
    """The advice on reconnecting: `retry` where there is none."""
    advice = frame.get("advice")
    return str(advice.get("reconnect", "retry")) if isinstance(advice, dict) else "retry"


def advised(advice: Advice, frame: Frame) -> Advice:
    """The advice after a reply; members that are absent or no sane number of milliseconds leave it as it was."""
    told = frame.get("advice")
    if not isinstance(told, dict):
        return advice
    return replace(
        advice,
        interval_s=_seconds(told.get("interval"), advice.interval_s),
        timeout_s=_seconds(told.get("timeout"), advice.timeout_s),
    )


def _seconds(milliseconds: object, otherwise: float) -> float:
    if isinstance(milliseconds, bool) or not isinstance(milliseconds, int | float):
        return otherwise
    if not (math.isfinite(milliseconds) and milliseconds >= 0):
        return otherwise
    return min(milliseconds / 1000, ADVICE_MAX_S)


def _reason(frame: Frame) -> str:
    ext = frame.get("ext")
    sfdc = ext.get("sfdc") if isinstance(ext, dict) else None
    nested = sfdc.get("failureReason") if isinstance(sfdc, dict) else None
    return str(nested or frame.get("error") or f"{frame['channel']} failed without an error text")[:LOOKED_AT_MAX]


def _code(text: str) -> int:
    found = re.match(r"(\d{3}):", text)
    return int(found[1]) if found else 0
