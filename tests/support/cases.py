"""CASES.md: which tests bear which id. `PYTHONPATH=tests python -m support.cases` writes it; given ids, names tests.

A test bears an id where its docstring has it at the start of a line, closed by a colon or a full stop, or in brackets:
`A19: an answer that died on the way is sent again.`, `Its ending changes no row (C7).` Several are a list: `C2, C8: …`.
Promises, and what is not covered, stand in `cases.toml`.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

TESTS = Path(__file__).parents[1]
TABLE = TESTS / "CASES.md"
ID = r"[A-FP]\d{1,2}"
BORNE = re.compile(rf"^\s*({ID}(?:, {ID})*)[:.](?=\s|$)|\(({ID}(?:, {ID})*)\)", re.MULTILINE)
KINDS = {
    "A": "Streaming, replay, session, reconnect",
    "B": "REST, login, errors, limits",
    "C": "Queue, idempotency, locks, crash",
    "D": "Rotation, fairness, hours",
    "E": "Rules, matching, data",
    "F": "Operations",
    "P": "What users of lead routing complain about",
}
HEAD = """# Cases

Kinds of faults that users of such software have met, and the tests that bear their ids in docstrings.
`PYTHONPATH=tests python -m support.cases` writes this file; the same with an id behind it, as `A19`, names the tests of
that case.
Promises stand in `support/cases.toml`.
"""


@dataclass(frozen=True)
class Bearer:
    """A test (`path` below tests/, name), the ids that it bears, and what looks like one where none counts."""

    path: str
    name: str
    ids: frozenset[str]
    astray: frozenset[str]
    promise: str


def bearers(folder: Path = TESTS) -> list[Bearer]:
    """Every documented function of the test files below `folder`, by file and line; nothing else bears an id."""
    return [
        found
        for path in sorted(folder.glob("*/test_*.py"))
        for found in _of_file(path.read_text(encoding="utf-8"), str(path.relative_to(folder)))
    ]


def _of_file(text: str, path: str) -> Iterator[Bearer]:
    for node in ast.walk(ast.parse(text)):
        promise = ast.get_docstring(node) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else None
        if promise is not None:
            lists = (opening or bracketed for opening, bracketed in BORNE.findall(promise))
            ids = frozenset(name for listed in lists for name in listed.split(", "))
            astray = frozenset(re.findall(rf"\b{ID}\b", BORNE.sub("", promise)))
            yield Bearer(path, node.name, ids, astray, " ".join(promise.split()))


def promises() -> dict[str, str]:
    """What the router promises in each case that tests show."""
    return _said()["promises"]


def not_covered() -> dict[str, str]:
    """Why there is no test, by case."""
    return _said()["not_covered"]


def _said() -> dict[str, dict[str, str]]:
    return tomllib.loads((Path(__file__).parent / "cases.toml").read_text(encoding="utf-8"))


def table() -> str:
    """The whole text of CASES.md."""
    files: dict[str, set[str]] = {}
    for bearer in bearers():
        for name in bearer.ids:
            files.setdefault(name, set()).add(bearer.path)
    rows = [
        (name, said, ", ".join(f"`tests/{path}`" for path in sorted(files.get(name, ()))))
        for name, said in _sorted(promises())
    ]
    parts = [
        f"## {kind}. {title}\n\n{_rows('| id | promise | tests |', [row for row in rows if row[0][0] == kind])}"
        for kind, title in KINDS.items()
    ]
    parts.append(f"## Not covered\n\n{_rows('| id | why |', _sorted(not_covered()))}")
    return "\n".join([HEAD, *parts])


def _sorted(said: dict[str, str]) -> list[tuple[str, str]]:
    return sorted(said.items(), key=lambda item: (item[0][0], int(item[0][1:])))


def _rows(head: str, rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, "|---" * (head.count("|") - 1) + "|", *(f"| {' | '.join(row)} |" for row in rows)]
    return "\n".join(lines) + "\n"


def main(names: list[str]) -> int:
    """Write the table; or tell the tests of `names`, 1 if there are none."""
    if not names:
        TABLE.write_text(table(), encoding="utf-8")
        return 0
    found = [bearer for bearer in bearers() if bearer.ids & set(names)]
    for bearer in found:
        sys.stdout.write(f"tests/{bearer.path}::{bearer.name}\n    {bearer.promise}\n")
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
