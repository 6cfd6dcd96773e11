"""What a process and its job database take, sample by sample, and whether that stays as it is."""

from __future__ import annotations

import re
import sqlite3
import statistics
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

import psycopg

from lead_router.jobs.sqlite import LOG_BYTES_MAX

Sizes: TypeAlias = tuple[int, int, dict[str, int]]
"""Bytes of the database, bytes of its log, and the jobs by status."""

MIB = 1024 * 1024
PACE_S = 12.0
EARLY, LATE = (0.10, 0.20), (0.90, 1.0)
TABLES = """
    SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
"""
BY_STATUS = "SELECT status, count(*) FROM routing_job GROUP BY status"


@dataclass(frozen=True, slots=True)
class Sample:
    """One look: `part` of all events are told of; sizes are in bytes."""

    at_s: float
    events: int
    part: float
    rss: int
    files: int
    threads: int
    database: int
    log: int
    rows: dict[str, int] = field(default_factory=dict)
    pace: float = 0.0
    """Thousands of events in PACE_S seconds, by the seconds before."""


@dataclass(frozen=True, slots=True)
class Bound:
    """A measure may grow by `share` of what it was and by `more` besides, and in any case up to `least`.

    `unit` is what a person reads it in.
    """

    name: str
    told: str
    of: Callable[[Sample], float]
    share: float
    more: float
    unit: float = 1
    least: float = 0


@dataclass(frozen=True, slots=True)
class Judged:
    """What a measure was early in the run and late, each the median of its samples, and at most."""

    bound: Bound
    early: float
    late: float

    @property
    def most(self) -> float:
        """What it may be late."""
        return max(self.early * (1 + self.bound.share) + self.bound.more, self.bound.least)

    @property
    def flat(self) -> bool:
        """Whether it kept within."""
        return self.late <= self.most


def _per_pace(seen: Sample) -> float:
    """Finished jobs by the pace at which they come: a faster machine leaves more of the same age."""
    return seen.rows.get("done", 0) / seen.pace if seen.pace else 0.0


BOUNDS = (
    Bound("rss", "memory of the process (RSS), MiB", lambda seen: seen.rss, share=0.10, more=0, unit=MIB),
    Bound("files", "open files", lambda seen: seen.files, share=0, more=2),
    Bound("threads", "threads", lambda seen: seen.threads, share=0, more=0),
    Bound("database", "job database, MiB", lambda seen: seen.database, share=0.25, more=MIB, unit=MIB),
    Bound("log", "its write-ahead log, MiB", lambda seen: seen.log, share=0.25, more=0, unit=MIB, least=LOG_BYTES_MAX),
    Bound("jobs", "finished jobs per 1,000 events in 12 s", _per_pace, share=0.25, more=5),
)


def judged(samples: Sequence[Sample], bounds: Sequence[Bound] = BOUNDS) -> list[Judged]:
    """Each measure between 10 and 20 % of the events, and over the last tenth. Raises ValueError without samples."""

    def middle(part: tuple[float, float], of: Callable[[Sample], float]) -> float:
        seen = [of(sample) for sample in samples if part[0] <= sample.part <= part[1]]
        if not seen:
            raise ValueError(f"no sample between {part[0]:.0%} and {part[1]:.0%}")
        return float(statistics.median(seen))

    return [Judged(bound, middle(EARLY, bound.of), middle(LATE, bound.of)) for bound in bounds]


def paced(samples: Sequence[Sample]) -> list[Sample]:
    """The same with their pace."""
    found = []
    for place, one in enumerate(samples):
        before = [other for other in samples[:place] if other.at_s <= one.at_s - PACE_S] or samples[:1]
        span_s = one.at_s - before[-1].at_s
        pace = (one.events - before[-1].events) / 1_000 * PACE_S / span_s if span_s else 0.0
        found.append(replace(one, pace=pace))
    return found


def memory(pid: int) -> tuple[int, int, int]:
    """Bytes in memory, open files and threads of a process, as Linux tells them."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    found = dict(re.findall(r"^(VmRSS|Threads):\s+(\d+)", status, re.MULTILINE))
    return int(found["VmRSS"]) * 1024, len(list(Path(f"/proc/{pid}/fd").iterdir())), int(found["Threads"])


def sqlite_size(file: Path) -> Sizes:
    """Bytes of the database file and of its write-ahead log, and the jobs by status."""
    wal = file.with_name(f"{file.name}-wal")
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True, timeout=30)) as opened:
        rows = dict(opened.execute(BY_STATUS).fetchall())
    return file.stat().st_size, wal.stat().st_size if wal.exists() else 0, rows


def postgres_size(url: str) -> Sizes:
    """Bytes of all tables with their indexes, none of a log, and the jobs by status."""
    with psycopg.connect(url, autocommit=True) as opened:
        size = opened.execute(TABLES).fetchone()
        rows = dict(opened.execute(BY_STATUS).fetchall())
    return int(size[0]) if size else 0, 0, rows
