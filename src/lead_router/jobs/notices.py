"""Notices: an outbox beside the jobs. Neither a notice is written without its job's end, nor an end without it."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Final

from lead_router.jobs import noticing as sql
from lead_router.jobs.engine import Row, Step
from lead_router.jobs.verbs import Verbs
from lead_router.jobs.views import instant
from lead_router.jobs.writing import in_ms, listed, storable
from lead_router.ports.notices import (
    ChannelsOf,
    ChannelView,
    Dropped,
    GivenUp,
    NewNotice,
    NoticeEnding,
    NoticeKind,
    NoticeView,
    Sent,
    TakenNotice,
    Unknown,
    Unsent,
    nowhere,
)

DAY_MS: Final = 86_400_000


class SqlNotices(Verbs):
    """See Notices. `channels` says where a notice goes."""

    _channels: ChannelsOf = staticmethod(nowhere)

    @property
    def notifies(self) -> bool:
        """Whether there are channels at all."""
        return self._channels is not nowhere

    def notify(self, notices: Sequence[NewNotice]) -> int:
        """Synced: nobody else knows of what is told here."""
        steps = self._notified(notices)
        return len(self._engine.write(steps)[-1]) if steps else 0

    def take_notice(self, channel: str, *, lease_s: float, pace_s: float) -> TakenNotice | None:
        """One transaction. Not synced: a claim that a lost machine forgot is made again, and nothing was sent by it."""
        if not self._read(sql.DUE, channel=channel):
            return None
        own = {"channel": channel, "token": uuid.uuid4().hex}
        steps = [
            self._step(sql.PACE, channel=channel),
            self._step(sql.DOUBT, channel=channel),
            self._step(sql.TAKE, **own, lease_ms=in_ms(lease_s)),
            self._step(sql.PACED, **own, pace_ms=in_ms(pace_s)),
        ]
        rows = self._engine.write(steps, synced=False)[2]
        return _taken(rows[0], channel) if rows else None

    def sending(self, notice: TakenNotice, *, lease_s: float) -> bool:
        """Synced: a notice of which a lost machine forgot that it was sent would be sent again."""
        return bool(self._write(sql.SENDING, id=notice.id, token=notice.token, lease_ms=in_ms(lease_s)))

    def end_notice(self, notice: TakenNotice, how: NoticeEnding) -> bool:
        """Not synced: of what a lost machine forgot of it, it is unknown whether it was sent."""
        values = {"id": notice.id, "token": notice.token, **_ended(how)}
        return bool(self._engine.write([self._step(sql.END, **values)], synced=False, tidies=True)[0])

    def unsent_leads(self, channel: str, *, older_than_s: float, limit: int) -> list[str]:
        """Those that come next first."""
        older_ms = in_ms(older_than_s)
        rows = self._read(sql.UNSENT_LEADS, channel=channel, older_ms=older_ms, limit=limit)
        return list(dict.fromkeys(row["lead_id"] for row in rows))

    def notices(self, *, status: str | None = None, limit: int = 50) -> list[NoticeView]:
        """Newest first."""
        if status not in sql.NOTICES:
            raise ValueError(f"{status!r} is no status of a notice")
        return [_view(row) for row in self._read(sql.NOTICES[status], limit=limit)]

    def notices_of(self, lead_id: str, *, limit: int) -> list[NoticeView]:
        """Looks through all of them."""
        return [_view(row) for row in self._read(sql.NOTICES_OF, lead_id=lead_id, limit=limit)]

    def channels(self) -> list[ChannelView]:
        """Those that were sent or dropped count for a day."""
        counts: dict[str, dict[str, int]] = {}
        ages: dict[str, list[int]] = {}
        for row in self._read(sql.CHANNELS, day_ms=DAY_MS):
            counts.setdefault(row["channel"], {})[row["status"]] = row["notices"]
            if row["oldest_age_ms"] is not None:
                ages.setdefault(row["channel"], []).append(row["oldest_age_ms"])
        return [
            ChannelView(name, found, max(ages[name]) / 1000 if name in ages else None) for name, found in counts.items()
        ]

    def forget_notices(self, *, older_than_s: float, limit: int) -> int:
        """The oldest first; none before its job, which would make it again."""
        return len(self._write(sql.FORGET, older_ms=in_ms(older_than_s), limit=limit))

    def _notified(self, notices: Sequence[NewNotice]) -> list[Step]:
        """What writes the notices down, to be carried out with what they tell of."""
        rows = [
            _written(notice, channel)
            for notice in sorted(notices, key=lambda one: one.key)
            for channel in self._channels(notice)
        ]
        if not rows:
            return []
        again = [row for row in rows if row["round"] > 1]
        drop = [self._step(sql.DROP_EARLIER, rows=listed(again))] if again else []
        return [*drop, self._step(sql.NOTIFY, rows=listed(rows))]


def _written(notice: NewNotice, channel: str) -> Mapping[str, Any]:
    return {
        "key": notice.key,
        "channel": channel,
        "kind": str(notice.kind),
        "lead_id": notice.lead_id,
        "user_id": notice.user_id,
        "owner_id": notice.owner_id,
        "round": notice.round,
        "name": storable(notice.name),
        "group_key": notice.group,
        "reason": storable(notice.reason),
    }


def _ended(how: NoticeEnding) -> Mapping[str, Any]:
    match how:
        case Sent():
            return _end("sent", None)
        case Unsent(delay_s, error, counts):
            return _end("queued", error, counts=counts, delay_s=delay_s)
        case GivenUp(error):
            return _end("failed", error)
        case Unknown(error):
            return _end("unknown", error)
        case Dropped(reason):
            return _end("dropped", reason)


def _end(status: str, error: str | None, *, counts: bool = True, delay_s: float = 0.0) -> Mapping[str, Any]:
    told = None if error is None else storable(error)
    return {"status": status, "error": told, "counts": int(counts), "delay_ms": in_ms(delay_s)}


def _taken(row: Row, channel: str) -> TakenNotice:
    what = NewNotice(
        key=row["notice_key"],
        kind=NoticeKind(row["kind"]),
        lead_id=row["lead_id"],
        user_id=row["user_id"],
        round=row["round"],
        reason=row["reason"],
        name=row["name"],
        group=row["group_key"],
        owner_id=row["owner_id"],
    )
    return TakenNotice(row["id"], row["claim_token"], channel, what, row["attempts"], row["age_ms"] / 1000)


def _view(row: Row) -> NoticeView:
    return NoticeView(
        id=row["id"],
        channel=row["channel"],
        status=row["status"],
        kind=row["kind"],
        lead_id=row["lead_id"],
        user_id=row["user_id"],
        attempts=row["attempts"],
        created_at=instant(row["created_at"]),
        next_run_at=instant(row["next_run_at"]),
        completed_at=None if row["completed_at"] is None else instant(row["completed_at"]),
        last_error=row["last_error"],
        reason=row["reason"],
        key=row["notice_key"],
    )
