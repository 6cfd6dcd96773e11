"""Every query of a project: those in brackets, and those in text as far as the text is known."""

from __future__ import annotations

from collections.abc import Iterator

from apex.assembled import Assembly, Texts, filled, holes
from apex.findings import Checked, Finding
from apex.project import Project
from apex.schema import Schema, schema
from apex.soql import problems
from apex.syntax import Node, faults, line, trees, walk
from apex.toolbox import Toolbox

CALLS = {"query", "querywithbinds", "countquery", "countquerywithbinds", "getquerylocator", "getquerylocatorwithbinds"}
# What the unknown part of a text may be: a condition, a field, a value, a number, an object's end.
FILLINGS = ("Id != NULL", "Id", "'x'", "1", "")
TOO_LITTLE = "a query in text of which too little is known to check it: build it of texts and methods of its own class"


def check(project: Project, toolbox: Toolbox) -> Checked:
    """Every query against the schema, and each that a text may become; what is not known of one is in the notes."""
    known, count, findings, notes = schema(project, toolbox), 0, [], []
    for path, tree in trees(project, toolbox).items():
        for found in walk(tree, "SoqlExpr"):
            count += 1
            findings += [Finding(path, at or line(found), text) for at, text in problems(found["query"], known)]
        for at, texts in texts_of(tree):
            count += 1
            findings += [Finding(path, at, text) for text in _problems(texts, known, toolbox)]
            unknown = list(dict.fromkeys(name for text in texts for name in holes(text)))
            if unknown:
                notes.append(f"{path}:{at}: checked but for what is known at run alone: {', '.join(unknown)}")
    return Checked(count, "queries", tuple(sorted(set(findings))), tuple(notes))


def texts_of(tree: Node) -> Iterator[tuple[int, Texts]]:
    """The line of each call that asks by text, and what that text may be."""
    assembly = Assembly(tree)
    for call, method in assembly.blocks(tree):
        names = [str(name["value"]).lower() for name in call["names"]]
        if names[:-1] == ["database"] and names[-1] in CALLS and call["inputParameters"]:
            yield line(call), assembly.texts(call["inputParameters"][0], method)


def _problems(texts: Texts, known: Schema, toolbox: Toolbox) -> Iterator[str]:
    for text in texts:
        query = _parsed(text, toolbox)
        if query is None:
            yield TOO_LITTLE
        else:
            yield from (f"in text: {what}" for _, what in problems(query, known))


def _parsed(text: str, toolbox: Toolbox) -> Node | None:
    if not filled(text, "").strip():
        return None
    for filling in FILLINGS if holes(text) else ("",):
        tree = toolbox.parse(f"class Q {{ Object q = [{filled(text, filling)}]; }}")
        if not any(faults(tree)):
            return next((found["query"] for found in walk(tree, "SoqlExpr")), None)
    return None
