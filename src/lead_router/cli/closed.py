"""Standard streams that were closed at the start: what is said there goes nowhere, and nothing else takes their place.

The system gives the lowest free number to what is opened next, be it the connection of a database, and whatever writes
to standard error would write there.
"""

from __future__ import annotations

import os
import sys

_NAMES = ("stdin", "stdout", "stderr")


def fill() -> None:
    """Open the null device for each standard stream that is closed; to be called before anything else is opened."""
    for number, name in enumerate(_NAMES):
        if not _is_open(number):
            _open_null(number)
        if getattr(sys, name) is None:
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", errors="replace", closefd=False))


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def _open_null(number: int) -> None:
    opened = os.open(os.devnull, os.O_RDWR)
    if opened != number:
        os.dup2(opened, number)
        os.close(opened)
    os.set_inheritable(number, True)  # noqa: FBT003 - as each standard stream is
