"""What the decisions cost by themselves: as a table with spread, baseline and bound, and as a section of REPORT.md."""

from __future__ import annotations

import operator
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.figures import percentile
from benchmarks.report import table as aligned

BATCH = 200
TRIPS_MS = 300.0
SHARE_MS = TRIPS_MS / BATCH
"""A lead's share of a full batch's two round trips at 150 ms: what takes less is not what says how fast leads are."""
REPEATS = 9
CHECK_MS = 1_000.0
"""What a person waits for without a thought, and how long a changed configuration may take to be in force."""
_WORDS = {">=": operator.ge, "<=": operator.le}


@dataclass(frozen=True, slots=True)
class Timed:
    """One figure, by all its samples; `beside` are those of its baseline, in the same unit, none where there is none.

    `bound` is `">=40"` or `"<=12"`, in `unit`; a `target` is one that was asked for, the others are bounds of ours.
    """

    name: str
    unit: str
    samples: Sequence[float]
    baseline: str
    beside: Sequence[float]
    bound: str
    target: bool = False

    @property
    def median(self) -> float:
        """What the figure is told by."""
        return statistics.median(self.samples)

    @property
    def within(self) -> bool:
        """Whether the median keeps to the bound."""
        return bool(_WORDS[self.bound[:2]](self.median, float(self.bound[2:])))


HEADS = ("figure", "p50", "p95", "least to most", "of", "baseline", "p50", "times it", "bound", "")


def table(several: Sequence[Timed]) -> str:
    """A row for each figure; p95 is the one that is slower than 95 of 100, of rates too."""
    return aligned([HEADS, *map(_row, several)])


def _row(one: Timed) -> tuple[str, ...]:
    ascending = sorted(one.samples)
    late = percentile(ascending, 95) if one.bound.startswith("<=") else percentile(ascending, 5)
    times = _told(one.median / statistics.median(one.beside)) if one.beside else ""
    verdict = "within" if one.within else "BEYOND"
    return (
        f"{one.name}, {one.unit}",
        _told(one.median),
        _told(late),
        f"{_told(ascending[0])} to {_told(ascending[-1])}",
        f"{len(ascending):,}",
        one.baseline,
        _told(statistics.median(one.beside)) if one.beside else "",
        times,
        f"{'target ' if one.target else ''}{one.bound}",
        verdict,
    )


def _told(value: float) -> str:
    """Three figures that count, and no fraction of what is large."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def section(several: Sequence[Timed], leads: int, machine: str) -> str:
    """Its part of REPORT.md."""
    bounds = {"share": SHARE_MS, "trips": TRIPS_MS, "check": CHECK_MS}
    return SECTION.format(machine=machine, leads=leads, table=table(several), batch=BATCH, repeats=REPEATS, **bounds)


SECTION = """# The decisions by themselves

Written by `PYTHONPATH=tests python -m benchmarks.core --record` (`make bench` runs it too).
Machine: {machine}. One thread, no org and no network; {leads:,} leads for each number of rules.

{table}

*Bounds.* The target was asked for; the other bounds are ours. A full batch of {batch} leads takes two round trips,
{trips:g} ms at 150 ms each: {share:g} ms a lead. What takes less than that does not say how fast leads are. What a
person waits for, a check of rule files or a changed configuration, may take {check:,.0f} ms.

*Rules* are of five shapes by turns: a comparison of two fields, a list, a LIKE, an OR with a comparison, a date
literal. A lead that meets none has every rule asked, and nearly each answered by its first comparison, as the rules are
told apart by it; rules whose first comparison holds for most leads cost more. Of 200 rules "a rule met" is so for 97
leads of 100, of 1,000 for 87: large sums that a rule asks for are rare. The baseline are the same conditions as Python
functions, written by hand, without the blanks, types and letter cases of SOQL; for compiling, Python's own `compile` of
those conditions.

*Turns* are of a group whose members are all on duty, with weights from 1 to 5; the baseline is a weighted rotation on
lists of numbers, without members, duty and frozen values. *Decided* is a batch of {batch} leads of other buyers, with
rules, duty, rotation and explanation, beside the turns alone. *Read* is from the bytes of the org's answer to groups,
members and leads as the decision sees them, beside `json.loads` of the same bytes. The slowest of a figure's runs met
what else the machine did; p95 of {repeats} runs is the slowest one.
"""
