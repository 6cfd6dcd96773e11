"""One word per idea: names that say nothing are not used, and the project speaks of itself alone."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
EMPTY = re.compile(
    r"(^|_)(manager|handler|helper|helpers|util|utils|info)(_|$)|(Manager|Handler|Helper|Util|Utils|Info)$"
)
# Standard-library and third-party words that a signature of theirs forces on us.
FORCED = frozenset({"proxy_manager_for"})  # requests' HTTPAdapter


def _names(tree: ast.AST) -> set[str]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return {node.name for node in ast.walk(tree) if isinstance(node, kinds)}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT / "src")))
def test_functions_classes_and_modules_bear_telling_names(path: Path):
    """No manager, handler, helper, util or info names a function, a class or a module."""
    names = _names(ast.parse(path.read_text(encoding="utf-8"))) | {path.stem}

    assert {name for name in names - FORCED if EMPTY.search(name)} == set()


def test_no_committed_file_names_a_machine_or_a_registry():
    """Paths of one machine and registry hosts have no place in the project."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    forbidden = re.compile(r"/wor[k]/(main|shared)|/roo[t]/|pypi\.or[g]|registry\.npmj[s]|files\.pythonhosted\.or[g]")
    found = []
    for name in listed.stdout.splitlines():
        path = ROOT / name
        if path.is_file() and forbidden.search(path.read_text(encoding="utf-8", errors="ignore")):
            found.append(name)

    assert found == []
