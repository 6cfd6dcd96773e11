"""Listening: of all processes of an org one holds the subscription, the others ask every second whether it is free.

waits ──free, given up or lease run out──▶ listens ──SIGTERM: gives up──▶ the end
  ▲                                          │
  └───────── another one took it ────────────┘
"""

from __future__ import annotations

from collections.abc import Callable

import structlog

from lead_router.errors import LeadRouterError, StoreUnavailable, Superseded
from lead_router.loops.current import Current
from lead_router.loops.intake import Intake
from lead_router.loops.vitals import Ear
from lead_router.ports import Held, Hold, JobStore

_log = structlog.get_logger(__name__)

LEASE_S = 6.0  # with a look each second and a new subscription it is another's within 10 s
KEEP_EVERY_S = LEASE_S / 3
LOOK_EVERY_S = 1.0
RELOAD_TOLD = "told by the listener"
_LOGGED = {"backing-off": ": see stream_lost in the log", "refused": ": see stream_refused in the log"}


class Listening:
    """The intake, while this process holds the channel. `open_intake` subscribes from the position that is stored then.

    It subscribes anew when a sweep found the stream silent, and from the stored position where the job database came
    back older than it was. A holder that stalls for longer than its lease is
    overtaken, and the fence refuses what it still wants to record.
    """

    def __init__(
        self,
        store: JobStore,
        current: Current,
        open_intake: Callable[[Hold], Intake],
        *,
        channel: str,
        name: str,
        monotonic: Callable[[], float],
    ) -> None:
        self._store = store
        self._current = current
        self._open_intake = open_intake
        self._channel = channel
        self._name = name
        self._monotonic = monotonic
        self._hold: Hold | None = None
        self._intake: Intake | None = None
        self._keep_at = 0.0
        self._look_at = float("-inf")
        self._heard = 0
        self._reconnects: int | None = None
        self._held: Held | None = None
        self._silent = False
        self._doubted = False

    def hearing(self) -> Ear:
        """How the stream is heard; may be asked from another thread, and waits for nothing."""
        intake, held = self._intake, self._held
        if intake is not None:
            state = intake.state()
            if state != "subscribed":
                told = _LOGGED.get(state, "")
                return Ear(state, f"it is {state}: no event is heard, the sweep finds what comes{told}")
            if self._silent:
                return Ear("silent", "leads came and it brought nothing: see stream_silent in the log")
            return Ear(state)
        if held is not None:
            return Ear(f"standby: {held.holder} listens")
        return Ear("unknown", "nobody is known to listen")

    def step(self) -> bool:
        """Listen once, True; or look once whether the channel is free, False. Raises Transient, with nothing lost."""
        if self._hold is None or self._intake is None:
            return self._look()
        try:
            if self._doubted:
                self._look_back(self._hold, self._intake)
            elif self._monotonic() >= self._keep_at:
                self._keep(self._hold, self._intake)
            else:
                self._intake.step()
        except Superseded:
            self._lose(self._hold)
        except StoreUnavailable:
            self._doubted = True
            raise
        return True

    def _look_back(self, hold: Hold, intake: Intake) -> None:
        """A database that was away may come back as a copy that lagged behind: what it lacks is heard again."""
        older, self._doubted = intake.outran(), False
        if older:
            _log.warning("job_database_older", channel=self._channel)
            self._leave()
            self._open(hold)

    def _keep(self, hold: Hold, intake: Intake) -> None:
        heard = intake.heard
        kept = self._store.keep(hold, subscribed=intake.subscribed(), heard=heard > self._heard)
        if kept is None:
            raise Superseded(f"another router listens to {hold.channel}")
        self._keep_at = self._monotonic() + KEEP_EVERY_S
        self._heard = heard
        self._silent = kept.silent
        if kept.broke_silence:
            _log.info("stream_heard", channel=self._channel)
        wished, self._reconnects = self._reconnects, kept.reconnects
        if wished is not None and kept.reconnects > wished:
            self._leave()
            self._open(hold)

    def _look(self) -> bool:
        if self._monotonic() < self._look_at:  # other loops' work ends the rest early
            return False
        self._look_at = self._monotonic() + LOOK_EVERY_S
        match self._store.hold(self._channel, self._name, lease_s=LEASE_S):
            case Hold() as hold:
                self._take(hold)
                return True
            case Held() as held:
                self._wait(held)
                return False

    def _take(self, hold: Hold) -> None:
        self._hold, self._held, self._reconnects, self._silent, self._doubted = hold, None, None, False, False
        self._keep_at = self._monotonic() + KEEP_EVERY_S
        self._open(hold)
        _log.info("listener_taken", channel=self._channel, generation=hold.generation)

    def _open(self, hold: Hold) -> None:
        try:
            self._intake, self._heard = self._open_intake(hold), 0
        except Exception:
            self._give_up(hold)  # another process may be able to, and this one would wait for itself
            raise

    def _wait(self, held: Held) -> None:
        former, self._held = self._held, held
        if former is None or former.holder != held.holder:
            _log.info("listener_waits", channel=self._channel, holder=held.holder)
        if former is not None and former.reloads != held.reloads:
            self._current.outdate(RELOAD_TOLD)

    def _lose(self, hold: Hold) -> None:
        _log.warning("listener_lost", channel=self._channel, generation=hold.generation)
        self._hold = None
        self._leave()

    def _give_up(self, hold: Hold) -> None:
        self._hold = None
        try:
            self._store.give_up(hold)
        except LeadRouterError as fault:
            _log.warning("listener_not_given_up", channel=self._channel, error=str(fault), ends_in_s=hold.lease_s)

    def _leave(self) -> None:
        if self._intake is not None:
            self._intake.close()
            self._intake = None

    def close(self) -> None:
        """Give the channel up first, so that nobody waits for this one's goodbye."""
        if self._hold is not None:
            self._give_up(self._hold)
        self._leave()
        self._store.close()
