"""What systemd is told: when routing begins, how it goes in a line, that it ends, and, as its watchdog, that it lives.

The words and variables are those of sd_notify(3), for a unit with `Type=notify`, `WatchdogSec=`, `NotifyAccess=main`.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import structlog

from lead_router.core.hidden import scrub
from lead_router.loops.vitals import Health, Vitals

_log = structlog.get_logger(__name__)

TOLD_PER_LIMIT = 3
LOOK_S = 0.5
STATUS_MAX = 200
"""Characters of the line that `systemctl status` shows."""


@dataclass(frozen=True, slots=True)
class Told:
    """What systemd knows so far: the words of the last stage, the line of status, and until when it knows of life."""

    stage: str = ""
    status: str = ""
    alive_until: float = float("-inf")


@contextlib.contextmanager
def watched(vitals: Vitals, environment: Mapping[str, str] = os.environ) -> Iterator[None]:
    """While the block lasts, tell systemd when routing begins and ends, how it goes, and three times within the
    watchdog's limit that the router lives, as long as it does.

    Its watchdog counts from READY=1 on only; before, the same is told by asking for so much more time to start. Without
    systemd nothing is done; without a watchdog, or with one for another process, life alone is not told.
    """
    place, limit = environment.get("NOTIFY_SOCKET", ""), environment.get("WATCHDOG_USEC", "")
    ours = environment.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
    if not place:
        yield
        return
    ended = threading.Event()
    limit_s = int(limit) / 1_000_000 if limit.isdecimal() and ours else 0.0
    thread = threading.Thread(target=_tell, args=(vitals, place, limit_s, ended), name="watchdog", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _tell(vitals: Vitals, place: str, limit_s: float, ended: threading.Event) -> None:
    address = f"\0{place[1:]}" if place.startswith("@") else place
    pause_s = limit_s / TOLD_PER_LIMIT
    told, last = Told(), False
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as line:
        line.settimeout(0)
        while True:
            health, now = vitals.health(), time.monotonic()
            words, told = due(told, health, now, limit_s)
            if words:
                with contextlib.suppress(OSError):  # life is told again before its limit, the rest is for people
                    line.sendto("\n".join(words).encode(), address)
            if last:
                return
            last = ended.wait(min(pause_s, LOOK_S) if pause_s else LOOK_S)  # however short the end, it is told


def due(told: Told, health: Health, now: float, limit_s: float) -> tuple[list[str], Told]:
    """The lines to send at `now`, in seconds of a clock that only goes forward, and what is known after that.

    `limit_s` is the watchdog's, 0 without one.
    """
    stage = {"starting": "", "running": "READY=1", "stopping": "STOPPING=1"}[health.stage]
    status, lines = _status(health), []
    if stage not in {"", told.stage}:
        lines.append(stage)
    if status != told.status:
        lines.append(f"STATUS={status}")
    alive_until = told.alive_until
    if limit_s and now >= alive_until:
        alive_until = now + limit_s / TOLD_PER_LIMIT
        if not health.live:
            _log.error("watchdog_not_told", parts=[fault.part for fault in health.dying])
        elif health.stage == "starting":
            lines.append(f"EXTEND_TIMEOUT_USEC={int(limit_s * 1_000_000)}")
        else:
            lines.append("WATCHDOG=1")
    return lines, Told(stage or told.stage, status, alive_until)


def _status(health: Health) -> str:
    """One line without secrets; nothing in it counts up, or each look would tell it anew."""
    faults = (*health.dying, *health.waiting)
    parts = ", ".join(dict.fromkeys(fault.part for fault in faults))
    if health.stage == "starting":
        text = f"starting: {faults[0].reason}" if faults else "starting"
    elif not health.live:
        text = f"not live: {parts}"
    elif not health.ready:
        text = f"{health.stage}, not ready: {parts}"
    else:
        text = f"{health.stage}, stream {health.stream}"
    return " ".join(scrub(text).split())[:STATUS_MAX]
