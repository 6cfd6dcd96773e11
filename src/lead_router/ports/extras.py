"""What a message says about a package that is not installed."""

from __future__ import annotations

import shlex
import sys


def install(extra: str) -> str:
    """The commands that install an extra beside this program: by its own Python, whichever pip the path finds."""
    pip = f"{shlex.quote(sys.executable)} -m pip install"
    return f"{pip} 'lead-router[{extra}]', or in a checkout {pip} --editable '.[{extra}]'"
