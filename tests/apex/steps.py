"""The steps of the gate, in the order in which a reader of faults wants them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from apex import files, formulas, metadata, queries, tools
from apex.findings import Broken, Checked, Outcome, Skipped, Step
from apex.project import Project
from apex.toolbox import Toolbox, ToolFailed

NODE = ("node", "npm")
JAVA = (*NODE, "java", "javac")
FILES = "files"
STEPS = (
    Step(FILES, "every file is of a kind that a step reads", (), files.check),
    Step("syntax", "Salesforce's parser reads every class and trigger", NODE, tools.syntax),
    Step("format", "they look as the formatter writes them", NODE, tools.layout),
    Step("types", "Salesforce's compiler front end accepts them", JAVA, tools.types),
    Step("link", "apex-ls accepts them, with the metadata they use", JAVA, tools.link),
    Step("soql", "every query fits the schema", JAVA, queries.check),
    Step("lint", "PMD finds nothing wrong, slow or unsafe", JAVA, tools.lint),
    Step("shapes", "every metadata file has the shape of its kind", NODE, tools.shapes),
    Step("metadata", "words, lengths, names and references are right", (), metadata.check),
    Step("formulas", "every formula fits its fields and its place", JAVA, formulas.check),
    Step("convert", "it converts; package.xml and the removal name every part", NODE, tools.conversion),
)
OF_APEX = frozenset({"syntax", "format", "types", "link", "soql", "lint"})


@dataclass(frozen=True)
class Answer:
    """A step's outcome and how long it took; `tools` is the step that brings the others' tools."""

    name: str
    question: str
    outcome: Outcome
    seconds: float


def run(project: Project, toolbox: Toolbox, names: Sequence[str] = ()) -> Iterator[Answer]:
    """Ask every step, or those named; each answer as soon as it is there. Strange files are red whatever is asked."""
    started = time.perf_counter()
    outcome = _installed(toolbox)
    yield Answer("tools", "packages of the lock file, and our drivers compiled", outcome, time.perf_counter() - started)
    for step in STEPS:
        if not names or step.name in (*names, FILES):
            started = time.perf_counter()
            answer = _asked(step, project, toolbox, outcome)
            yield Answer(step.name, step.question, answer, time.perf_counter() - started)


def _installed(toolbox: Toolbox) -> Outcome:
    lacking = toolbox.lacks(JAVA)
    try:
        toolbox.install()
    except ToolFailed as error:
        return Broken(str(error))
    return Skipped(lacking) if lacking else Checked(1, "lock file", ())


def _asked(step: Step, project: Project, toolbox: Toolbox, tools_are: Outcome) -> Outcome:
    lacking = toolbox.lacks(step.needs)
    if lacking is not None:
        return Skipped(lacking)
    if step.needs and isinstance(tools_are, Broken):
        return Skipped("its tools could not be installed")
    if step.name in OF_APEX and not project.apex:
        return Checked(0, "files", ())
    try:
        return step.ask(project, toolbox)
    except ToolFailed as error:
        return Broken(str(error))
