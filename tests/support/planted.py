"""A small sound project, copied and broken in one place."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from apex.project import Project
from apex.toolbox import HERE

SOUND = HERE / "fixtures/sound"
HOME = "force-app/main/default"


@dataclass(frozen=True)
class Fault:
    """What is planted: in `file`, below the sources, `old` becomes `new`; `at` is the file that is named, if another.

    No `old`: the file is written anew. No `new` and no `old`: the file is removed.
    """

    step: str
    name: str
    file: str
    old: str = ""
    new: str = ""
    at: str = ""

    @property
    def named(self) -> str:
        """The path by which the gate names the fault."""
        return f"{HOME}/{self.at or self.file}"


def copied(to: Path) -> Project:
    """The sound project at `to`."""
    return Project(Path(shutil.copytree(SOUND, to)))


def plant(fault: Fault, to: Path) -> Project:
    """The sound project at `to`, with one fault."""
    project = copied(to)
    path = project.folder / HOME / fault.file
    if fault.old:
        text = path.read_text(encoding="utf-8")
        if fault.old not in text:
            pytest.fail(f"{fault.file} no longer holds what is to be broken: {fault.old}")
        path.write_text(text.replace(fault.old, fault.new, 1), encoding="utf-8")
    elif fault.new:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(fault.new, encoding="utf-8")
    else:
        path.unlink()
    return project
