"""Plays seeds: one to be looked at, or thousands to be counted.

PYTHONPATH=tests python -m simulation --seed 93            its history, and what was broken
PYTHONPATH=tests python -m simulation --seeds 10000        all cores, a table; exit code 1 if a promise was broken
With --apex the shipped Apex routes too in every one of them, else in one of twelve. With --requests the routers of all
listen to platform events, else those of one of eight.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from functools import partial

from lead_router import log
from simulation.play import played
from simulation.promises import broken
from simulation.single import Played, outcome_of

CHUNK = 8


def main() -> int:
    asked = _parser().parse_args()
    log.configure("critical")
    if asked.seed is not None:
        return _show(asked.seed, **_of_all(asked))
    began = time.perf_counter()
    results: list[Played] = []
    with suppress(KeyboardInterrupt):  # a night may be cut short: what was played is told all the same
        for one_more in _all(range(asked.first, asked.first + asked.seeds), asked.processes, **_of_all(asked)):
            results.append(one_more)
            if one_more.broken and not asked.json:
                sys.stdout.write(f"{one_more.broken[0]}\n  {replay(one_more.seed, **_of_all(asked))}\n")
                sys.stdout.flush()
            if sum(bool(one.broken) for one in results) >= asked.enough > 0:
                break
    took_s = time.perf_counter() - began
    if asked.json:
        sys.stdout.write(json.dumps({one.seed: one.broken for one in results}) + "\n")
    else:
        _report(results, took_s)
    return 1 if any(one.broken for one in results) else 0


def replay(seed: int, **of_all: bool | None) -> str:
    """The one command that plays a seed again."""
    words = "".join(f" --{name}" for name, asked in of_all.items() if asked)
    return f"PYTHONPATH=tests .venv/bin/python -m simulation --seed {seed}{words}"


def _of_all(asked: argparse.Namespace) -> dict[str, bool | None]:
    """What is so in every play; None where its seed says."""
    return {"apex": asked.apex, "requests": asked.requests}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m simulation", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, help="play this one and print its history")
    parser.add_argument("--seeds", type=int, default=300, help="how many to play (%(default)s)")
    parser.add_argument("--first", type=int, default=0, help="the first of them (%(default)s)")
    parser.add_argument(
        "--processes", type=int, default=os.cpu_count() or 1, help="how many play (%(default)s, the cores)"
    )
    parser.add_argument("--apex", action="store_true", default=None, help="the shipped Apex routes too in all of them")
    parser.add_argument(
        "--requests", action="store_true", default=None, help="all of them hear platform events instead of changes"
    )
    parser.add_argument("--enough", type=int, default=0, help="end after so many red seeds (0: never)")
    parser.add_argument(
        "--json", action="store_true", help="print the broken promises by seed played, and nothing else"
    )
    return parser


def _all(seeds: range, processes: int, **of_all: bool | None) -> Iterator[Played]:
    one = partial(outcome_of, **of_all)
    if processes == 1:
        yield from map(one, seeds)
        return
    with multiprocessing.get_context("spawn").Pool(processes, log.configure, ("critical",)) as pool:
        yield from pool.imap_unordered(one, seeds, CHUNK)


def _show(seed: int, **of_all: bool | None) -> int:
    with played(seed, **of_all) as play:
        found = broken(play)
        for line in play.trace:
            sys.stdout.write(line + "\n")
        sys.stdout.write(f"fingerprint {play.fingerprint}\n")
        for what in found:
            sys.stdout.write(f"BROKEN {what}\n")
    return 1 if found else 0


def _report(results: list[Played], took_s: float) -> None:
    counts: Counter[str] = sum((one.counts for one in results), Counter())
    red = [one for one in results if one.broken]
    write = sys.stdout.write
    write(f"\n{len(results)} seeds in {took_s:.1f} s, {len(results) / took_s:.1f} a second\n\n")
    for name, count in sorted(counts.items()):
        write(f"{name:40}{count:10}\n")
    write(f"\nbroken promises: {len(red)} seeds\n")
    for name, seeds in Counter(what.partition(":")[0] for one in red for what in set(one.broken)).most_common():
        write(f"  {name}: {seeds}\n")


if __name__ == "__main__":
    sys.exit(main())
