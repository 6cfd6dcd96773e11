"""What no queue can be faster than: a transaction of one row, without an index, synced to the same disk."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg

from benchmarks.queues_ways import Work

SHARED, EMBEDDED = "one bare row, PostgreSQL", "one bare row, SQLite"
FLOORS = (SHARED, EMBEDDED)
_TABLE = "CREATE TABLE IF NOT EXISTS bare (content TEXT NOT NULL)"


def bare(url: str, jobs: Sequence[Work]) -> float:
    """Seconds to write the content of the jobs into a table, each in a transaction; the first is not counted."""
    texts = [json.dumps(job.content) for job in jobs]
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(Path(url.removeprefix("sqlite:///")), isolation_level=None)) as file:
            file.execute("PRAGMA journal_mode = WAL")
            file.execute("PRAGMA synchronous = FULL")
            return _written(file, "?", texts)
    with closing(psycopg.connect(url, autocommit=True, prepare_threshold=0)) as session:
        return _written(session, "%s", texts)


def told(floors: Mapping[str, float], others: Mapping[str, float], target: float) -> str:
    """What the floors (rows per second) leave for a queue beside the others (jobs per second), as a paragraph.

    A queue that did nothing beside its commit would be as many times another one as the floor is.
    """
    if SHARED not in floors or not others:
        return ""
    shares = ", ".join(f"{rate / floors[SHARED]:.0%} of a job of {name}" for name, rate in others.items())
    return "\n".join(
        [
            f"*The floor.* A transaction of one bare row, handed in in the same turns: that commit alone is {shares}.",
            *(_most(name, rate, others, target) for name, rate in floors.items()),
        ]
    )


def _most(name: str, floor: float, others: Mapping[str, float], target: float) -> str:
    ratios = {other: floor / rate for other, rate in others.items()}
    told = " and ".join(f"{ratio:.2f} times {other}" for other, ratio in ratios.items())
    beyond = " and ".join(other for other, ratio in ratios.items() if ratio < target)
    verdict = f": {target:g} times {beyond} was out of reach of any queue there" if beyond else ""
    return f"With {name}, {floor:,.0f} a second: a queue that did nothing else would be {told}{verdict}."


def _written(place: Any, mark: str, texts: Sequence[str]) -> float:
    place.execute(_TABLE)
    start = 0.0
    for number, text in enumerate(texts):
        start = time.perf_counter() if number == 1 else start
        place.execute(f"INSERT INTO bare (content) VALUES ({mark})", (text,))
    return time.perf_counter() - start
