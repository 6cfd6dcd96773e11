"""CSV files of an export, row by row, whatever wrote them; faults name file, line and column."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from lead_router.audit.reading.cells import Misfit
from lead_router.errors import Misconfigured

T = TypeVar("T")
SEPARATORS = ",;\t|"
LATIN = "cp1252"
FIELD_MAX = 1_000_000  # characters of a cell


@dataclass(frozen=True, slots=True)
class Row:
    """One row; `cells` by the name that the reader uses, blank where the file has no such column."""

    path: Path
    line: int
    cells: Mapping[str, str]
    columns: Mapping[str, str]

    def get(self, name: str, read: Callable[[str], T]) -> T:
        """The cell as a value; raises Misconfigured naming file, line and column, and never the value."""
        try:
            return read(self.cells[name])
        except Misfit as fault:
            raise Misconfigured(f"{self.path.name}, line {self.line}, column {self.columns[name]}: {fault}") from None

    def text(self, name: str) -> str:
        """The cell without blanks around it."""
        return self.cells[name].strip()


def file_of(folder: Path, *names: str) -> Path | None:
    """The file of the folder that bears one of the names (without `.csv`), in any spelling; None for none."""
    wanted = {_plain(name) for name in names}
    files = sorted(path for path in folder.iterdir() if path.suffix.lower() in {".csv", ".txt", ".tsv"})
    return next((path for path in files if _plain(path.stem) in wanted), None)


def rows(path: Path, known: Mapping[str, Sequence[str]], required: Sequence[Sequence[str]]) -> Iterator[Row]:
    """The rows down to the first blank one, behind which reports say who made them.

    `known` names the spellings of each column; of each set of `required` columns one must be there. Raises
    Misconfigured naming file, line and column.
    """
    csv.field_size_limit(FIELD_MAX)
    encoding = _encoding(path)
    bad = "replace" if encoding == LATIN else "strict"
    try:
        with path.open(encoding=encoding, errors=bad, newline="") as file:
            first = file.readline()
            separator = max(SEPARATORS, key=first.count)
            file.seek(0)
            lines = csv.reader(file, delimiter=separator)
            heads = next(lines, [])
            places = _places(heads, known, required, path)
            columns = {name: heads[place].strip() for name, place in places.items()}
            missing = dict.fromkeys(known.keys() - places.keys(), "")
            for cells in lines:
                if not any(cell.strip() for cell in cells):
                    return
                if len(cells) < len(heads):
                    lacks = heads[len(cells)].strip()
                    raise Misconfigured(
                        f"{path.name}, line {lines.line_num}, column {lacks}: the line ends before it; is a quotation "
                        "mark missing?"
                    )
                found = {name: cells[place] for name, place in places.items()}
                yield Row(path, lines.line_num, missing | found, columns)
    except csv.Error as fault:
        raise Misconfigured(f"{path.name}, line {lines.line_num}: this is not CSV: {fault}") from None
    except UnicodeError:
        raise Misconfigured(f"{path.name}: its letters cannot be read: save it as UTF-8") from None
    except OSError as fault:
        raise Misconfigured(f"{path}: it cannot be read: {fault.strerror}") from None


def _encoding(path: Path) -> str:
    """UTF-8 where the file is that, with or without its mark, or UTF-16 by its mark; Windows' Latin letters else."""
    try:
        with path.open("rb") as file:
            start = file.read(2)
            if start in {b"\xff\xfe", b"\xfe\xff"}:
                return "utf-16"
        with path.open(encoding="utf-8-sig", newline="") as file:
            while file.read(1 << 20):
                pass
    except UnicodeDecodeError:
        return LATIN
    except OSError as fault:
        raise Misconfigured(f"{path}: it cannot be read: {fault.strerror}") from None
    return "utf-8-sig"


def _places(
    heads: Sequence[str], known: Mapping[str, Sequence[str]], required: Sequence[Sequence[str]], path: Path
) -> dict[str, int]:
    spelt = {_plain(head): place for place, head in reversed(list(enumerate(heads)))}
    places = {
        name: spelt[_plain(word)] for name, words in known.items() for word in words[::-1] if _plain(word) in spelt
    }
    for names in required:
        if not any(name in places for name in names):
            words = " or ".join(known[name][0] for name in names)
            raise Misconfigured(f"{path.name}, line 1: there is no column {words}")
    return places


def _plain(text: str) -> str:
    return "".join(letter for letter in text.lower() if letter.isalnum())
