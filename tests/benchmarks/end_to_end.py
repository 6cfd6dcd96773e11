"""`python -m benchmarks.end_to_end` (with tests on the path): from a lead's creation to its owner, and what that takes.

Lone leads one after the other, and bursts by size, groups and latency of the org's API; beside them the loop that one
writes first with simple-salesforce, alone and in threads, which are reckoned from fewer leads.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from benchmarks import end_to_end_report as page
from benchmarks.burst import by_loop, by_router, lone
from benchmarks.figures import Burst, Lone, Play, Seen, floor_calls, middle
from benchmarks.lone_stages import stage_table
from benchmarks.named import Named, put, told
from benchmarks.report import HERE, machine, rewritten

LATENCIES_MS = (0, 50, 150)
SIZES = (10, 100, 1_000, 10_000)
GROUPS = (1, 10, 50)
MANY = Play(10_000, 10, 150)
"""The burst that the named figures are of."""
USUAL = (
    *(Play(1_000, 10, latency_ms) for latency_ms in LATENCIES_MS),
    *(Play(1_000, groups, 150) for groups in GROUPS if groups != MANY.groups),
    *(Play(leads, 10, 150) for leads in SIZES if leads < 1_000),
    MANY,
)
EVERY = tuple(Play(leads, groups, ms) for ms in LATENCIES_MS for groups in GROUPS for leads in SIZES)
QUICK = (Play(100, 10, 0), Play(400, 10, 50))
LONE = {0: 200, 50: 50, 150: 50}
"""Most where a lead takes least: the router's own milliseconds are the same at each latency."""
LOOP_S = 2.5  # about as long as a loop is let run
LOOP_CALL_S = 0.004  # what a call costs it besides the latency
THREADS = (10, 25, 50)  # each with a connection of its own
KEPT = 0.05  # a rotation that loses a greater part of its turns is none

T = TypeVar("T", Burst, Lone)


def main(words: Sequence[str] | None = None) -> int:
    """Print the tables and the named figures."""
    options = _options(words)
    started = machine()
    plays = QUICK if options.quick else EVERY if options.full else USUAL
    few = dict.fromkeys((0, 50), 10) if options.quick else {ms: options.lone or many for ms, many in LONE.items()}
    seen = measured(plays, few, options.runs)
    figures = named(seen)
    lines = (
        page.lone_table(seen.lone),
        "",
        stage_table(seen.lone),
        "",
        page.burst_table(seen),
        "",
        told(figures),
        started,
    )
    sys.stdout.write("\n".join(lines) + "\n")
    if options.record:
        document = HERE / "REPORT.md"
        section = page.section(seen, started)
        document.write_text(rewritten(document.read_text("utf-8"), section), encoding="utf-8")
        put(figures)
        if MANY in seen.router:
            (HERE / page.CHART).write_text(page.chart(seen, MANY), encoding="utf-8")
    return 0


def measured(plays: Sequence[Play], few: dict[int, int], runs: int) -> Seen:
    """The loop before the bursts of each latency, all of it `runs` times; each on an org of its own."""
    alone = tuple(_said(f"lone leads at {ms} ms", lambda ms=ms, many=many: lone(many, ms)) for ms, many in few.items())
    router: dict[Play, list[Burst]] = {play: [] for play in plays}
    loop: dict[int, list[Burst]] = {play.latency_ms: [] for play in plays}
    threaded: dict[int, dict[int, list[Burst]]] = {ms: {threads: [] for threads in _threads(ms)} for ms in loop}
    for number in range(runs):
        for ms, loops in loop.items():
            loops.append(_looped(ms, 1))
            for threads, bursts in threaded[ms].items():
                bursts.append(_looped(ms, threads))
            for play in (one for one in plays if one.latency_ms == ms and (number == 0 or one != MANY)):
                router[play].append(_said(f"router: {play}", lambda play=play: by_router(play)))
    return Seen(
        alone,
        {play: tuple(bursts) for play, bursts in router.items()},
        {ms: tuple(bursts) for ms, bursts in loop.items()},
        {ms: {threads: tuple(bursts) for threads, bursts in by.items()} for ms, by in threaded.items()},
    )


