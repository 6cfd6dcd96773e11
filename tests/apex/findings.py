"""What a step of the gate may answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from apex.project import Project
from apex.toolbox import Toolbox


@dataclass(frozen=True, order=True)
class Finding:
    """One fault: `path` from the project's folder, `line` from 1, or 0 for the whole file."""

    path: str
    line: int
    text: str

    def __str__(self) -> str:
        """As compilers print it, so that editors find the place."""
        return f"{self.path}:{self.line}: {self.text}"


@dataclass(frozen=True)
class Checked:
    """A step that ran: how many `things` it looked at, what it found, and what it has to tell beside."""

    count: int
    things: str
    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Skipped:
    """A step that did not run, because something is not there."""

    reason: str


@dataclass(frozen=True)
class Broken:
    """A step whose tool failed by itself: neither red nor green is known."""

    text: str


Outcome: TypeAlias = Checked | Skipped | Broken


@dataclass(frozen=True)
class Step:
    """A question asked of a project; `needs` are the programs without which it cannot be answered."""

    name: str
    question: str
    needs: tuple[str, ...]
    ask: Callable[[Project, Toolbox], Checked | Broken]
