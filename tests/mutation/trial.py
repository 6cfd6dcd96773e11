"""Mutants put on trial: each against the tests that reach its line, two at a time."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from mutation.suite import ENDLESS, PATIENCE_S, Coverage, Sources, TooLong, killer, limited
from org_simulator.apex.faults import Unsupported
from org_simulator.apex.program import Program

INVALID = "does not run here"

Play = Callable[[Program], None]
"""A story that no Apex test can tell; AssertionError if a promise was not kept."""

PLAY_S = 60.0


@dataclass(frozen=True, slots=True)
class Mutant:
    """One edit: `said` in words, `text` the line before it, `made` the class after it. `named`: made by hand."""

    file: str
    line: int
    reached: int
    said: str
    text: str
    made: Any
    named: bool = False

    @property
    def cls(self) -> str:
        """The class that is edited."""
        return self.file.rpartition("/")[2].rpartition(".")[0]


@dataclass(frozen=True, slots=True)
class Verdict:
    """`killer` is the test that failed; empty: it survived. `valid` is false for what does not compile or run here."""

    mutant: Mutant
    killer: str
    valid: bool = True


@dataclass(frozen=True, slots=True)
class Court:
    """What all trials share."""

    sources: Sources
    coverage: Coverage
    plays: dict[str, Play]
    patience_s: float = PATIENCE_S

    def tests_for(self, mutant: Mutant) -> list[str]:
        """Those that reach its line; for one made by hand, all that reach its class, the class's own first."""
        if not mutant.named:
            return self.coverage.tests_of(mutant.file, mutant.reached)
        lines = sorted(line for file, line in self.coverage.by_line if file == mutant.file)
        found = {name for line in lines for name in self.coverage.by_line[mutant.file, line]}
        own = f"{mutant.cls}Test."
        return sorted(found, key=lambda name: (not name.startswith(own), self.coverage.seconds[name]))

    def judge(self, mutant: Mutant) -> Verdict:
        """Asks test after test until one fails, and of what lives then the plays."""
        try:
            program = self.sources.with_unit(mutant.file, mutant.made)
            asked = self.tests_for(mutant)
            found = killer(program, self.sources.schema, self.coverage, asked, self.patience_s)
            return Verdict(mutant, found or self._played(program))
        except Unsupported as fault:
            return Verdict(mutant, f"{INVALID}: {fault}", valid=False)

    def _played(self, program: Program) -> str:
        for name, play in self.plays.items():
            try:
                with limited(PLAY_S):
                    play(program)
            except TooLong:
                return f"{name} {ENDLESS}"
            except Exception:  # noqa: BLE001 - whatever it fails with, it fails
                return name
        return ""


_COURT: list[Court] = []
"""Handed to the workers by fork, as programs are too entangled to be sent."""


def _judged(mutant: Mutant) -> Verdict:
    return _COURT[0].judge(mutant)


def verdicts(court: Court, mutants: Sequence[Mutant], workers: int) -> Iterator[Verdict]:
    """As they are found, in the order of the mutants."""
    if workers <= 1:
        yield from map(court.judge, mutants)
        return
    _COURT[:] = [court]
    with multiprocessing.get_context("fork").Pool(workers) as pool:
        yield from pool.imap(_judged, mutants)
