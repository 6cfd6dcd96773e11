"""Limits of size, as tests: a module fits in the head, a function on a screen."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
MODULE_LINES_MAX = 300
FUNCTION_LINES_MAX = 40


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT / "src")))
def test_a_module_and_its_functions_keep_the_limits(path: Path):
    """No module above 300 lines, no function above 40."""
    text = path.read_text(encoding="utf-8")
    functions = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    long = {f.name: f.end_lineno - f.lineno + 1 for f in functions if f.end_lineno - f.lineno + 1 > FUNCTION_LINES_MAX}

    assert long == {}
    assert len(text.splitlines()) <= MODULE_LINES_MAX
