"""The package as `pip install .` leaves it, away from the checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NEEDED = ("pyproject.toml", "README.md", "LICENSE", "src", "salesforce_metadata")
BUILD_S = 100


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The packages of a wheel built from a copy of the checkout; their dependencies are those of this interpreter."""
    copy, target = tmp_path_factory.mktemp("copy"), tmp_path_factory.mktemp("target")
    for name in NEEDED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("*.egg-info", "__pycache__"))
        else:
            shutil.copy(ROOT / name, copy / name)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", "--no-deps"]
    words = [*pip, "--no-build-isolation", "--no-warn-script-location", "--target", str(target), str(copy)]
    built = subprocess.run(words, capture_output=True, text=True, check=False, timeout=BUILD_S)
    assert built.returncode == 0, built.stderr
    return target


def test_the_demo_runs_without_the_checkout(installed, tmp_path):
    """The simulated org brings the metadata that it enforces, and no word of it comes from elsewhere."""
    program = "from org_simulator.schema import default_metadata as d, load; load(d()); print(d())"
    answer = _run(installed, tmp_path, "-c", program)
    assert (answer.stdout.strip(), answer.stderr) == (str(installed / "org_simulator" / "salesforce_metadata"), "")
    played = _run(installed, tmp_path, "-m", "lead_router", "demo", "--leads", "1", "--json")
    assert played.returncode == 0, played.stderr


def _run(installed, folder, *words):
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    return subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=60
    )
