"""What was measured from end to end, as tables, as a chart and as a section of REPORT.md."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from benchmarks.chart import Panel, svg
from benchmarks.figures import PER, Burst, Lone, Play, Seen, floor_calls, middle
from benchmarks.lone_stages import stage_table, tried
from benchmarks.report import MARK, table

CHART = "end-to-end.svg"
POINTS = 120

LONE_HEADS = (
    "latency",
    "leads",
    "p50 ms",
    "p99 ms",
    "two bare trips ms",
    "slowest",
    "beyond them: p50 ms",
    "p99 ms",
    "memory MB",
)
BURST_HEADS = (
    "latency",
    "groups",
    "way",
    "leads",
    "leads/s",
    "calls per 1,000",
    "p50 s",
    "p99 s",
    "all after s",
    "times",
)


def brief(one: Burst | Lone) -> str:
    """One line for who waits."""
    match one:
        case Burst():
            return f"{one.rate:,.1f} leads/s, {one.calls:,.1f} calls per 1,000"
        case Lone():
            return f"p50 {one.wait_ms(50):,.0f} ms, p99 {one.wait_ms(99):,.0f} ms"


def lone_table(several: tuple[Lone, ...]) -> str:
    """A row for each latency."""
    rows = [LONE_HEADS]
    for one in several:
        figures = (one.wait_ms(50), one.wait_ms(99), one.bare_ms, one.bare_most_ms)
        waits = [f"{value:,.0f}" for value in figures]
        beyond = [f"{one.overhead_ms(part):,.0f}" for part in (50, 99)]
        rows.append((f"{one.latency_ms} ms", f"{len(one.waits_ms)}", *waits, *beyond, f"{one.rest_mb:,.0f}"))
    return table(rows)


def burst_table(seen: Seen) -> str:
    """By latency: the router's bursts, each with its floor of calls, then the loop, then its threaded form."""
    return table([BURST_HEADS, *_bursts(seen)], names=3)


def chart(seen: Seen, play: Play) -> str:
    """How many leads of the burst had an owner after how many seconds, by each way."""
    ours = middle(seen.router[play])
    ways = {
        f"the router: all {play.leads:,} leads have an owner after {ours.span_s:,.0f} s": ours,
        **{
            f"simple-salesforce in {threads} threads, at its pace": middle(bursts)
            for threads, bursts in seen.threaded[play.latency_ms].items()
        },
        "simple-salesforce, one lead after the other, at its pace": middle(seen.loop[play.latency_ms]),
    }
    title = f"{play.leads:,} leads at once in {play.groups} groups, {play.latency_ms} ms a call: leads with an owner"
    return svg(title, "seconds", [Panel(name, list(_owned(one, play, ours.span_s))) for name, one in ways.items()])


def section(seen: Seen, machine: str) -> str:
    """The part of REPORT.md."""
    lost = [
        (ms, threads, middle(bursts))
        for ms, by_threads in seen.threaded.items()
        for threads, bursts in by_threads.items()
    ]
    told = ", ".join(f"{one.lost} of {one.leads} in {threads} threads at {ms} ms" for ms, threads, one in lost)
    tables = {"lone": lone_table(seen.lone), "stages": stage_table(seen.lone), "bursts": burst_table(seen)}
    return SECTION.format(machine=machine, tried=tried(seen.lone), chart=CHART, lost=told, **tables)


def _owned(one: Burst, play: Play, until_s: float) -> Iterator[tuple[float, float]]:
    """Points of (seconds, leads); a burst of fewer leads goes on as it went."""
    for place in range(POINTS + 1):
        at_s = until_s * place / POINTS
        known = one.span_s >= at_s or one.leads == play.leads
        yield at_s, float(bisect_right(one.owned_ms, at_s * 1000)) if known else one.rate * at_s


