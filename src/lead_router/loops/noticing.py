"""Noticing: sends the notices of one channel, one after the other, each at most once, and none that is no longer so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Final

import structlog

from lead_router.core.backoff import backoff_s
from lead_router.core.model import Lead
from lead_router.core.terms import shown_touch
from lead_router.errors import OUTAGES, LeadRouterError, LoginRefused, Permanent
from lead_router.loops.breaker import Breaker
from lead_router.loops.current import Current
from lead_router.loops.letters import letter
from lead_router.ports import JobStore, Org
from lead_router.ports.meter import NO_METER, NOTICES, Meter
from lead_router.ports.notices import (
    Channel,
    Declined,
    Delivered,
    Delivery,
    Down,
    Dropped,
    GivenUp,
    Letter,
    Messenger,
    NoticeEnding,
    NoticeKind,
    Sent,
    TakenNotice,
    Unclear,
    Unknown,
    Unsent,
)

_log = structlog.get_logger(__name__)

FRESH_S: Final = 30.0
"""A notice no older than this is sent without a look at who owns its lead now: it was read as it was committed."""

LOOK_S: Final = 30.0
"""How long a look at the owners of leads counts."""

LOOKED_AT: Final = 200
"""Leads of late notices that one call reads."""

SLACK_S: Final = 30.0
"""By how much a lease is longer than a look and a letter may take."""

REST_S: Final = 10.0
RETRY_FIRST_S: Final = 2.0
RETRY_CAP_S: Final = 60.0


class Noticing:
    """One channel's loop. A step sends one notice, or none; a channel that is away opens the breaker of its own.

    `home` answers the org's address. What came of a notice is kept until the database has taken it.
    """

    def __init__(
        self,
        store: JobStore,
        org: Org,
        current: Current,
        messenger: Messenger,
        channel: Channel,
        *,
        breaker: Breaker,
        now: Callable[[], datetime],
        monotonic: Callable[[], float],
        home: Callable[[], str],
        call_s: float,
        meter: Meter = NO_METER,
    ) -> None:
        self._store = store
        self._org = org
        self._current = current
        self._messenger = messenger
        self._channel = channel
        self._breaker = breaker
        self._now = now
        self._monotonic = monotonic
        self._home = home
        self._meter = meter
        self._lease_s = call_s + channel.deadline_s + SLACK_S
        self._leads: dict[str, Lead | None] = {}
        self._looked_at = monotonic() - LOOK_S
        self._owed: tuple[TakenNotice, NoticeEnding] | None = None

    def step(self) -> bool:
        """Send the next notice, if one is due; raises StoreUnavailable and what the org's faults are."""
        self._pay()
        if not self._breaker.admits():
            return False
        try:
            taken = self._store.take_notice(self._channel.name, lease_s=self._lease_s, pace_s=self._channel.pace_s)
            return taken is not None and self._told(taken)
        finally:
            self._breaker.pass_on()

    def _told(self, taken: TakenNotice) -> bool:
        if taken.age_s > self._channel.give_up_s:
            self._end(taken, GivenUp(f"not sent within {self._channel.give_up_s:g} s"))
            return True
        try:
            words = self._words(taken)
        except OUTAGES as fault:
            self._end(taken, Unsent(REST_S, f"Salesforce does not answer: {fault}", counts=False))
            raise
        if isinstance(words, Dropped):
            self._end(taken, words)
            return True
        if not self._store.sending(taken, lease_s=self._lease_s):
            _log.info("notice_lost", channel=self._channel.name, notice=taken.id, lead=taken.what.lead_id)
            return True
        try:
            delivery = self._messenger.send(words)
        except Exception as fault:  # noqa: BLE001 - whatever it is, it must end neither the loop nor the router
            delivery = Unclear(f"{type(fault).__name__} amid the sending, told in the router's log")
            _log.exception("notice_unforeseen", channel=self._channel.name, notice=taken.id)
        self._end(taken, self._ending(taken, delivery))
        return True

    def _words(self, taken: TakenNotice) -> Letter | Dropped:
        """The letter, or why there is none any more. Raises what keeps Salesforce from answering."""
        lead: Lead | None = None
        if self._channel.fields or taken.age_s > FRESH_S:
            try:
                lead = self._lead(taken)
            except LoginRefused:
                raise
            except Permanent as fault:
                _log.warning("lead_not_looked_at", channel=self._channel.name, error=str(fault))
            else:
                why = _moved(taken, lead) or self._touched(taken, lead)
                if why is not None:
                    return Dropped(why)
        return letter(taken.what, self._home(), lead=lead, fields=self._channel.fields)

    def _touched(self, taken: TakenNotice, lead: Lead | None) -> str | None:
        """Why a reminder has come too late for what it reminds of."""
        reminds = taken.what.kind is NoticeKind.REMINDER and lead is not None
        return shown_touch(self._current.get(), lead, self._now()) if reminds and lead is not None else None

    def _ending(self, taken: TakenNotice, delivery: Delivery) -> NoticeEnding:
        match delivery:
            case Delivered():
                self._breaker.close()
                return Sent()
            case Declined(text):
                self._breaker.close()
                if taken.attempts + 1 >= self._channel.tries:
                    return GivenUp(text)
                pause = backoff_s(taken.attempts + 1, taken.what.key, first_s=RETRY_FIRST_S, cap_s=RETRY_CAP_S)
                return Unsent(pause, text)
            case Down(text, retry_after):
                delay = self._breaker.trip(retry_after, why=text)
                _log.warning("channel_faulted", channel=self._channel.name, error=text, delay_s=delay)
                return Unsent(0.0, text, counts=False)
            case Unclear(text):
                self._breaker.trip(why=text)
                return Unknown(text)

    def _end(self, taken: TakenNotice, how: NoticeEnding) -> None:
        """A channel's answer that the database does not take is owed to it: lost, the notice would count as unknown."""
        self._owed = (taken, how)
        _tell(self._channel.name, taken, how)
        self._meter.count(NOTICES, self._channel.name, type(how).__name__.lower())
        self._pay()

    def _pay(self) -> None:
        if self._owed is not None:
            if not self._store.end_notice(*self._owed):
                _log.info("notice_lost", channel=self._channel.name, notice=self._owed[0].id)
            self._owed = None

    def _lead(self, taken: TakenNotice) -> Lead | None:
        """Its lead as it is now or was a moment ago, with those of the notices that come next in the same call."""
        wanted = taken.what.lead_id
        if self._monotonic() - self._looked_at >= LOOK_S or wanted not in self._leads:
            late = 0.0 if self._channel.fields else FRESH_S
            others = self._store.unsent_leads(self._channel.name, older_than_s=late, limit=LOOKED_AT - 1)
            ids = list(dict.fromkeys((wanted, *others)))[:LOOKED_AT]
            known = self._current.get()
            shown = replace(known, lead_fields=known.lead_fields | set(self._channel.fields))
            found = self._org.leads(shown, ids)
            self._leads = {lead_id: found.get(lead_id) for lead_id in ids}
            self._looked_at = self._monotonic()
        return self._leads[wanted]

    def close(self) -> None:
        """Free the store, and before it tell it what it is owed."""
        try:
            self._pay()
        except LeadRouterError as fault:
            _log.warning("notice_not_ended", channel=self._channel.name, error=str(fault))
        self._store.close()


def _moved(taken: TakenNotice, lead: Lead | None) -> str | None:
    if lead is None:
        return "its lead is gone"
    if lead.is_converted:
        return "its lead is converted"
    return None if lead.owner_id == (taken.what.owner_id or taken.what.user_id) else "its lead has another owner"


def _tell(channel: str, taken: TakenNotice, how: NoticeEnding) -> None:
    told = {"channel": channel, "notice": taken.id, "lead": taken.what.lead_id}
    match how:
        case Sent():
            _log.info("notice_sent", **told, kind=taken.what.kind, late_s=round(taken.age_s, 1))
        case Unsent(delay_s, error):
            _log.info("notice_put_back", **told, error=error, delay_s=round(delay_s, 1))
        case GivenUp(error):
            _log.error("notice_failed", **told, error=error)
        case Unknown(error):
            _log.warning("notice_unknown", **told, error=error)
        case Dropped(reason):
            _log.info("notice_dropped", **told, reason=reason)
