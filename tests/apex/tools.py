"""Steps that other people's tools answer."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from dataclasses import replace

from apex.findings import Broken, Checked, Finding
from apex.project import Project
from apex.syntax import faults, trees
from apex.tables import ELEMENTS
from apex.toolbox import HERE, Ran, Toolbox

FOUND = 4  # the exit code of our drivers, and of apex-ls, for "ran, and found something"
PLACE = re.compile(r"(?P<path>.+?):(?P<line>\d+)(?::\d+)?: (?P<text>.+)")
UNREAD = re.compile(r"^\[error\] (?P<path>[^:\n]+\.(?:cls|trigger)): ", re.MULTILINE)
LINK = re.compile(r"(?P<kind>\w+): line (?P<line>\d+)[^:]*: (?P<text>.+)")


def syntax(project: Project, toolbox: Toolbox) -> Checked:
    """Does Salesforce's parser read it?"""
    found = [Finding(path, at, text) for path, tree in trees(project, toolbox).items() for at, text in faults(tree)]
    return Checked(len(project.apex), "files", tuple(sorted(set(found))))


def layout(project: Project, toolbox: Toolbox) -> Checked | Broken:
    """Does it look as the formatter writes it?"""
    if not project.apex:
        return Checked(0, "files", ())
    paths = [str(project.folder / path) for path in project.apex]
    ran = formatter(toolbox, "--list-different", paths)
    places = {(project.folder / path).resolve(): path for path in project.apex}
    rows = [(row, "not formatted; `make apex-format` does it") for row in ran.out.splitlines()]
    rows += [(match["path"], "the formatter cannot read it") for match in UNREAD.finditer(ran.err)]
    said = [(places.get((toolbox.folder / path).resolve()), what) for path, what in rows]
    found = [Finding(path, 0, what) for path, what in said if path is not None]
    if ran.code not in {0, 1, 2} or (ran.code != 0) != bool(found):
        return Broken(_last(ran))
    return Checked(len(project.apex), "files", tuple(sorted(set(found))))


def formatter(toolbox: Toolbox, what: str, paths: list[str]) -> Ran:
    """Run the formatter over files."""
    plugin = toolbox.packages / "prettier-plugin-apex/dist/src/index.js"
    words = ["--config", str(HERE / "prettier.json"), "--plugin", str(plugin), what, *paths]
    return toolbox.node(str(toolbox.packages / "prettier/bin/prettier.cjs"), *words)


def types(project: Project, toolbox: Toolbox) -> Checked | Broken:
    """Does Salesforce's compiler front end accept it?"""
    classes = [str(toolbox.built), str(toolbox.front_end)]
    ran = toolbox.java(classes, "CompileCheck", str(project.folder), str(toolbox.jars))
    return placed(ran, project, len(project.apex), "files")


def link(project: Project, toolbox: Toolbox) -> Checked | Broken:
    """Does apex-ls, a checker of other people, accept it, with its metadata?"""
    words = ["-n", "-w", str(project.folder), "-d", "warnings"]  # -n: no cache outside the project
    ran = toolbox.java([f"{toolbox.jars}/*"], "io.github.apexdevtools.apexls.CheckForIssues", *words)
    if ran.code not in {0, FOUND}:
        return Broken(_last(ran))
    return Checked(len(project.apex), "files", tuple(sorted(set(_linked(ran.out, project)))))


def lint(project: Project, toolbox: Toolbox) -> Checked | Broken:
    """Does PMD find nothing wrong, slow or unsafe?"""
    classes = [str(toolbox.built), f"{toolbox.jars}/*"]
    ran = toolbox.java(classes, "LintCheck", str(HERE / "pmd.xml"), str(project.folder))
    return placed(ran, project, len(project.apex), "files")


def shapes(project: Project, toolbox: Toolbox) -> Checked | Broken:
    """Has each metadata file the shape that the Metadata API describes?"""
    ran = toolbox.node("shapes.mjs", str(project.folder), *sorted(ELEMENTS))
    found = placed(ran, project, len(project.sources), "files")
    older = sorted({source.kind for source in project.sources} & set(ELEMENTS))
    if isinstance(found, Broken) or not older:
        return found
    return replace(found, notes=(f"the schema is too old for {', '.join(older)}: held to lists of elements instead",))


def conversion(project: Project, toolbox: Toolbox) -> Checked | Broken:
    """Does the command line's library convert it, and name every part in `package.xml`?"""
    with tempfile.TemporaryDirectory() as out:
        ran = toolbox.node("convert.mjs", str(project.folder), out)
    return placed(ran, project, len(project.files), "files")


def placed(ran: Ran, project: Project, count: int, things: str) -> Checked | Broken:
    """What a program wrote as `path:line: text`; its exit code must agree."""
    found = [
        Finding(_inside(match["path"], project), int(match["line"]), match["text"])
        for match in map(PLACE.fullmatch, ran.out.splitlines())
        if match
    ]
    if ran.code != (FOUND if found else 0):
        return Broken(_last(ran))
    return Checked(count, things, tuple(sorted(set(found))))


def _linked(out: str, project: Project) -> Iterator[Finding]:
    path = ""
    for row in out.splitlines():
        match = LINK.fullmatch(row)
        if match:
            yield Finding(path, int(match["line"]), f"{match['kind']}: {match['text']}")
        elif row.strip():
            path = _inside(row.strip(), project)


def _inside(path: str, project: Project) -> str:
    return path.removeprefix(f"{project.folder}/")


def _last(ran: Ran) -> str:
    return f"exit code {ran.code}: {(ran.err.strip() or ran.out.strip())[-400:]}"
