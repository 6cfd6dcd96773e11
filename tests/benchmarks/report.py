"""What the benchmarks' reports are made of: tables that can be read as plain text, and sections of REPORT.md."""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).parent
MARK = "~"  # reckoned from fewer leads


def table(rows: Sequence[Sequence[str]], names: int = 1) -> str:
    """A Markdown table, its heads first; the first `names` columns to the left, figures to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["| " + " | ".join(_placed(row, widths, names)) + " |" for row in rows]
    rule = [("-" * width if number < names else "-" * (width - 1) + ":") for number, width in enumerate(widths)]
    lines.insert(1, "| " + " | ".join(rule) + " |")
    return "\n".join(lines)


def machine() -> str:
    """The class of machine that this is, and how busy it is."""
    python = f"Python {sys.version_info.major}.{sys.version_info.minor}"
    return f"{os.cpu_count()} cores, {platform.system()}, {python}, load {os.getloadavg()[0]:.1f} before the first run"


def rewritten(document: str, section: str) -> str:
    """The document with the section in place of the one under the same heading, at its end where there is none."""
    heading = section.partition("\n")[0]
    former = [part for part in re.split(r"^(?=# )", document, flags=re.MULTILINE) if part]
    parts = [section if part.startswith(f"{heading}\n") else part for part in former]
    return "\n\n".join(part.strip() for part in (parts if section in parts else [*parts, section])) + "\n"


def _placed(row: Sequence[str], widths: Sequence[int], names: int) -> list[str]:
    return [
        text.ljust(width) if number < names else text.rjust(width)
        for number, (text, width) in enumerate(zip(row, widths, strict=True))
    ]
