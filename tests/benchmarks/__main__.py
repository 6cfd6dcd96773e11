"""`make bench`: all parts that print figures beside a baseline, or those that are named; each in its default size here.

Takes minutes; give it the machine for itself. Each part is a module of its own, with more options.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks import core, decay, end_to_end, plan, queues, race, stock, year


@dataclass(frozen=True, slots=True)
class Part:
    """One module's `main`, and the words by which it takes a minute or two.

    `records` where it knows `--record`; `usual` where it runs if none is named.
    """

    main: Callable[[Sequence[str]], int]
    words: tuple[str, ...] = ()
    records: bool = True
    usual: bool = True


PARTS = {
    "end_to_end": Part(end_to_end.main),
    "core": Part(core.main),
    "race": Part(race.main, ("--within-s", "3")),
    "decay": Part(decay.main),
    "queues": Part(queues.main, ("--jobs", "2000", "--runs", "2")),
    "stock": Part(stock.main, ("--turns", "9")),
    "plan": Part(plan.main, ("--leads", "2000", "--runs", "1"), records=False, usual=False),
    "year": Part(year.main, ("--days", "60", "--leads", "20000"), records=False, usual=False),
}


USUAL = [name for name, part in PARTS.items() if part.usual]
ALL_S = 600.0
"""Seconds that all usual parts together may take on two idle cores."""


def main(words: Sequence[str] | None = None) -> int:
    """Run the parts one after the other; 1 if one of them broke a promise or ended before its time."""
    parser = argparse.ArgumentParser("make bench", description="Figures beside a baseline, in one run.")
    parser.add_argument(
        "parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; {', '.join(USUAL)} if none is named"
    )
    parser.add_argument("--record", action="store_true", help="write sections of REPORT.md and named figures anew")
    options = parser.parse_args(words)
    if strange := sorted(set(options.parts) - PARTS.keys()):
        parser.error(f"no part is called {', '.join(strange)}")
    start = time.perf_counter()
    codes = [_run(name, record=options.record) for name in options.parts or USUAL]
    took = time.perf_counter() - start
    sys.stdout.write(f"all: {took:,.0f} s{f', more than {ALL_S:.0f}: is the machine busy?' if took > ALL_S else ''}\n")
    return max(codes)


def _run(name: str, *, record: bool) -> int:
    part = PARTS[name]
    sys.stdout.write(f"\n== {name} ==\n\n")
    sys.stdout.flush()
    start = time.perf_counter()
    try:
        code = part.main([*part.words, *(["--record"] if record and part.records else [])])
    except Exception:  # noqa: BLE001 - the other parts are run all the same
        sys.stderr.write(traceback.format_exc())
        code = 1
    sys.stdout.write(f"{name}: {time.perf_counter() - start:,.0f} s{', FAILED' if code else ''}\n")
    sys.stdout.flush()
    return code


if __name__ == "__main__":
    sys.exit(main())
