"""What is told of a file that a person wrote and that cannot be read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lead_router.errors import Misconfigured
from lead_router.rulefiles import strict


@contextmanager
def legible(path: Path, form: str = "UTF-8") -> Iterator[None]:
    """While the file is read: raises Misconfigured with the remedy where it is not UTF-8, or with the system's word."""
    try:
        yield
    except UnicodeDecodeError:
        raise Misconfigured(f"{path.name} is not UTF-8: save it as {form}") from None
    except OSError as fault:
        raise Misconfigured(f"cannot read {path}: {fault.strerror}") from None


def content(path: Path) -> str:
    """The text of a file, with or without a byte order mark."""
    with legible(path):
        return path.read_text(encoding="utf-8-sig")


def opened(path: Path, what: str) -> strict.Part:
    """The value of a file that must not be empty; raises Misconfigured naming file and line."""
    part = strict.read(content(path), path.name)
    if part is None:
        raise Misconfigured(f"{path.name} is empty: {what} is expected here")
    return part
