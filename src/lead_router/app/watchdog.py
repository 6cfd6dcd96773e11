"""The watchdog of systemd: it is told that the router lives, and ends and starts it again once that is not so.

The words and variables are those of sd_notify(3), for a unit with `WatchdogSec=` and `NotifyAccess=main`.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Iterator, Mapping

import structlog

from lead_router.loops.vitals import Vitals

_log = structlog.get_logger(__name__)

TOLD_PER_LIMIT = 3


@contextlib.contextmanager
def watched(vitals: Vitals, environment: Mapping[str, str] = os.environ) -> Iterator[None]:
    """While the block lasts, tell the watchdog three times within its limit that the router lives, as long as it does.

    Without a watchdog, or for another process than this one, nothing is done.
    """
    place, limit = environment.get("NOTIFY_SOCKET", ""), environment.get("WATCHDOG_USEC", "")
    ours = environment.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
    if not (place and limit.isdecimal() and int(limit) and ours):
        yield
        return
    ended = threading.Event()
    pause_s = int(limit) / 1_000_000 / TOLD_PER_LIMIT
    thread = threading.Thread(target=_tell, args=(vitals, place, pause_s, ended), name="watchdog", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _tell(vitals: Vitals, place: str, pause_s: float, ended: threading.Event) -> None:
    address = f"\0{place[1:]}" if place.startswith("@") else place
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as line:
        line.settimeout(0)
        while True:
            health = vitals.health()
            if health.live:
                with contextlib.suppress(OSError):  # it is told again before its limit
                    line.sendto(b"WATCHDOG=1", address)
            else:
                _log.error("watchdog_not_told", parts=[fault.part for fault in health.dying])
            if ended.wait(pause_s):
                return