def _bursts(seen: Seen) -> Iterator[tuple[str, ...]]:
    for latency_ms, loops in seen.loop.items():
        loop = middle(loops)
        for play in sorted(seen.router, key=lambda play: (play.groups, play.leads)):
            if play.latency_ms == latency_ms:
                ours = middle(seen.router[play])
                calls = f"{ours.calls:,.1f} (floor {floor_calls(play.leads) * PER / play.leads:,.0f})"
                yield _row(latency_ms, f"{play.groups}", "router", ours, calls, loop)
        for threads, bursts in seen.threaded[latency_ms].items():
            one = middle(bursts)
            yield _row(latency_ms, "", f"loop in {threads} threads", one, f"{one.calls:,.0f}", loop)
        yield _row(latency_ms, "", "loop", loop, f"{loop.calls:,.0f}", loop)


def _row(latency_ms: int, groups: str, way: str, one: Burst, calls: str, loop: Burst) -> tuple[str, ...]:
    p50, p99 = (f"{one.waits_ms[max(0, -(-one.leads * part // 100) - 1)] / 1000:,.2f}" for part in (50, 99))
    took = f"{one.span_s:,.1f}" if way == "router" else f"{MARK}{PER / one.rate:,.0f} per 1,000"
    counts = (f"{one.leads:,}", f"{one.rate:,.1f}", calls)
    return (f"{latency_ms} ms", groups, way, *counts, p50, p99, took, f"{one.rate / loop.rate:,.1f}")


SECTION = """# From a lead's creation to its owner

Written by `PYTHONPATH=tests python -m benchmarks.end_to_end --record` (`make bench` runs it too).
Machine: {machine}; simulated org, router, job database and third program share it.

Lone leads, each while the router had nothing to do:

{lone}

Where that time went:

{stages}

Bursts: all leads at once.

{bursts}

![leads with an owner over the seconds]({chart})

*The router* is `lead-router run` as it comes (SQLite, one worker), subscribed over CometD before the leads come. Leads
are made by a third program: lone ones by a call each, bursts by calls of 200 in five threads, each of another buyer.

*Waits* are from the commit that created a lead to the commit that gave it its owner, by the commit times of the org's
change events (whole milliseconds); *leads/s* from the first creation to the last owner.

*Latency* is added by the simulated org to every REST request before it begins, the third program's too; not to the
stream. So a lone lead cannot have its owner before two round trips: one to read, one to write.

*Two bare trips* are these two requests as the router's client makes them, sent over an open connection by a client that
does nothing else, to the same org: the latency twice, and the simulated org's own time; the median, and the slowest of
30. What is *beyond
them* is the event's way to the router, its intake, two transactions of the job database (the job, which is synced to
disk, and its claim, which is not), building and reading the requests, the decision; and that these share the machine's
cores with the org. Of fewer than 100 leads p99 is the slowest one. The stages are noted by the router of the same run
(`lone_router.py`: a look at the clock before and after each); their medians need not add up to the median of the whole.
A lead before them is not counted: org and router read formulas and open connections for it.

{tried}

*The floor of calls* is a read and a write for each 200 leads, as many as one commit takes.

*The loop* is simple-salesforce, three calls per lead: read whose turn it is, give the lead to that rep, write the turn.
It is told the leads' ids and the reps for free, is logged in before its time begins, keeps no queue and holds none of
the router's promises. *In threads* it is the same in a pool, each thread with a connection of its own. Threads that
read the same turn of a group give their leads to the same rep, and the rotation moves on once for all of them. Leads
that did not move it on: {lost}. More threads than groups are no rotation any more, and are the faster the more
they are until the org is busy, as nothing waits for anything. One named figure is against the fastest that loses the
turns of one lead in twenty at most, the other against the fastest of all shown here.
Both are given fewer leads, all there before their time begins, and go on at that pace ({mark}), as each of their leads
costs the same.

*Memory* is the router's: resident after the lone leads, when nothing is left to do.
""".replace("{mark}", MARK)
