"""How long ago, in the words of the command line."""

from __future__ import annotations


def age(seconds: float | None) -> str:
    """An age in the largest unit that keeps two digits: `42 s`, `7 min`, `3 h`, `2 d`; `-` for none."""
    if seconds is None:
        return "-"
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{int(seconds // size)} {unit}"
    return f"{int(seconds)} s"
