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
from pathlib import Path

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
    ways = {"nobody is told": _quiet, "an outbox": _written, "an outbox, and a loop that sends": _beside}
    times = {name: statistics.median(way(leads) for _ in range(ROUNDS)) for name, way in ways.items()}
    base = times["nobody is told"]
    for name, seconds in times.items():
        _tell(f"{name:<36} {seconds:7.2f} s  {leads / seconds:8.0f} leads/s  {seconds / base:5.2f}x")
    _tell(f"{'sent to an endpoint':<36} {_sent(min(leads, 1_000)):8.0f} letters/s")


def _tell(line: str) -> None:
    sys.stdout.write(line + "\n")


def _quiet(leads: int) -> float:
    return _routed(leads, told=False, beside=False)


def _written(leads: int) -> float:
    return _routed(leads, told=True, beside=False)


def _beside(leads: int) -> float:
    return _routed(leads, told=True, beside=True)


def _routed(leads: int, *, told: bool, beside: bool) -> float:
    with tempfile.TemporaryDirectory() as folder:
        options = {"channels": to_team} if told else {}
        rig = NoticeRig(Path(folder), **options)
        for start in range(0, leads, BATCH):
            rig.leads(min(BATCH, leads - start))
        ended = threading.Event()
        loop = rig.post(Mailbox())

        def serve() -> None:
            while not ended.is_set():
                if not loop.step():
                    ended.wait(0.01)

        thread = threading.Thread(target=serve, daemon=True)
        if beside:
            thread.start()
        began = time.perf_counter()
        rig.drain(steps=leads)
        took = time.perf_counter() - began
        ended.set()
        if beside:
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
