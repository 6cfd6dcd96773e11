"""`make apex-format`: writes every class and trigger as the formatter wants it."""

from __future__ import annotations

import sys
from pathlib import Path

from apex.project import Project
from apex.toolbox import Toolbox
from apex.tools import formatter

ROOT = Path(__file__).parents[2]


def main() -> int:
    """Reformat the shipped Apex; 1 where a file cannot be read."""
    toolbox, project = Toolbox.found(), Project(ROOT / "salesforce_metadata")
    toolbox.install()
    ran = formatter(toolbox, "--write", [str(project.folder / path) for path in project.apex])
    sys.stdout.write(ran.out + ran.err)
    return 0 if ran.code == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
