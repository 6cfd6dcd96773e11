"""Why a session of a stream is over, by what is needed next; whatever protocol it spoke."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class TokenRefused:
    """The access token is no longer accepted: get another one, once."""

    text: str


@dataclass(frozen=True, slots=True)
class SessionLost:
    """The server does not know this client id: shake hands again, with the same cookies."""

    text: str


@dataclass(frozen=True, slots=True)
class ClientEnded:
    """The server wants no more of this client: begin with a fresh one, cookies included."""

    text: str


@dataclass(frozen=True, slots=True)
class PositionExpired:
    """The replay id is unknown or older than what is retained: it will never be accepted again."""

    text: str


@dataclass(frozen=True, slots=True)
class Refused:
    """An allowance is used up, a permission missing or the login refused: only time or a person helps."""

    text: str
    login: bool = False


@dataclass(frozen=True, slots=True)
class Broken:
    """The network, a proxy or the server failed: an answer may have died on the way."""

    text: str


@dataclass(frozen=True, slots=True)
class Oversized:
    """The answer exceeds the limit and was not read to its end."""

    text: str


Loss: TypeAlias = TokenRefused | SessionLost | ClientEnded | PositionExpired | Refused | Broken | Oversized


class Lost(Exception):
    """The session is over; `loss` says what is needed next, `wait_s` how long to wait at least."""

    def __init__(self, loss: Loss, *, wait_s: float = 0.0) -> None:
        super().__init__(loss.text)
        self.loss = loss
        self.wait_s = wait_s
