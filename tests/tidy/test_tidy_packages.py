"""npm packages are the same everywhere: exact versions, a lock with checksums, and no place that one machine asks."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
FOLDERS = sorted(path.parent for path in TESTS.glob("*/package.json"))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_npm_packages_are_pinned_and_from_anywhere(folder: Path):
    """Whoever installs gets these very packages, from whichever registry is theirs."""
    wanted = json.loads((folder / "package.json").read_text(encoding="utf-8"))
    versions = {
        **wanted.get("dependencies", {}),
        **wanted.get("devDependencies", {}),
        **wanted.get("overrides", {}),
    }
    lock = json.loads((folder / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    packages = {name: package for name, package in lock.items() if name}

    assert {name: version for name, version in versions.items() if not re.fullmatch(r"\d+\.\d+\.\d+", version)} == {}
    assert [name for name, package in packages.items() if "resolved" in package or "integrity" not in package] == []
    assert {name for name in versions if packages[f"node_modules/{name}"]["version"] != versions[name]} == set()
