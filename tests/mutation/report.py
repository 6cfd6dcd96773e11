"""The verdicts as a table: by class what was tried and killed, then what survived, and where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mutation.suite import ENDLESS
from mutation.trial import Mutant, Verdict


@dataclass(frozen=True, slots=True)
class Told:
    """What the run was: mutants that could be made, those listed as equivalent, the seed, and seconds."""

    possible: int
    equivalent: int
    seed: int
    seconds: float


def alive(seen: Sequence[Verdict], *, named: bool) -> list[Mutant]:
    """The survivors among those made by hand, or among the others."""
    return [each.mutant for each in seen if each.mutant.named is named and not each.killer]


def rate(seen: Sequence[Verdict]) -> float:
    """The killed part of what runs, those made by hand left out; 1 if nothing was tried."""
    counted = [each for each in seen if each.valid and not each.mutant.named]
    return sum(bool(each.killer) for each in counted) / len(counted) if counted else 1.0


def line(mutant: Mutant) -> str:
    """`path:line: the line: the edit`."""
    return f"{mutant.file}:{mutant.line}: {mutant.text}: {mutant.said}"


def text(seen: Sequence[Verdict], told: Told) -> str:
    """The whole report."""
    drawn = [each for each in seen if not each.mutant.named]
    named = [each for each in seen if each.mutant.named]
    rows = [("class", "mutants", "killed", "survived"), *_rows([each for each in drawn if each.valid])]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    table = [
        "  ".join(part.ljust(width) if not place else part.rjust(width) for place, (part, width) in enumerate(pairs))
        for pairs in (list(zip(row, widths, strict=True)) for row in rows)
    ]
    survived = [line(mutant) for mutant in (*alive(seen, named=False), *alive(seen, named=True))]
    counted = [each for each in drawn if each.valid]
    killed = sum(bool(each.killer) for each in counted)
    summary = [
        f"{len(drawn)} of {told.possible} mutants tried, seed {told.seed}; {told.equivalent} listed as equivalent",
        f"{len(drawn) - len(counted)} do not compile or run here and do not count",
        f"{killed} of {len(counted)} killed: {100 * rate(seen):.1f} %",
        f"{sum(each.killer.endswith(ENDLESS) for each in seen)} of the kills are loops without end",
        f"{sum(bool(each.killer) for each in named)} of {len(named)} made by hand killed",
        f"{told.seconds:.0f} s",
    ]
    return "\n".join([*table, "", *survived, *([""] if survived else []), *summary])


def _rows(seen: Sequence[Verdict]) -> list[tuple[str, str, str, str]]:
    rows = []
    for cls in sorted({each.mutant.cls for each in seen}):
        own = [each for each in seen if each.mutant.cls == cls]
        killed = sum(bool(each.killer) for each in own)
        rows.append((cls, str(len(own)), str(killed), str(len(own) - killed)))
    return rows
