"""The one step of the build that pyproject.toml cannot say: the simulated org takes the Salesforce metadata with it."""

from __future__ import annotations

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

METADATA = Path("salesforce_metadata")


class BuildWithMetadata(build_py):
    """Puts a copy inside the package, where `org_simulator.schema.default_metadata` looks first.

    Editable installations find the folder of the checkout instead.
    """

    def run(self) -> None:
        """Build as ever, then copy."""
        super().run()
        if not self.editable_mode:
            shutil.copytree(METADATA, Path(self.build_lib) / "org_simulator" / METADATA, dirs_exist_ok=True)


setup(cmdclass={"build_py": BuildWithMetadata})
