"""`python -m browser.install`: Debian's Chromium, where it is missing, may be installed, and somebody wants it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

PACKAGES = ("chromium", "fonts-dejavu-core")
INSTALL_S = 900


def main() -> int:
    """0 where Chromium is there or not wanted; what apt-get says is its own to tell."""
    required = os.environ.get("BROWSER_CHECK") == "require"
    if shutil.which("chromium") or not (required or os.environ.get("CI") == "true"):
        return 0
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        sys.stderr.write("Chromium is missing, and this user cannot install it\n")
        return int(required)
    for words in (("update", "-qq"), ("install", "-qq", "--yes", "--no-install-recommends", *PACKAGES)):
        ended = subprocess.run(
            ["apt-get", *words],
            env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
            stdout=subprocess.DEVNULL,
            check=False,
            timeout=INSTALL_S,
        )
        if ended.returncode != 0:
            sys.stderr.write(f"apt-get {words[0]} ended with {ended.returncode}\n")
            return int(required)
    return 0


if __name__ == "__main__":
    sys.exit(main())
