"""`python -m benchmarks.audited` (with tests on the path): what the audit of a large org takes, in time and memory.

The past streams by and is not kept: the peak is the audit's own. Two rows tell of each change, as in LeadHistory.
"""

from __future__ import annotations

import argparse
import random
import resource
import sys
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from benchmarks.report import machine
from lead_router.audit import Assumed, gather, judge, page
from lead_router.core.roster import Hours
from lead_router.ports.history import Extent, LeadSeen, OwnerRow, Person
from org_simulator.ids import make_id

START = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
SPAN_S = 180 * 86_400
CHANGES = (1, 1, 1, 2, 3)  # of a lead's owner, by chance
REPS = 40
QUEUE, ROUTER, SYNC = make_id("00G", 1), make_id("005", 900), make_id("005", 901)


class Large:
    """An org's past by seed, made while it is read."""

    def __init__(self, rows: int, seed: int) -> None:
        self._leads = int(rows / 2 / (sum(CHANGES) / len(CHANGES)))
        self._rows = rows
        self._seed = seed
        self._reps = [make_id("005", number) for number in range(1, REPS + 1)]

    def extent(self, _since: datetime) -> Extent:
        return Extent(self._leads, self._rows, 0)

    def people(self) -> Iterator[Person]:
        for number, rep in enumerate(self._reps, 1):
            yield Person(rep, f"Rep {number}", active=True)
        yield from (Person(QUEUE, "Queue", queue=True), Person(ROUTER, "Router"), Person(SYNC, "Sync"))

    def _steps(self) -> Iterator[tuple[int, float, list[str]]]:
        """Number, creation and owners of each lead."""
        dice = random.Random(self._seed)
        for number in range(self._leads):
            many = dice.choice(CHANGES)
            others = [dice.choice(self._reps) for _ in range(many - 1)]
            owners = [QUEUE, self._reps[number % REPS], *others]
            yield number, START + int(number * SPAN_S / self._leads), owners

    def leads(self, _since: datetime) -> Iterator[LeadSeen]:
        for number, created, owners in self._steps():
            source = ("Web", "Event", "Phone")[number % 3]
            lead = make_id("00Q", number + 1)
            yield LeadSeen(lead, created, owners[-1], SYNC, source, (number + 1, 0), converted=False)

    def owner_rows(self, _since: datetime) -> Iterator[OwnerRow]:
        for number, created, owners in self._steps():
            lead = make_id("00Q", number + 1)
            for place in range(1, len(owners)):
                at = created + 4 + 7_200 * (place - 1)
                by = ROUTER if place == 1 else owners[place]
                yield OwnerRow("", lead, at, by, f"Name of {owners[place - 1]}", f"Name of {owners[place]}")
                yield OwnerRow("", lead, at, by, owners[place - 1], owners[place])

    def hours(self) -> Hours | None:
        return None

    def zone(self) -> str:
        return "Europe/Berlin"

    def lacking(self) -> Sequence[str]:
        return ()


def main(words: Sequence[str] | None = None) -> int:
    """Print rows, seconds of each part and the peak of memory."""
    parser = argparse.ArgumentParser("python -m benchmarks.audited", description="The audit of a large org.")
    parser.add_argument("--rows", type=int, default=1_000_000, help="of LeadHistory")
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args(words)
    idle_mb = _peak_mb()
    started = time.perf_counter()
    until = datetime.fromtimestamp(START + SPAN_S, UTC)
    past = gather(Large(options.rows, options.seed), datetime.fromtimestamp(START, UTC), until, hours=None, zone="")
    gathered = time.perf_counter()
    audit = judge(past, Assumed())
    judged = time.perf_counter()
    size = len(page(audit))
    sys.stdout.write(
        f"{options.rows:,} rows of history, {audit.leads:,} leads: read in {gathered - started:.1f} s, judged in "
        f"{judged - gathered:.1f} s, page of {size / 1e3:,.0f} kB; peak {_peak_mb():,.0f} MB, {idle_mb:,.0f} MB of it "
        f"before the first row; {len(audit.findings)} findings\n{machine()}\n"
    )
    return 0


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    sys.exit(main())
