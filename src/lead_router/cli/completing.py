"""`completion`: the script by which a shell completes commands, verbs, options, their values and files."""

from __future__ import annotations

import argparse
from pathlib import Path

import shtab

from lead_router.cli.arguments import parser
from lead_router.cli.manual import commands


def completion(words: argparse.Namespace) -> int:
    """Print the script for one shell; it is made from the parser, so it knows what this version knows."""
    print(script(words.shell))
    return 0


def script(shell: str) -> str:
    """The script; an option that takes a path completes files, or folders where it says DIR."""
    root = parser()
    for one in (root, *(command for _, command in commands(root))):
        for action in one._actions:  # noqa: SLF001 - argparse offers no other way to walk its options
            if action.type is Path:
                action.complete = shtab.DIRECTORY if action.metavar == "DIR" else shtab.FILE  # type: ignore[attr-defined]
    return shtab.complete(root, shell=shell)
