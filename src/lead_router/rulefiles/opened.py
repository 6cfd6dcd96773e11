"""What is told of a file that a person wrote and that cannot be read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lead_router.errors import Misconfigured


@contextmanager
def legible(path: Path, form: str = "UTF-8") -> Iterator[None]:
    """While the file is read: raises Misconfigured with the remedy where it is not UTF-8, or with the system's word."""
    try:
        yield
    except UnicodeDecodeError:
        raise Misconfigured(f"{path.name} is not UTF-8: save it as {form}") from None
    except OSError as fault:
        raise Misconfigured(f"cannot read {path}: {fault.strerror}") from None
