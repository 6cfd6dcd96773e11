"""Every query of a project: those in brackets, and those in text as far as the text is known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from apex.findings import Checked, Finding
from apex.project import Project
from apex.schema import schema
from apex.soql import problems
from apex.syntax import Node, faults, kind, line, plain, trees, walk
from apex.toolbox import Toolbox

CALLS = {"query", "querywithbinds", "countquery", "countquerywithbinds", "getquerylocator", "getquerylocatorwithbinds"}
HOLE = "\0"
# What the unknown part of a text may be: a condition, a field, a value, a number, an object's end.
FILLINGS = ("Id != NULL", "Id", "'x'", "1", "")


@dataclass(frozen=True)
class _Text:
    """A query in a text, with holes where its parts are known at run alone."""

    line: int
    text: str


def check(project: Project, toolbox: Toolbox) -> Checked:
    """Every query against the schema; texts with unknown parts are named in the notes."""
    known, count, findings, notes = schema(project, toolbox), 0, [], []
    for path, tree in trees(project, toolbox).items():
        for found in walk(tree, "SoqlExpr"):
            count += 1
            findings += [Finding(path, at or line(found), text) for at, text in problems(found["query"], known)]
        for text in _texts(tree):
            query = _parsed(text.text, toolbox)
            if query is None:
                notes.append(f"{path}:{text.line}: a query that is put together at run: not checked")
                continue
            count += 1
            findings += [Finding(path, text.line, f"in text: {what}") for _, what in problems(query, known)]
            if HOLE in text.text:
                notes.append(f"{path}:{text.line}: a query in part put together at run: the rest is checked")
    return Checked(count, "queries", tuple(sorted(set(findings))), tuple(notes))


def _texts(tree: Node) -> Iterator[_Text]:
    known = _variables(tree)
    for call in walk(tree, "MethodCallExpr"):
        names = [str(name["value"]).lower() for name in call["names"]]
        if names[:-1] == ["database"] and names[-1] in CALLS and call["inputParameters"]:
            yield _Text(line(call), _folded(call["inputParameters"][0], known))


def _variables(tree: Node) -> dict[str, str]:
    """The texts of variables by lower-case name, where one declaration and its additions are all that writes them."""
    values: dict[str, str] = {}
    seen: list[str] = []
    for node in walk(tree, "VariableDecl", "AssignmentExpr"):
        if kind(node) == "VariableDecl":
            name, value = str(node["name"]["value"]).lower(), plain(node.get("assignment"))
            seen.append(name)
            values[name] = HOLE if value is None else _folded(value, values)
        elif kind(node["left"]) == "VariableExpr":
            name = str(node["left"]["names"][-1]["value"]).lower()
            grown = node["op"]["$"] == "ADDITION_EQUALS"
            values[name] = values.get(name, HOLE) + _folded(node["right"], values) if grown else HOLE
    return {name: text for name, text in values.items() if seen.count(name) == 1}


def _folded(node: Node, known: dict[str, str]) -> str:
    match kind(node):
        case "LiteralExpr" if node["type"]["$"] == "STRING":
            return str(node["literal"]["$"])
        case "BinaryExpr" if node["op"]["$"] == "ADDITION":
            return _folded(node["left"], known) + _folded(node["right"], known)
        case "NestedExpr":
            return _folded(node["expr"], known)
        case "VariableExpr" if not plain(node.get("dottedExpr")):
            return known.get(str(node["names"][-1]["value"]).lower(), HOLE)
        case _:
            return HOLE


def _parsed(text: str, toolbox: Toolbox) -> Node | None:
    if not text.strip(HOLE + " "):
        return None
    for filling in FILLINGS if HOLE in text else ("",):
        tree = toolbox.parse(f"class Q {{ Object q = [{text.replace(HOLE, filling)}]; }}")
        if not any(faults(tree)):
            return next((found["query"] for found in walk(tree, "SoqlExpr")), None)
    return None
