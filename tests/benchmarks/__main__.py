"""`make bench`: all parts that print figures beside a baseline, or those that are named; each in its default size here.

Takes minutes; give it the machine for itself. Each part is a module of its own, with more options.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks import core, decay, end_to_end, plan, queues, race, stock, year
from benchmarks.named import TOLD, Named, told


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
    "race": Part(race.main, ("--within-s", "20")),
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
    TOLD.clear()
    ran = [_run(name, record=options.record) for name in options.parts or USUAL]
    sys.stdout.write(f"\n{_ending(ran, TOLD)}\n")
    return max(one.code for one in ran)


@dataclass(frozen=True, slots=True)
class Ran:
    """How a part ended: 0, or what else it answered, after so many seconds."""

    name: str
    code: int
    seconds: float


def _ending(ran: Sequence[Ran], figures: Mapping[str, Named]) -> str:
    """Each part's seconds and all together, then the targets that were missed."""
    lines = [f"{one.name}: {one.seconds:,.0f} s{', FAILED' if one.code else ''}" for one in ran]
    took = sum(one.seconds for one in ran)
    lines.append(f"all: {took:,.0f} s{f', more than {ALL_S:.0f}: is the machine busy?' if took > ALL_S else ''}")
    missed = {name: one for name, one in figures.items() if not one.reached}
    if not figures:
        return "\n".join(lines)
    lines.append(f"targets: {len(figures) - len(missed)} of {len(figures)} reached{', missed:' if missed else ''}")
    return "\n".join([*lines, *told(missed).splitlines()])


def _run(name: str, *, record: bool) -> Ran:
    part = PARTS[name]
    sys.stdout.write(f"\n== {name} ==\n\n")
    sys.stdout.flush()
    start = time.perf_counter()
    try:
        code = part.main([*part.words, *(["--record"] if record and part.records else [])])
    except Exception:  # noqa: BLE001 - the other parts are run all the same
        sys.stderr.write(traceback.format_exc())
        code = 1
    ran = Ran(name, code, time.perf_counter() - start)
    sys.stdout.write(f"{name}: {ran.seconds:,.0f} s{', FAILED' if code else ''}\n")
    sys.stdout.flush()
    return ran


if __name__ == "__main__":
    sys.exit(main())
