"""What `make` would do, asked without doing it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(shutil.which("make") is None, reason="no make here")
def test_the_demo_installs_what_it_needs_once(tmp_path):
    """The console's extra is installed for the console alone, and not again while pyproject.toml is as it was."""

    def steps(**words):
        made = [f"{name}={text}" for name, text in {"VENV": str(tmp_path), **words}.items()]
        inherited = {name: text for name, text in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
        told = subprocess.run(
            ["make", "--dry-run", "demo", *made], cwd=ROOT, env=inherited, capture_output=True, text=True, check=True
        )
        return [line for line in told.stdout.splitlines() if " -m pip " in line]

    (tmp_path / ".run").touch()
    assert steps() == []
    (first,) = steps(ARGS="--leads 9 --console")
    assert ".[operations]" in first
    (tmp_path / ".operations").touch()
    assert steps(ARGS="--leads 9 --console") == []
