"""Intake: what the stream tells becomes jobs, written in one transaction with the stream's position."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any

import structlog

from lead_router.core.keys import change_key, create_key, submission_of
from lead_router.core.model import Cause, Configuration
from lead_router.errors import StoreUnavailable
from lead_router.loops.asks import UNASSIGNED_UNDER
from lead_router.loops.causes import CREATED, cause_of, takes_back, unassigned_under
from lead_router.loops.current import Current
from lead_router.loops.overriding import GIVEN_BY, SOON, given_by
from lead_router.loops.taking import AFTER_DEATH, may_be_taken
from lead_router.ports import (
    Change,
    Delivery,
    EventSource,
    Hold,
    JobStore,
    NewJob,
    Position,
    Recorded,
    Unreadable,
    Wanted,
)
from lead_router.ports.meter import EVENTS, NO_METER, STREAM_LAG, Meter

_log = structlog.get_logger(__name__)

LATELY_S = 2 * SOON.total_seconds()  # an event may come late


def job_of(change: Change, cause: Cause, configuration: Configuration, org_id: str, *, died: bool = False) -> NewJob:
    """The job for a change. Its key is what the event is, so that the same delivery twice is one job.

    `died` says that an earlier job of its lead did, and that the change may have given it to somebody.
    """
    if change.change_type in CREATED:
        key = create_key(org_id, change.record_id)
    else:
        key = change_key(org_id, change.record_id, change.identity)
    payload: dict[str, Any] = {
        "change_type": change.change_type,
        "identity": change.identity,
        "event_at": change.committed_at.isoformat(),
        "cause": cause.value,
    }
    giver = given_by(change, configuration)
    if giver is not None:
        payload[GIVEN_BY] = giver
    if died:
        payload[AFTER_DEATH] = True
    owner = unassigned_under(change, configuration)
    if owner is not None:
        payload[UNASSIGNED_UNDER] = owner
    return NewJob(
        idempotency_key=key,
        lead_id=change.record_id,
        ordering_key=change.record_id,
        payload=payload,
        submission=submission_of(change.fields, configuration),
    )


class Intake:
    """One subscription, one step at a time. The source gives a delivery again until it is stored.

    `wake` tells of jobs, `wake_upkeep` of a sweep or reload that is asked for: who has nothing to do would only take
    turns at the interpreter with who has. Under a `hold` it records only while that stands. `heard` counts the events
    that it has stored, our own too.
    """

    def __init__(
        self,
        source: EventSource,
        store: JobStore,
        current: Current,
        *,
        channel: str,
        org_id: str,
        own: Callable[[Change], bool],
        wait_s: float,
        wake: Callable[[], None],
        wake_upkeep: Callable[[], None] = lambda: None,
        hold: Hold | None = None,
        wanted: Callable[[], Wanted | None] = lambda: None,
        meter: Meter = NO_METER,
        now: Callable[[], datetime] | None = None,
    ) -> None:
        self._source = source
        self._store = store
        self._current = current
        self._channel = channel
        self._org_id = org_id
        self._own = own
        self._wait_s = wait_s
        self._wake = wake
        self._wake_upkeep = wake_upkeep
        self._hold = hold
        self._wanted = wanted
        self._meter = meter
        self._now = now
        self._written: tuple[Position, ...] = ()
        self.heard = 0

    def step(self) -> bool:
        """Poll once and store what came; True if something came.

        Raises StoreUnavailable, with nothing lost, and Superseded where another one holds the channel.
        """
        delivery = self._source.poll(self._wait_s)
        if delivery == Delivery():
            return False
        jobs, unreadable, changed = self._read(delivery)
        sweep = delivery.gap or ("unreadable event" if unreadable else None)
        record = partial(self._store.record, hold=self._hold, wanted=self._wanted())
        written = partial(record, jobs, unreadable=unreadable, sweep=sweep, changed=changed)
        recorded = self._recorded(written, delivery.position)
        self._source.stored(delivery)
        self.heard += len(delivery.changes) + len(delivery.unreadable)
        self._measure(delivery)
        if delivery.reload:
            self._reload(delivery.reload)
        if recorded.created or recorded.asked:
            self._wake()
        if sweep or delivery.reload:
            self._wake_upkeep()
        if unreadable:
            reasons = sorted({one.reason for one in unreadable})
            _log.warning("events_quarantined", channel=self._channel, events=len(unreadable), reasons=reasons)
        if delivery.changes or sweep:
            _log.info(
                "events_recorded",
                changes=len(delivery.changes),
                jobs=recorded.created,
                known=recorded.known,
                asked=recorded.asked,
                unreadable=len(unreadable),
                gap=delivery.gap,
            )
        return True

    def _recorded(self, record: Callable[..., Recorded], position: Position | None) -> Recorded:
        """Remember which position was written last, and which may have been: that answer was lost."""
        behind = () if position is None else (position,)
        try:
            recorded = record(position=position)
        except StoreUnavailable:
            self._written += behind if self._written else ()
            raise
        self._written = behind or self._written
        return recorded

    def _read(self, delivery: Delivery) -> tuple[list[NewJob], list[Unreadable], set[str]]:
        """The delivery's jobs, what could not be read, and the leads that others changed, by any change of any field.

        One strange change must not hold up the stream. Our own changes ask nothing, or each mark of a held lead would
        have it looked at again; nor does a creation, which is older than whatever is known of its lead.
        """
        configuration = self._current.get()
        jobs: list[NewJob] = []
        changed: set[str] = set()
        unreadable = list(delivery.unreadable)
        ours = self._given_elsewhere(delivery, configuration)
        failed = self._failed(delivery, configuration)
        for change in delivery.changes:
            try:
                if self._own(change):
                    continue
                if change.change_type not in CREATED:
                    changed.add(change.record_id)
                cause = cause_of(change, configuration)
                if cause is None and change.record_id in ours and given_by(change, configuration) is not None:
                    cause = Cause.WAITING  # the worker finds it owned, and shows whose owner was changed
                died = change.record_id in failed and may_be_taken(change, configuration)
                if cause is not None or died:
                    jobs.append(job_of(change, cause or Cause.WAITING, configuration, self._org_id, died=died))
            except Exception as fault:  # noqa: BLE001 - whatever it is, the sweep finds the lead
                _log.exception("change_unreadable", lead=change.record_id, identity=change.identity)
                body = f"{change.change_type} {change.record_id} {change.identity}".encode(errors="replace")
                unreadable.append(Unreadable(self._channel, body, type(fault).__name__))
        return jobs, unreadable, changed

    def _measure(self, delivery: Delivery) -> None:
        if delivery.changes:
            self._meter.count(EVENTS, by=len(delivery.changes))
            if self._now is not None:
                late = self._now() - max(change.committed_at for change in delivery.changes)
                self._meter.set(STREAM_LAG, max(0.0, late.total_seconds()))

    def _reload(self, reason: str) -> None:
        self._current.outdate(reason)
        if self._hold is not None:
            self._store.announce_reload(self._hold)

    def _given_elsewhere(self, delivery: Delivery, configuration: Configuration) -> frozenset[str]:
        """Leads that someone gave to someone soon after this program may have done so; the ledger knows whether.

        All of them where a lead may be taken from its owner: whoever has it by hand keeps it.
        """
        given = {one.record_id for one in delivery.changes if given_by(one, configuration) is not None}
        if takes_back(configuration):
            return frozenset(given)
        return self._store.asked_lately(sorted(given), within_s=LATELY_S)

    def _failed(self, delivery: Delivery, configuration: Configuration) -> frozenset[str]:
        """Leads that somebody may have given to someone, and whose job died; a person may have discarded it since."""
        given = sorted({one.record_id for one in delivery.changes if may_be_taken(one, configuration)})
        return frozenset({**self._store.deaths(given), **self._store.discards(given)}) if given else frozenset()

    def outran(self) -> bool:
        """Whether the stored position is none that this intake wrote: the database is an older copy of what it was.

        What it recorded since is not there, though the source will not bring it again.
        """
        return bool(self._written) and self._store.position(self._channel) not in self._written

    def subscribed(self) -> bool:
        """Whether the org has acknowledged the subscription, and it was not lost since."""
        return self.state() == "subscribed"

    def state(self) -> str:
        """The source's word for how it stands; may be asked from another thread."""
        return self._source.state()

    def close(self) -> None:
        """Leave the stream."""
        self._source.close()
        self._store.close()
