"""Each import contract is seen red: a contract that no import can break proves nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# contract name in pyproject.toml -> (module to spoil, the import that breaks it)
BREAKS = {
    "Imports point down": ("lead_router/core/keys.py", "import lead_router.jobs"),
    "Only app knows the Salesforce wire": ("lead_router/loops/worker.py", "import lead_router.salesforce"),
    "Only app, console and cli read settings": (
        "lead_router/loops/worker.py",
        "import lead_router.settings",
    ),
    "The core has no I/O, clock or dice": ("lead_router/core/keys.py", "import random"),
    "asyncio lives inside the stream sources and the console": ("lead_router/loops/intake.py", "import asyncio"),
    "Production never imports the simulated org": ("lead_router/app/wiring.py", "import org_simulator"),
    "The simulated org shares the criteria grammar and nothing else": (
        "org_simulator/org.py",
        "import lead_router.ports",
    ),
}

# contract name -> further imports that it must refuse, for packages that came later
MORE_BREAKS = [
    ("Imports point down", "lead_router/app/wiring.py", "import lead_router.console"),
    ("Only app knows the Salesforce wire", "lead_router/console/desk.py", "import lead_router.salesforce.names"),
    ("Imports point down", "lead_router/rulefiles/check.py", "import lead_router.app"),
    ("Imports point down", "lead_router/loops/worker.py", "import lead_router.rulefiles"),
    ("Only app knows the Salesforce wire", "lead_router/rulefiles/check.py", "import lead_router.salesforce.names"),
    (
        "Only app, console and cli read settings",
        "lead_router/rulefiles/check.py",
        "import lead_router.settings",
    ),
]


def _contracts() -> set[str]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return {contract["name"] for contract in settings["tool"]["importlinter"]["contracts"]}


def _lint(folder: Path) -> str:
    run = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as lint; lint()", "--no-cache"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder / "src"), "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    return run.stdout + run.stderr


def _broken(output: str) -> set[str]:
    return {line.removesuffix(" BROKEN").strip() for line in output.splitlines() if line.rstrip().endswith(" BROKEN")}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the sources that a test may spoil."""
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_every_contract_has_its_break():
    """A new contract must come with the import that breaks it."""
    assert set(BREAKS) == _contracts()


def test_the_sources_keep_every_contract(copy: Path):
    """All contracts hold, and every module has its layer."""
    output = _lint(copy)

    assert _broken(output) == set(), output
    assert f"{len(BREAKS)} kept, 0 broken" in output


@pytest.mark.parametrize(
    ("contract", "module", "line"), [*((name, *BREAKS[name]) for name in sorted(BREAKS)), *MORE_BREAKS]
)
def test_one_import_breaks_the_contract(copy: Path, contract: str, module: str, line: str):
    """The contract, spoiled by one import, is reported broken by its name."""
    path = copy / "src" / module
    text = path.read_text(encoding="utf-8")
    path.write_text(
        text.replace("from __future__ import annotations", f"from __future__ import annotations\n{line}", 1)
    )

    assert contract in _broken(_lint(copy))


def test_a_module_without_a_layer_is_refused(copy: Path):
    """The layers are exhaustive: a new top-level module must be given its place."""
    (copy / "src" / "lead_router" / "stray.py").write_text("")

    assert "Imports point down" in _broken(_lint(copy)) or "stray" in _lint(copy)
