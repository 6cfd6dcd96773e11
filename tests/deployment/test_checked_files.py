"""The image's recipe, the compose file and the manifests, judged by programs that are not ours."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.deployment

DEPLOY = Path(__file__).parents[2] / "deploy"
KUBERNETES = "1.32"


def tool(name):
    """A program of this interpreter's environment or of the path; the test skips, in sight, where there is none."""
    found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    if found is None:
        pytest.skip(f"no {name} here")
    return found


def accepted(*words):
    ended = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_a_linter_finds_nothing_in_the_image():
    """hadolint, where it is."""
    accepted(tool("hadolint"), str(DEPLOY / "Dockerfile"))


def test_the_compose_file_meets_its_specification():
    """The published schema, where its checker is."""
    accepted(tool("check-jsonschema"), "--builtin-schema", "vendor.compose-spec", str(DEPLOY / "compose.yml"))


def test_the_manifests_meet_the_schemas_of_kubernetes():
    """Strictly: a field that does not exist is a fault. The monitor is another operator's kind, and is not checked."""
    files = [str(DEPLOY / "kubernetes" / name) for name in ("router.yaml", "console.yaml", "settings.yaml")]
    accepted(tool("kubernetes-validate"), "-k", KUBERNETES, "--strict", *files)
