"""`touches`: how long leads wait for an owner and for a first touch."""

from __future__ import annotations

import argparse

from lead_router import app
from lead_router.app.wiring import now
from lead_router.cli.given import settings_of
from lead_router.cli.show import as_json, table
from lead_router.core.ages import age

_HEADS = (
    "group",
    "leads",
    "owner p50",
    "owner p95",
    "touched",
    "touch p50",
    "touch p95",
    "reminded",
    "re-routed",
    "to manager",
)


def touches(words: argparse.Namespace) -> int:
    """`touches`: the last days, all groups and each."""
    report = app.touch_report(settings_of(words), days=words.days, at=now())
    print(as_json(report) if words.json else _told(report))
    return 0


def _told(report: app.TouchReport) -> str:
    rows = [
        (
            one.group or "all",
            one.leads,
            age(one.owned.p50_s),
            age(one.owned.p95_s),
            one.touched.leads,
            age(one.touched.p50_s),
            age(one.touched.p95_s),
            one.reminded,
            one.rerouted,
            one.to_manager,
        )
        for one in report.groups
    ]
    would = [one for one in report.groups if one.group is not None and (one.would_remind or one.would_reroute)]
    parts = [
        f"leads created since {report.since:%Y-%m-%d %H:%M:%SZ}, by the group that gave each out first",
        table(_HEADS, rows),
        *(f"{one.group}: live, {one.would_remind} reminders and {one.would_reroute} re-routes" for one in would),
        f"reminders are not known: {report.fault}" if report.fault else "",
        _BLIND if report.blind else "",
    ]
    return "\n".join(part for part in parts if part)


_BLIND = "touches are not known: assign the permission set Lead_Router_Activities to the integration user"
