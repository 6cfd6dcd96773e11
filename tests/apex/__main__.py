"""`make apex-check`: the gate for Apex and metadata. Prints each fault as `path:line: text`, then a table.

Exit code 0: nothing is wrong; 1: a step is red, or its tool failed; 2: a step was skipped although the environment asks
for all of them (`APEX_CHECK=require`). A skipped step is never a pass: the table and the last line name it.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from apex.findings import Broken, Checked, Outcome, Skipped
from apex.project import Project
from apex.steps import STEPS, Answer, run
from apex.toolbox import Toolbox

ROOT = Path(__file__).parents[2]


def main(words: Sequence[str] | None = None) -> int:
    """Run the gate over a project in source format, and over the extras that are deployed on it."""
    options = _options(words)
    answers = []
    for project in _projects(options.project.resolve()):
        asked = []
        for answer in run(project, Toolbox.found(), options.only):
            asked.append(answer)
            _tell(answer, project.folder)
        sys.stdout.write(f"{_from_here(project.folder)}\n{_table(asked)}")
        answers += asked
    skipped = dict.fromkeys(answer.name for answer in answers if isinstance(answer.outcome, Skipped))
    if any(_state(answer.outcome) in {"RED", "BROKEN"} for answer in answers):
        return 1
    if skipped:
        sys.stdout.write(f"not checked: {', '.join(skipped)}\n")
    return 2 if skipped and os.environ.get("APEX_CHECK") == "require" else 0


def _projects(folder: Path) -> list[Project]:
    extras = sorted(path.parent for path in (folder / "extras").glob("*/sfdx-project.json"))
    return [Project(folder), *(Project(extra, folder) for extra in extras)]


def _options(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make apex-check", description="Check Apex and metadata without an org.")
    parser.add_argument("project", nargs="?", type=Path, default=ROOT / "salesforce_metadata", help="its folder")
    names = [step.name for step in STEPS]
    parser.add_argument("--only", action="append", default=[], choices=names, help="one step; may stand several times")
    return parser.parse_args(words)


def _tell(answer: Answer, folder: Path) -> None:
    match answer.outcome:
        case Checked(findings=findings, notes=notes):
            for finding in findings:
                sys.stdout.write(f"{_from_here(folder)}/{finding}\n")
            for note in notes:
                sys.stdout.write(f"{answer.name}: {note}\n")
        case Broken(text=text) | Skipped(reason=text):
            sys.stdout.write(f"{answer.name}: {text}\n")
    sys.stdout.flush()


def _from_here(folder: Path) -> Path:
    return folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder


def _table(answers: Sequence[Answer]) -> str:
    rows = [f"{'step':<9} {'state':<8} {'s':>5}  {'looked at':<13} question"]
    for answer in answers:
        count = f"{answer.outcome.count} {answer.outcome.things}" if isinstance(answer.outcome, Checked) else "-"
        rows.append(
            f"{answer.name:<9} {_state(answer.outcome):<8} {answer.seconds:>5.1f}  {count:<13} {answer.question}"
        )
    return "\n".join(rows) + "\n"


def _state(outcome: Outcome) -> str:
    match outcome:
        case Checked(findings=findings) if findings:
            return "RED"
        case Checked(count=0):
            return "EMPTY"  # there was nothing to look at
        case Checked():
            return "ok"
        case Skipped():
            return "SKIPPED"
        case Broken():
            return "BROKEN"


if __name__ == "__main__":
    sys.exit(main())
