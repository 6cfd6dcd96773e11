"""Numbers of things in words."""

from __future__ import annotations


def counted(many: int, one: str, several: str = "") -> str:
    """`1 lead`, `2 leads`, `1,200 leads`; `several` where the plural is more than an `s` behind the word."""
    return f"{many:,} {one if many == 1 else several or one + 's'}"
