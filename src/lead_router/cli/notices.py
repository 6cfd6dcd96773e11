"""`notices`: what channels were told, and whether they can be told anything."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import closing

from lead_router import app, log
from lead_router.cli.given import settings_of
from lead_router.cli.show import as_json, table
from lead_router.core.ages import age
from lead_router.ports.notices import ChannelView


def notices(words: argparse.Namespace) -> int:
    """`notices`: list, test."""
    match words.verb:
        case "list":
            return _list(words)
        case _:
            with log.quiet():
                return _test(words)


def channels_table(channels: Sequence[ChannelView]) -> str:
    """The channels at a glance, blank where there are none."""
    if not channels:
        return ""
    states = ("queued", "sending", "sent", "failed", "unknown", "dropped")
    rows = [
        (one.channel, *(one.by_status.get(state, 0) for state in states), age(one.oldest_age_s)) for one in channels
    ]
    return table(("channel", *states, "oldest unsent"), rows)


def _list(words: argparse.Namespace) -> int:
    with closing(app.open_jobs(settings_of(words))) as store:
        seen = store.notices(status=words.status, limit=words.limit + 1)
    rows = seen[: words.limit]
    if words.json:
        print(as_json(rows))
        return 0
    if not rows:
        print("no notices" if words.status is None else f"no {words.status} notices")
        return 0
    heads = ("notice", "channel", "status", "kind", "lead", "for", "tries", "created", "last error or reason")
    told = [
        (r.id, r.channel, r.status, r.kind, r.lead_id, r.user_id, r.attempts, r.created_at, r.last_error or r.reason)
        for r in rows
    ]
    print(table(heads, told))
    if len(seen) > len(rows):
        print(f"the newest {len(rows)} of more: --limit N shows N", file=sys.stderr)
    return 0


def _test(words: argparse.Namespace) -> int:
    tried = app.try_channels(settings_of(words), only=words.channel, user_id=words.to)
    code = 0 if all(one.sent for one in tried) else 1
    if words.json:
        print(as_json(tried))
        return code
    for one in tried:
        print(f"{'ok' if one.sent else 'FAIL':<5} {one.channel}{': ' * bool(one.text)}{one.text}")
    return code
