"""Implementations of CometD and Pub/Sub API that are not ours, installed on demand from the lock file beside them."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
from pathlib import Path

import pytest

PEERS = Path(__file__).parent.parent / "peers"
INSTALL_S = 240


def node() -> str:
    """The path of node, its packages installed under `tests/peers`.

    Skips the test where node or npm is absent, and fails it where they are there and cannot install.
    """
    found, npm = shutil.which("node"), shutil.which("npm")
    if found is None or npm is None:
        pytest.skip("node and npm are not on the PATH: the npm peers were not run")
    lock = PEERS / "package-lock.json"
    # Parallel test workers share the folder: the first installs, the others wait and find it done.
    with (PEERS / ".install.lock").open("w") as door:
        fcntl.flock(door, fcntl.LOCK_EX)
        done = PEERS / "node_modules" / ".installed-lock.json"
        if not done.exists() or done.read_bytes() != lock.read_bytes():
            command = [npm, "ci", "--no-audit", "--no-fund"]
            ran = subprocess.run(command, cwd=PEERS, capture_output=True, text=True, timeout=INSTALL_S, check=False)
            if ran.returncode != 0:
                pytest.fail(f"npm ci failed in {PEERS.name}: {ran.stderr.strip()[-300:]}")
            done.write_bytes(lock.read_bytes())
    return found
