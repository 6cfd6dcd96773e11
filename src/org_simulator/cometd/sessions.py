"""Who is connected: client ids, their cookies, their subscriptions and when they are given up."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from org_simulator.cometd.protocol import Json, delivery
from org_simulator.events import ALL_CHANGES

if TYPE_CHECKING:
    from org_simulator.clock import Clock
    from org_simulator.events import ChangeLog, Event

_ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789"


@dataclass(frozen=True, slots=True)
class Terms:
    """What the server grants: seconds a poll is held, seconds a client may stay away, events of an answer, clients."""

    poll_s: float = 110.0
    reconnect_s: float = 40.0
    events_max: int = 2_000
    clients_max: int = 1_000

    def scaled(self, factor: float) -> Terms:
        """The same with both times multiplied."""
        return Terms(self.poll_s * factor, self.reconnect_s * factor, self.events_max, self.clients_max)


@dataclass(slots=True, eq=False)
class Session:
    """One client between handshake and goodbye. `cursors` maps each subscribed channel to the serial delivered last;
    `heard` are the change channels its user had the permission for at the last subscribe.
    """

    client_id: str
    browser: str
    token: str
    user_id: str
    epoch: int
    gives_up_at: float | None
    cursors: dict[str, int] = field(default_factory=dict)
    heard: frozenset[str] = frozenset()
    connects: int = 0
    woken: asyncio.Event = field(default_factory=asyncio.Event)


class Sessions:
    """All clients of one server; used on the event loop alone."""

    def __init__(self, log: ChangeLog, clock: Clock, terms: Terms) -> None:
        self._log = log
        self._clock = clock
        self._terms = terms
        self._all: dict[str, Session] = {}

    def open(self, token: str, user_id: str, browser: str | None) -> Session | None:
        """A new session, or None where the org has too many."""
        for session in tuple(self._all.values()):
            if not self.alive(session):
                self.close(session)
        if len(self._all) >= self._terms.clients_max:
            return None
        cookie = browser or self._letters(20)
        session = Session(self._letters(26), cookie, token, user_id, self._log.session_epoch, self._from_now())
        self._all[session.client_id] = session
        return session

    def find(self, client_id: str, browser: str | None) -> Session | None:
        """The live session of this client, if the request bears its cookie."""
        session = self._all.get(client_id)
        if session is None or session.browser != browser:
            return None
        if not self.alive(session):
            self.close(session)
            return None
        return session

    def alive(self, session: Session) -> bool:
        """Whether the server still knows the client: not closed, not dropped, back in time."""
        late = session.gives_up_at is not None and self._clock.monotonic() >= session.gives_up_at
        known = self._all.get(session.client_id) is session
        return known and not late and session.epoch == self._log.session_epoch

    def close(self, session: Session) -> None:
        """Forget the client; a poll it holds ends."""
        self._all.pop(session.client_id, None)
        session.woken.set()

    def answered(self, session: Session) -> None:
        """A connect was answered: from now the client has its time to come back."""
        session.gives_up_at = self._from_now()

    def wake(self) -> None:
        """Let every held poll look again."""
        for session in self._all.values():
            session.woken.set()

    @property
    def held(self) -> int:
        """How many clients have a poll waiting here right now."""
        return sum(session.gives_up_at is None for session in self._all.values())

    def subscribers(self, channel: str) -> int:
        """How many live clients are subscribed to the channel."""
        return sum(channel in session.cursors and self.alive(session) for session in self._all.values())

    def __len__(self) -> int:
        return len(self._all)

    def _from_now(self) -> float:
        return self._clock.monotonic() + self._terms.reconnect_s

    def _letters(self, count: int) -> str:
        return "".join(self._log.dice.choices(_ALPHABET, k=count))


def pending(session: Session, log: ChangeLog) -> bool:
    """Whether an answer to this session would carry events."""
    if not session.cursors:
        return False
    return any(_wanted(session, event) for event in log.since(min(session.cursors.values())))


def collect(session: Session, log: ChangeLog, events_max: int) -> list[Json]:
    """The session's next events, its cursors moved; at most `events_max`, one more where a fault doubles the last."""
    collected: list[Json] = []
    if not session.cursors:
        return collected
    reached = min(session.cursors.values())
    for event in log.since(reached):
        if len(collected) >= events_max:
            break
        for channel in _wanted(session, event):
            times = 1 if log.faults.take("duplicate") is None else 2
            collected.extend([delivery(channel, event)] * times)
        reached = event.serial
    session.cursors = {channel: max(cursor, reached) for channel, cursor in session.cursors.items()}
    return collected


def _wanted(session: Session, event: Event) -> list[str]:
    changes = event.channel.startswith("/data/")
    if changes and event.channel not in session.heard:
        return []
    names = (event.channel, ALL_CHANGES) if changes else (event.channel,)
    return [name for name in names if name in session.cursors and session.cursors[name] < event.serial]
