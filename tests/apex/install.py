"""`make apex-tools`: brings the tools of the lock file up to date; what this machine lacks is said and left out."""

from __future__ import annotations

import sys

from apex.steps import JAVA
from apex.toolbox import Toolbox, ToolFailed


def main() -> int:
    """1 where the tools are to be had and cannot be installed."""
    toolbox = Toolbox.found()
    try:
        toolbox.install()
    except ToolFailed as error:
        sys.stdout.write(f"{error}\n")
        return 1
    lacking = toolbox.lacks(JAVA)
    sys.stdout.write(f"SKIPPED: {lacking}\n" if lacking else "")
    return 0


if __name__ == "__main__":
    sys.exit(main())
