"""What a message says about a package that is not installed."""

from __future__ import annotations

import shlex
import sys


def install(extra: str) -> str:
    """The command that installs an extra beside this program: by its own Python, whichever pip the path finds."""
    return f"{shlex.quote(sys.executable)} -m pip install 'lead-router[{extra}]'"