def named(seen: Seen) -> dict[str, Named]:
    """The figures that were asked for, as far as what they are of was measured."""
    latencies = ", ".join(f"{one.latency_ms}" for one in seen.lone)
    floor = f"beyond two bare round trips to the same org at {latencies} ms, the worst of them"
    found = {
        "lone_lead_overhead_p50_ms": Named(_worst(one.overhead_ms(50) for one in seen.lone), "ms", "<=10", floor),
        "lone_lead_overhead_p99_ms": Named(_worst(one.overhead_ms(99) for one in seen.lone), "ms", "<=30", floor),
        "memory_at_rest_mb": Named(_worst(one.rest_mb for one in seen.lone), "MB", "<=120", "RSS after lone leads"),
    }
    if MANY not in seen.router:
        return _told_of(found)
    many, loop = middle(seen.router[MANY]), middle(seen.loop[MANY.latency_ms])
    least = f"{floor_calls(MANY.leads) * 1000 / MANY.leads:g} where every commit is full"
    found |= {
        "burst_10000_vs_loop": Named(many.rate / loop.rate, "times", ">=40", f"the loop, of {loop.leads} leads"),
        "burst_calls_per_1000": Named(many.calls, "calls", "<=12", least),
        "memory_in_burst_mb": Named(many.peak_mb, "MB", "<=250", "most RSS of the process"),
    }
    for name, lost_max in (("burst_10000_vs_threaded", KEPT), ("burst_10000_vs_threaded_losing_turns", 1.0)):
        threads, one = seen.fastest(MANY.latency_ms, lost_max)
        which = "the fastest that keep the rotation" if lost_max == KEPT else f"the fastest of up to {THREADS[-1]}"
        told = f"{threads} threads, {which}; {one.lost} of {one.leads} leads lost their turn"
        found[name] = Named(many.rate / one.rate, "times", ">=5", told)
    return _told_of(found)


def _told_of(found: dict[str, Named]) -> dict[str, Named]:
    """Without memory where the system does not tell it: 0 MB would reach every target."""
    return {name: one for name, one in found.items() if one.unit != "MB" or one.value}


def _threads(latency_ms: int) -> tuple[int, ...]:
    """All for the burst that is named, fewest and most at other latencies; more help only where one waits."""
    if latency_ms == MANY.latency_ms:
        return THREADS
    return (THREADS[0], THREADS[-1]) if latency_ms else THREADS[:1]


def _looped(latency_ms: int, threads: int) -> Burst:
    each_s = 3 * (latency_ms / 1000 + LOOP_CALL_S)
    leads = max(10, round(LOOP_S * (threads if latency_ms else 1) / each_s))
    play = Play(min(leads, 400), MANY.groups, latency_ms)
    return _said(f"loop in {threads} threads: {play}", lambda: by_loop(play, threads))


def _worst(figures: Iterable[float]) -> float:
    return max(figures)


def _said(what: str, run: Callable[[], T]) -> T:
    found = run()
    sys.stderr.write(f"{what}: {page.brief(found)}\n")
    return found


def _options(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks.end_to_end", description="From creation to owner.")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="small bursts and few lone leads, in half a minute")
    size.add_argument("--full", action="store_true", help="every size in every number of groups at every latency")
    parser.add_argument("--runs", type=int, default=1, help="of all but the largest burst; medians are told")
    parser.add_argument("--lone", type=int, metavar="LEADS", help="lone leads at each latency")
    parser.add_argument("--record", action="store_true", help="write its section of REPORT.md, its chart and figures")
    options = parser.parse_args(words)
    if options.quick and options.record:
        parser.error("a quick run is nothing to record")
    return options


if __name__ == "__main__":
    sys.exit(main())
