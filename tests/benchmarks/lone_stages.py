"""Where the milliseconds of lone leads went, stage by stage, from what the router noted while it routed them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from benchmarks.report import table

if TYPE_CHECKING:
    from benchmarks.figures import Lone

READ, WRITE = "read, beyond a bare one", "write until the org's commit, beyond a bare one"
STAGES = (
    ("heard", "from the org's commit to the router"),
    ("recording", "intake: does the lead need a job?"),
    ("recorded", "job written and synced to disk"),
    ("claiming", "worker woken"),
    ("claimed", "claim written"),
    ("reading", "looking for older and waiting leads"),
    ("read", READ),
    ("writing", "decision"),
    ("owned", WRITE),
)
"""The word of each stage's end, and what the stage is. `owned` is told by the org, the others by the router."""
AFTER = "after that: answer taken in, job ended"

TRIED = """\
*What was tried for a lone lead*, at 0 ms, by turns, in runs of 40 to 120 leads on two cores and a disk that
were busy otherwise, org and router before all others; p99 in ms, five runs of the former way against fifteen
of the later ones:

- *Memory that is there for good is not looked through any more* (`gc.freeze` when routing begins): kept. Some
  slow reads were such pauses: the read took 27 (12 to 31), then 14 (11 to 38).
- *Upkeep is not woken by an event and looks before it writes; a kept lease is not synced*: kept. The claim could meet
  upkeep's transaction, and SQLite waits in whole milliseconds: 11 (6 to 15), then 3 (2 to 8).
- *The write-ahead log is put into the file when a job ends*, not by whichever transaction finds 1,000 pages
  full (a lone lead writes 27): kept. The writing of the job took 16 (6 to 28), then 6 (3 to 26, and 224 once).
- *The environment is asked for proxies once for each host*: kept. A read by the client alone took 1.69 times a
  bare one, then 1.59.
- *The next events asked for 5 or 10 ms later*, so that the worker has the interpreter for itself: not kept. The
  claim's p50 came from 1.1 to 0.6, and the read took that much longer.
- *The log line before the worker is woken*: not kept. What the claim won the waking lost.
- *The simulated org's memory frozen too*: not kept. No difference was seen.
- *Threads of the simulated org hand over after 0.5 ms instead of 5*, as the one that answers a read and the one that
  takes the next long poll want its interpreter at once: kept. The read's p50 came from 5.9 to 4.7, its p99 from 28 to
  11 (100 leads each, after all the rest).

In those runs p99 of the whole came from 54 (48 to 72) to 40 (27 to 58, and 234 once) before the last of these; p50
stayed. The first lead of a run is slow and is not counted.{now}

*What bounds it*: one sync to disk, without which an event could be acknowledged and lost; the event's way
through the org and its long poll; two requests by requests and simple-salesforce, each in Python on both sides,
while three processes share two cores. The slowest leads met a slow sync, which is the disk's and its other
users', or a slow request, which is the org's and the scheduler's as much as the router's."""


def tried(several: Sequence[Lone]) -> str:
    """The same, and beside the figures by hand those of the run that is told of."""
    if not several:
        return TRIED.format(now="")
    whole, beyond = (
        " and ".join(f"{getattr(one, figure)(99):,.0f} at {one.latency_ms} ms" for one in several)
        for figure in ("wait_ms", "overhead_ms")
    )
    return TRIED.format(now=f" In the run of the tables above\np99 was {whole}, and beyond two bare trips {beyond}.")


def staged(
    created: Mapping[str, float],
    owned: Mapping[str, float],
    marks: Sequence[tuple[str, float]],
    bare_ms: tuple[float, float],
) -> dict[str, tuple[float, ...]]:
    """Milliseconds of each stage, lead by lead; the read and the write without what a bare one of them took.

    All times are milliseconds since 1970; each lead came when the one before had its owner.
    """
    rows = [_stages(at, owned[lead_id], marks) for lead_id, at in created.items()]
    less = {READ: bare_ms[0], WRITE: bare_ms[1]}
    return {name: tuple(row[name] - less.get(name, 0.0) for row in rows) for name in (*(n for _, n in STAGES), AFTER)}


def stage_table(several: Sequence[Lone]) -> str:
    """A row for each stage, with p50 and p99 at each latency."""
    seen = [one for one in several if one.stages]
    heads = [head for one in seen for head in (f"{one.latency_ms} ms: p50", "p99")]
    names = list(seen[0].stages) if seen else []
    rows = [[name, *(f"{one.stage_ms(name, part):,.1f}" for one in seen for part in (50, 99))] for name in names]
    return table([("stage, in ms", *heads), *map(tuple, rows)])


def _stages(at: float, owned_at: float, marks: Sequence[tuple[str, float]]) -> dict[str, float]:
    ends = dict(_ends(at, owned_at, marks))
    found, before = {}, at
    for word, name in STAGES:
        found[name], before = ends[word] - before, ends[word]
    return {**found, AFTER: ends["ended"] - owned_at}


def _ends(at: float, owned_at: float, marks: Sequence[tuple[str, float]]) -> Iterator[tuple[str, float]]:
    """The first of each word since the lead came; but what was heard last before its job was written.

    A change that the router itself made is heard too, and has no job.
    """
    recording = next(when for word, when in marks if word == "recording" and when >= at)
    yield "heard", max(when for word, when in marks if word == "heard" and when <= recording)
    yield "owned", owned_at
    for word in ("recording", "recorded", "claiming", "claimed", "reading", "read", "writing", "ended"):
        yield word, next(when for one, when in marks if one == word and when >= at)
