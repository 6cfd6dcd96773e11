"""Files of an export's folder: which is which, what is no CSV, and in which letters it is written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from lead_router.errors import Misconfigured

LATIN = "cp1252"
ENDINGS = frozenset({".csv", ".txt", ".tsv"})
NAMED_MAX = 6  # files that a fault names

_KINDS = (
    (b"PK\x03\x04", "a zip file or an Excel workbook: unpack it, or save the sheet as CSV (UTF-8)"),
    (b"\xd0\xcf\x11\xe0", "an Excel workbook: save the sheet as CSV (UTF-8)"),
    (b"\x1f\x8b", "a gzip file: unpack it"),
    (b"<", "a web page, as reports are exported with the ending xls: choose the format CSV"),
    (b"%PDF", "a PDF: export CSV"),
)
"""First bytes of what is no CSV, and what to do."""


def file_of(folder: Path, *names: str) -> Path | None:
    """The file of the folder that bears one of the names (without `.csv`), in any spelling; None for none.

    Raises Misconfigured where several do, or where that name is borne by a workbook or an archive.
    """
    wanted = {plain(name) for name in names}
    found = [path for path in listed(folder) if plain(path.stem) in wanted]
    readable = [path for path in found if path.suffix.lower() in ENDINGS]
    if len(readable) > 1:
        both = " and ".join(path.name for path in readable)
        raise Misconfigured(f"{both} are both in {folder}, and only one of them can be meant: take the others away")
    if found and not readable and found[0].is_file():
        raise Misconfigured(f"{found[0].name} in {folder} is no CSV: save or unpack it as {names[0]}.csv")
    return readable[0] if readable else None


def needed(folder: Path, *names: str) -> Path:
    """The same; raises Misconfigured, naming what is there, where there is none."""
    path = file_of(folder, *names)
    if path is None:
        there = [one.name for one in listed(folder)]
        named = ", ".join(there[:NAMED_MAX]) + " …" * (len(there) > NAMED_MAX) if there else "nothing"
        raise Misconfigured(
            f"there is no {names[0]}.csv in {folder}, which holds {named}: give the export of {names[-1]} that name"
        )
    return path


def listed(folder: Path) -> Sequence[Path]:
    """What is in the folder, by name; raises Misconfigured where it is none, or cannot be read."""
    try:
        if not folder.exists():
            raise Misconfigured(f"--csv {folder}: there is no such folder")
        if not folder.is_dir():
            raise Misconfigured(f"--csv {folder}: that is a file; name the folder that it is in")
        return sorted(folder.iterdir())
    except OSError as fault:
        raise Misconfigured(f"--csv {folder}: it cannot be read: {fault.strerror}") from None


def encoding_of(path: Path) -> tuple[str, Literal["strict", "replace"]]:
    """UTF-8 where the file is that, with or without its mark, or UTF-16; else Windows' Latin letters.

    And what becomes of bytes that are no letters. Raises Misconfigured for what is no text.
    """
    try:
        with path.open("rb") as file:
            start = file.read(64)
        for first, told in _KINDS:
            if start.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(first):
                raise Misconfigured(f"{path.name} is no CSV but {told}")
        if start[:2] in {b"\xff\xfe", b"\xfe\xff"}:
            return "utf-16", "strict"
        if b"\0" in start[:2]:
            return "utf-16-be" if start[0] == 0 else "utf-16-le", "strict"
        with path.open(encoding="utf-8-sig", newline="") as file:
            while file.read(1 << 20):
                pass
    except UnicodeDecodeError:
        return LATIN, "replace"
    except OSError as fault:
        raise Misconfigured(f"{path}: it cannot be read: {fault.strerror}") from None
    return "utf-8-sig", "strict"


def plain(text: str) -> str:
    """What counts of a name: letters and digits, whatever their case."""
    return "".join(letter for letter in text.lower() if letter.isalnum())
