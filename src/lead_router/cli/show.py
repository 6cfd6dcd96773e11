"""Plain tables for a terminal, one JSON value for machines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import Any


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, bytes):
        return readable(value)
    return str(value)


def readable(value: bytes) -> str:
    """Bytes as text where all are printable ASCII, in hexadecimal else: a terminal gets no control character."""
    text = value.decode("latin-1")
    return text if text.isascii() and text.isprintable() else value.hex()


def as_json(value: Any) -> str:
    """One JSON value; times as ISO 8601, bytes as `readable` shows them."""
    return json.dumps(value, default=_plain, indent=2, sort_keys=False)


def table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Left-aligned columns under their heads; numbers to the right."""
    texts = [[_cell(cell) for cell in row] for row in rows]
    widths = [max(len(head), *(len(row[i]) for row in texts)) if texts else len(head) for i, head in enumerate(heads)]
    right = [bool(rows) and all(isinstance(row[i], int | float | None) for row in rows) for i in range(len(heads))]
    lines = [[*heads], *texts]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if aligned else cell.ljust(width)
            for cell, width, aligned in zip(line, widths, right, strict=True)
        ).rstrip()
        for line in lines
    )


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d %H:%M:%SZ")
    return str(value).replace("\n", " ")
