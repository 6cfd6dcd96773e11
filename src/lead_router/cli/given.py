"""The settings that a command is given."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from lead_router.settings import Settings, load


def settings_of(words: argparse.Namespace) -> Settings:
    """The settings of the environment and of the settings file that was named or lies here."""
    return load(os.environ, file_of(words))


def file_of(words: argparse.Namespace) -> Path | None:
    """The settings file that was named or lies here, if there is one."""
    file: Path | None = words.env_file
    return Path(".env") if file is None and Path(".env").is_file() else file
