"""The org's event bus: committed changes and published events in commit order, replayable for 72 hours."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
import uuid
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from random import Random
from typing import TYPE_CHECKING, Any

from org_simulator.event_bodies import body, event_name, gap_header, header, overflow_header
from org_simulator.event_groups import merged, within_limit
from org_simulator.stream_faults import StreamFaults

if TYPE_CHECKING:
    from org_simulator.changes import RowChange
    from org_simulator.org import Org

ALL_CHANGES = "/data/ChangeEvents"
RETENTION = timedelta(hours=72)
EVENT_BYTES_MAX = 1_000_000
NEW_ONLY = -1
ALL_RETAINED = -2
_HOLE_MAX = 40


class UnknownReplayId(ValueError):
    """The replay id is expired or was never given out."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event of the bus. `serial` has no holes and is never renumbered; subscribers see `replay_id` alone."""

    serial: int
    replay_id: int
    channel: str
    at: datetime
    payload: Mapping[str, Any]
    event_uuid: str | None = None


class ChangeLog:
    """Every event of the last 72 hours. Fed by `org.listeners`; every method may be called from any thread."""

    def __init__(self, org: Org, *, split_merged: bool = False) -> None:
        """`split_merged`: as enriched channels do, a merged event comes as one per record, all of one replay id."""
        self._org = org
        self.dice = Random(org.dice.random())
        self._lock = threading.RLock()
        self._events: list[Event] = []
        self._last_serial = 0
        self._last_replay_id = self.dice.randrange(10_000_000, 90_000_000)
        self._visible: int | None = None
        self.split_merged = split_merged
        self.faults = StreamFaults(self.dice)
        self.wakers: list[Callable[[], None]] = []
        self.published: list[Callable[[str, Mapping[str, Any]], None]] = []
        """Called with each platform event, by name and fields, after it is in the log."""
        self.session_epoch = 0
        org.listeners.append(self._committed)
        org.events = self

    # ---- what subscribers ask ---------------------------------------------------------------------------------------

    def channels(self) -> frozenset[str]:
        """The channels that exist: selected entities, all of them together, and the platform events."""
        changes = {f"/data/{event_name(sobject)}" for sobject in self._entities()}
        platform = {f"/event/{event.name}" for event in self._org.schema.platform_events.values()}
        return frozenset({ALL_CHANGES, *changes, *platform})

    def position(self, replay_id: int) -> int:
        """The serial after which a subscription with this replay option starts; raises UnknownReplayId."""
        with self._lock:
            self._expire()
            if replay_id == NEW_ONLY:
                return self._tip()
            if replay_id == ALL_RETAINED:
                return self._last_serial - len(self._events)
            at = bisect_right(self._events, replay_id, key=lambda event: event.replay_id)
            if at == 0 or self._events[at - 1].replay_id != replay_id:
                raise UnknownReplayId(str(replay_id))
            return self._events[at - 1].serial

    def since(self, serial: int, limit: int | None = None) -> list[Event]:
        """Visible retained events after `serial`, in commit order."""
        with self._lock:
            self._expire()
            start = max(0, serial - (self._last_serial - len(self._events)))
            end = len(self._events) - (self._last_serial - self._tip())
            return self._events[start : max(start, end if limit is None else min(end, start + limit))]

    def replay_id_at(self, serial: int | None = None) -> int:
        """The replay id of the event with this serial, by default the newest; of the last one before, if it is gone."""
        with self._lock:
            wanted = self._last_serial if serial is None else serial
            at = wanted - (self._last_serial - len(self._events)) - 1
            return self._events[at].replay_id if 0 <= at < len(self._events) else self._last_replay_id

    def state(self) -> dict[str, Any]:
        """Counts for people: retained events, the newest replay id, faults still armed."""
        with self._lock:
            newest = self._events[-1].replay_id if self._events else None
            return {
                "retained": len(self._events),
                "published": self._last_serial,
                "newest_replay_id": newest,
                "held": self._visible is not None,
                "faults": self.faults.left(),
            }

    # ---- publishing -------------------------------------------------------------------------------------------------

    def publish(self, name: str, fields: Mapping[str, Any], user_id: str | None = None) -> str:
        """Publish a platform event now; returns its EventUuid. Raises KeyError for a name that the schema lacks."""
        name = self._org.schema.platform_events[name.lower()].name
        now = self._org.clock.now()
        event_uuid = str(uuid.UUID(int=self.dice.getrandbits(128), version=4))
        stamped = {
            "CreatedDate": f"{now.isoformat(timespec='milliseconds').removesuffix('+00:00')}Z",
            "CreatedById": user_id or self._org.integration_user_id,
            **fields,
        }
        with self._lock:
            self._append(f"/event/{name}", now, stamped, event_uuid)
        self.wake()
        for listener in tuple(self.published):
            listener(name, fields)
        return event_uuid

    def gap(self, sobject: str, record_ids: Sequence[str], change_type: str = "UPDATE") -> None:
        """Publish a gap event for records whose change never passed through a transaction of the application."""
        self._publish_bare(sobject, gap_header, list(record_ids), change_type)

    def overflow(self, sobject: str) -> None:
        """Publish the event that stands for more changes than a transaction may report one by one."""
        self._publish_bare(sobject, overflow_header, [], "UPDATE")

    # ---- disturbances -----------------------------------------------------------------------------------------------

    def drop_sessions(self) -> None:
        """End every subscriber's session; the log stays."""
        self.session_epoch += 1
        self.wake()

    def expire(self, *, keep: int = 0) -> None:
        """Forget every retained event but the newest `keep`, as if 72 hours had passed."""
        with self._lock:
            del self._events[: max(0, len(self._events) - keep)]

    def renumber(self) -> None:
        """Move the org to another instance: retained events get new, lower replay ids, and sessions end."""
        with self._lock:
            self._last_replay_id = self.dice.randrange(1, max(2, self._last_replay_id // 2))
            moved: dict[int, int] = {}
            for index, event in enumerate(self._events):
                if event.replay_id not in moved:
                    moved[event.replay_id] = self._next_replay_id()
                self._events[index] = replace(event, replay_id=moved[event.replay_id])
        self.drop_sessions()

    def hold(self) -> None:
        """Deliver nothing until `release`; events go on being logged."""
        with self._lock:
            self._visible = self._tip()

    def release(self) -> None:
        """Deliver what was held."""
        with self._lock:
            self._visible = None
        self.wake()

    def wake(self) -> None:
        """Tell every transport that there may be something to deliver."""
        for waker in tuple(self.wakers):
            waker()

    # ---- from changes to events -------------------------------------------------------------------------------------

    def _committed(self, changes: Sequence[RowChange]) -> None:
        entities = self._entities()
        seen = [change for change in changes if change.sobject in entities]
        if not seen:
            return
        full, beyond = ([], seen) if self.faults.take("overflow") is not None else within_limit(seen)
        with self._lock:
            for group in merged(full) if self._org.switches.merged_events else [[change] for change in full]:
                self._append_group(group)
            for first in {change.sobject: change for change in reversed(beyond)}.values():
                bare = {"ChangeEventHeader": overflow_header(self._header(first, []))}
                self._append(f"/data/{event_name(first.sobject)}", first.at, bare)
        self.wake()

    def _append_group(self, group: Sequence[RowChange]) -> None:
        if self.faults.take("lose_event") is not None:
            return
        first = group[0]
        head, fields = self._header(first, [change.id for change in group]), body(first)
        payload = {"ChangeEventHeader": head, **fields}
        if self.faults.take("gap_event") is not None or len(json.dumps(payload)) > EVENT_BYTES_MAX:
            payload, fields = {"ChangeEventHeader": gap_header(head)}, {}
        channel = f"/data/{event_name(first.sobject)}"
        if not self.split_merged or len(group) == 1:
            self._append(channel, first.at, payload)
            return
        replay_id = self._next_replay_id()
        for change in group:
            alone = {**payload, "ChangeEventHeader": {**payload["ChangeEventHeader"], "recordIds": [change.id]}}
            self._append(channel, first.at, alone, replay_id=replay_id)

    def _publish_bare(
        self, sobject: str, shape: Callable[[Mapping[str, Any]], dict[str, Any]], ids: list[str], change_type: str
    ) -> None:
        now = self._org.clock.now()
        head = {
            "entityName": sobject,
            "recordIds": ids,
            "changeType": change_type,
            "changeOrigin": "",
            "transactionKey": str(uuid.UUID(int=self.dice.getrandbits(128), version=4)),
            "sequenceNumber": 1,
            "commitTimestamp": int(now.timestamp() * 1000),
            "commitNumber": self.dice.getrandbits(40),
            "commitUser": self._org.admin_user_id,
            **({"changedFields": []} if self._org.switches.changed_fields_present else {}),
        }
        with self._lock:
            self._append(f"/data/{event_name(sobject)}", now, {"ChangeEventHeader": shape(head)})
        self.wake()

    def _header(self, change: RowChange, ids: list[str]) -> dict[str, Any]:
        return header(change, ids, changed_fields_present=self._org.switches.changed_fields_present)

    def _append(
        self,
        channel: str,
        at: datetime,
        payload: Mapping[str, Any],
        event_uuid: str | None = None,
        replay_id: int | None = None,
    ) -> None:
        self._expire()
        self._last_serial += 1
        numbered = replay_id if replay_id is not None else self._next_replay_id()
        self._events.append(Event(self._last_serial, numbered, channel, at, payload, event_uuid))

    def _next_replay_id(self) -> int:
        leap = self.dice.randint(2, _HOLE_MAX) if self.dice.random() < 1 / 3 else 1
        self._last_replay_id += leap
        return self._last_replay_id

    def _expire(self) -> None:
        oldest = self._org.clock.now() - RETENTION
        del self._events[: bisect_left(self._events, oldest, key=lambda event: event.at)]

    def _tip(self) -> int:
        return self._last_serial if self._visible is None else self._visible

    def _entities(self) -> frozenset[str]:
        selected = self._org.schema.cdc_entities
        return frozenset(
            known.name
            for known in self._org.schema.objects.values()
            if known.name in selected or event_name(known.name) in selected
        )


def change_log(org: Org) -> ChangeLog:
    """The org's one log, made at the first call; changes committed earlier have no events."""
    return org.events if isinstance(org.events, ChangeLog) else ChangeLog(org)


def schema_id(channel: str) -> str:
    """A stable identity for the channel's event schema, 22 characters like the real ones."""
    digest = hashlib.sha256(channel.encode()).digest()[:16]
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")
