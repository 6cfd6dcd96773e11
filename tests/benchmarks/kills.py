"""`python -m benchmarks.kills` (with tests on the path): a router is killed a hundred times while leads arrive.

`lead-router run` on each engine in turn, against a simulated org on loopback, all processes; by seed it is killed while
it starts, in the middle of a commit, anywhere at work, told to end, and killed while it drains, and started again. What
became of the leads is read from the org.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.kills_judge import Judged, judged, table
from benchmarks.kills_stream import Stream
from benchmarks.report import machine
from support import company
from support.cable import Cable, cabled
from support.postgres import serving
from support.router import Router, environment, until
from support.third_program import Form
from support.verdict import all_owned

HERE = Path(__file__).parent
SEED = 20
KILLS, LEADS = 100, 10_000
ENGINES = ("sqlite", "postgresql")
START_S = SETTLE_S = 120.0
COMMIT_WAIT_S = 30.0
COMMIT_S = 0.03  # longest wait from the first byte of a commit to the kill
COMMITS_LEFT = 8  # at most so many commits go by before one is struck
WORK_S = 2.0
DRAIN_S = 0.3
LAST_WORDS = 8_000  # characters

STARTING, COMMITTING, WORKING = "starting", "in a commit", "at work"
TOLD, DRAINING = "SIGTERM", "draining"
MOMENTS = {STARTING: 25, COMMITTING: 35, WORKING: 20, TOLD: 10, DRAINING: 10}
"""Of a hundred kills, how many of which kind; all but SIGTERM are `kill -9`."""


@dataclass(frozen=True, slots=True)
class Life:
    """One life of the router; instants in seconds since 1970. `unanswered`: it died with a commit under way."""

    number: int
    moment: str
    started: float
    ended: float
    code: int
    unanswered: bool


def main(words: Sequence[str] | None = None) -> int:
    """Print the table and write all figures; 1 if a promise was broken."""
    options = _options(words)
    started = machine()
    seen = []
    for engine in options.engine or ENGINES:
        began = time.monotonic()
        lives, verdict = played(engine, kills=options.kills, leads=options.leads, seed=options.seed)
        took_s = round(time.monotonic() - began, 1)
        told = {"took_s": took_s, "verdict": asdict(verdict), "lives": [asdict(life) for life in lives]}
        seen.append((engine, took_s, Counter(life.moment for life in lives), verdict, told))
    figures = {"machine": started, "seed": options.seed, "engines": {engine: told for engine, *_, told in seen}}
    options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    rows = [(engine, took_s, kinds, verdict) for engine, took_s, kinds, verdict, _ in seen]
    sys.stdout.write(f"{table(rows, list(MOMENTS))}\n{started}; all figures are in {options.json}\n")
    return max((1 for *_, verdict, _ in seen if verdict.broken), default=0)


def _options(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks.kills", description="A router is killed again and again.")
    parser.add_argument("--engine", choices=ENGINES, action="append", help="one of them; default: both")
    parser.add_argument("--kills", type=int, default=KILLS)
    parser.add_argument("--leads", type=int, default=LEADS)
    parser.add_argument("--seed", type=int, default=SEED, help="of the instants")
    parser.add_argument("--json", type=Path, default=HERE / "kills.json", metavar="FILE")
    return parser.parse_args(words)


def played(engine: str, *, kills: int, leads: int, seed: int) -> tuple[list[Life], Judged]:
    """All lives, the last of which is told to end when every lead has an owner; and what the org holds then."""
    dice = random.Random(seed)
    moments = (
        dice.sample(list(MOMENTS), counts=list(MOMENTS.values()), k=kills)
        if kills <= sum(MOMENTS.values())
        else dice.choices(list(MOMENTS), MOMENTS.values(), k=kills)
    )
    with (
        cabled(scenario=company.scenario()) as wired,
        _database(engine) as database,
        tempfile.TemporaryDirectory(prefix="lead-router-kills-") as folder,
    ):
        router = Router(Path(folder), environment(wired.far, database) | {"PYTHONFAULTHANDLER": "1"})
        lives: list[Life] = []
        form = Form(wired.org)
        stream = Stream(form, [company.lead(number) for number in range(leads)], parts=kills)
        striker = _Striker(router, wired.cable, dice)
        try:
            with stream.flowing():
                for number, moment in enumerate(moments):
                    lives.append(striker.life(number, moment))
                    stream.passed(number + 1)
                    sys.stderr.write(f"{engine} {number + 1} of {kills}: {moment}, {len(form.created)} leads\n")
            router.log = router.folder / f"life{kills}.log"
            at = time.time()
            router.start()
            router.await_event("router_started", within_s=START_S)  # told to end before that, it dies of the signal
            until(lambda: all_owned(wired.org, leads), SETTLE_S, f"{leads} leads with an owner")
            code = router.stop()
            lives.append(Life(kills, "the last", at, time.time(), code, unanswered=False))
            return lives[:-1], judged(wired.org, form.created, lives, Path(folder))
        except AssertionError:
            sys.stderr.write(_last_words(router))
            raise
        finally:
            router.kill()


def _last_words(router: Router) -> str:
    """The end of a router's log, with the stack of each of its threads."""
    if router.process is not None and router.process.poll() is None:
        router.process.send_signal(signal.SIGABRT)
        router.process.wait()
    return router.log.read_text("utf-8")[-LAST_WORDS:]


class _Striker:
    """Starts the router and ends it at the instant that is asked for."""

    def __init__(self, router: Router, cable: Cable, dice: random.Random) -> None:
        self._router = router
        self._cable = cable
        self._dice = dice
        self._start_s = 1.0  # how long it took to start, when last seen

    def life(self, number: int, moment: str) -> Life:
        """One life, to its end. Each has a log of its own."""
        router = self._router
        router.log = router.folder / f"life{number}.log"
        at = time.time()
        router.start()
        match moment:
            case "starting":
                time.sleep(self._dice.uniform(0, self._start_s))
            case "in a commit":
                for _ in range(self._dice.randint(1, COMMITS_LEFT)):
                    self._cable.await_commit(COMMIT_WAIT_S)
                time.sleep(self._dice.uniform(0, COMMIT_S))
            case _:
                router.await_event("router_started", within_s=START_S)
                self._start_s = time.time() - at
                time.sleep(self._dice.uniform(0, WORK_S))
        if moment in {TOLD, DRAINING}:
            router.terminate()
        if moment == DRAINING:
            time.sleep(self._dice.uniform(0, DRAIN_S))
        unanswered = self._cable.unanswered() > 0
        ended = time.time()
        if moment != TOLD:
            router.kill()
        return Life(number, moment, at, ended, router.wait(), unanswered)


@contextmanager
def _database(engine: str) -> Iterator[str]:
    if engine == "sqlite":
        yield "sqlite:///jobs.db"
        return
    with serving() as server:
        yield server.new_database()


if __name__ == "__main__":
    sys.exit(main())
