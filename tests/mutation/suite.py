"""The Apex tests as what finds mutants: which test reaches which line, and how long it takes."""

from __future__ import annotations

import signal
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from org_simulator.apex import parser as parsing
from org_simulator.apex import tree
from org_simulator.apex.automation import Automation
from org_simulator.apex.classes import ApexClass
from org_simulator.apex.faults import Unsupported
from org_simulator.apex.lower import unit
from org_simulator.apex.program import Program, link, sources
from org_simulator.apex.running import Outcome, run_one, tests_of
from org_simulator.clock import ManualClock
from org_simulator.events import change_log
from org_simulator.org import Org
from org_simulator.schema import Schema
from org_simulator.switches import Switches

START = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
PATIENCE_S = 5.0
"""What a test may take beside ten times what it took of the sound sources: a loop without end shows thereby."""

SLOWER = 10
ENDLESS = "(did not end)"


class TooLong(BaseException):
    """A test did not end in its time; no Apex and no test catches it."""


class Red(Exception):
    """A test fails of the sound sources."""


@dataclass(frozen=True, slots=True)
class Sources:
    """Classes and triggers by file name, parsed."""

    units: dict[str, tree.ClassDecl | tree.TriggerDecl]
    texts: dict[str, str]
    schema: Schema

    def program(self) -> Program:
        """As it is."""
        return link(list(self.units.values()), list(self.units), self.schema)

    def with_unit(self, file: str, changed: Any) -> Program:
        """The program with one file changed; Unsupported if it does not compile."""
        units = self.units | {file: changed}
        return link(list(units.values()), list(units), self.schema)

    def shipped(self) -> list[str]:
        """The files that an org runs: those of tests are left out."""
        return [file for file, each in self.units.items() if not _is_test(each)]


def read(root: Path, schema: Schema, parser: Path) -> Sources:
    """All sources below a folder; names are relative to it."""
    files = sources(root)
    return of_texts({str(file.relative_to(root)): file.read_text(encoding="utf-8") for file in files}, schema, parser)


def of_texts(texts: dict[str, str], schema: Schema, parser: Path) -> Sources:
    """Sources at hand."""
    return Sources({name: parsed(text, parser, name) for name, text in texts.items()}, texts, schema)


def parsed(text: str, parser: Path, name: str) -> tree.ClassDecl | tree.TriggerDecl:
    """One class or trigger."""
    return unit(parsing.parse_text(text.encode(), parser, name), name)


def _is_test(declared: tree.ClassDecl | tree.TriggerDecl) -> bool:
    return isinstance(declared, tree.ClassDecl) and "istest" in declared.marks.annotations


@dataclass(slots=True)
class Coverage:
    """By file and line the tests that reach it, cheapest first; `seconds` is what each took."""

    seconds: dict[str, float] = field(default_factory=dict)
    by_line: defaultdict[tuple[str, int], list[str]] = field(default_factory=lambda: defaultdict(list))

    def tests_of(self, file: str, line: int) -> list[str]:
        """The tests to ask about an edit there."""
        return sorted(self.by_line[file, line], key=lambda name: self.seconds[name])


def covered(found: Sources) -> Coverage:
    """Every test run once of the sound sources; Red if one fails."""
    seen = Coverage()
    program = found.program()
    automation = in_org(program, found.schema)
    for name, setups, method in tests_of(program):
        hits: defaultdict[ApexClass, set[int]] = defaultdict(set)
        outcome = run_one(automation, setups, method, hits)
        if outcome.failure:
            raise Red(f"{name}: {outcome.failure}")
        seen.seconds[name] = outcome.seconds
        for cls, lines in hits.items():
            for line in lines:
                if name not in seen.by_line[cls.file, line]:
                    seen.by_line[cls.file, line].append(name)
    return seen


def in_org(program: Program, schema: Schema) -> Automation:
    """The program in an org of its own."""
    org = Org(schema, clock=ManualClock(START), switches=Switches())
    change_log(org)
    org.automation = automation = Automation(org, program)
    return automation


def killer(program: Program, schema: Schema, coverage: Coverage, names: list[str], patience_s: float) -> str:
    """The first of these tests that fails, or does not end in ten times its time and this; empty if all pass.

    Raises Unsupported where the mutant does what is not run here, such as what Apex's compiler would not let pass.
    """
    automation = in_org(program, schema)
    tests = {name: (setups, method) for name, setups, method in tests_of(program)}
    for name in names:
        setups, method = tests[name]
        try:
            with limited(SLOWER * coverage.seconds[name] + patience_s):
                outcome: Outcome = run_one(automation, setups, method, defaultdict(set))
        except TooLong:
            return f"{name} {ENDLESS}"
        except Exception as fault:  # whatever the interpreter itself stumbles over is no answer of a test
            raise Unsupported(f"{type(fault).__name__}: {fault}") from fault
        if outcome.failure:
            return name
    return ""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """TooLong in this thread, the main one, if the block takes more processor time than that."""

    def ring(*_: object) -> None:
        raise TooLong

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
