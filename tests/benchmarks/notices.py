"""What notices cost routing, and how fast they go out: `python -m benchmarks.notices [--leads N]`.

One worker routes leads with and without an outbox, then with a loop that sends beside it, each on a database of its
own; the ratios are of the worker's own time. Then the outbox is drained to a real endpoint by apprise, at no pace.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import threading
import time
from functools import partial
from pathlib import Path

from lead_router import log
from lead_router.hops.apprised import Apprised
from support.endpoint import endpoint
from support.notice_rig import Mailbox, NoticeRig, to_team

ROUNDS = 3
BATCH = 200


def main() -> None:
    """Print the table."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--leads", type=int, default=10_000)
    leads = words.parse_args().leads
    ways = {
        "nobody is told": partial(_routed, leads, told=False),
        "an outbox": partial(_routed, leads, told=True),
        "with a loop that sends, one a second": partial(_routed, leads, told=True, pace_s=1.0),
        "with a loop that sends, at no pace": partial(_routed, leads, told=True, pace_s=0.0),
    }
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    with log.quiet():
        for _ in range(ROUNDS):
            for name, way in ways.items():
                found[name].append(way())
        letters = _sent(min(leads, 1_000))
    base = [statistics.median(column) for column in zip(*found["nobody is told"], strict=True)]
    for name, took in found.items():
        seconds, busy = (statistics.median(column) for column in zip(*took, strict=True))
        _tell(
            f"{name:<37} {leads / seconds:7.0f} leads/s  {seconds / base[0]:5.2f}x"
            f"   of the worker's own thread {busy:6.2f} s  {busy / base[1]:5.2f}x"
        )
    _tell(f"{'sent to an endpoint':<37} {letters:7.0f} letters/s")


def _tell(line: str) -> None:
    sys.stdout.write(line + "\n")


def _routed(leads: int, *, told: bool, pace_s: float | None = None) -> tuple[float, float]:
    with tempfile.TemporaryDirectory() as folder:
        options = {"channels": to_team} if told else {}
        rig = NoticeRig(Path(folder), **options)
        for start in range(0, leads, BATCH):
            rig.leads(min(BATCH, leads - start))
        ended = threading.Event()
        loop = rig.post(Mailbox(), pace_s=pace_s or 0.0)

        def serve() -> None:
            while not ended.is_set():
                if not loop.step():
                    ended.wait(0.01)

        thread = threading.Thread(target=serve, daemon=True)
        if pace_s is not None:
            thread.start()
        began, busy = time.perf_counter(), time.thread_time()
        rig.drain(steps=leads)
        took = time.perf_counter() - began, time.thread_time() - busy
        ended.set()
        if pace_s is not None:
            thread.join()
        rig.close()
        return took


def _sent(letters: int) -> float:
    with tempfile.TemporaryDirectory() as folder, endpoint() as outside:
        rig = NoticeRig(Path(folder), channels=to_team)
        rig.leads(letters)
        rig.drain(steps=letters)
        messenger = Apprised("team", outside.url("hook"), deadline_s=5.0)
        loop = rig.post(messenger)  # type: ignore[arg-type]
        began = time.perf_counter()
        rig.steps(loop, most=letters + 1)
        took = time.perf_counter() - began
        assert len(outside.got) == letters
        rig.close()
        return letters / took


if __name__ == "__main__":
    main()
