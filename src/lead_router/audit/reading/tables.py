"""CSV files of an export, row by row, whatever wrote them; faults name file, line and column."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TypeVar

from lead_router.audit.reading.cells import Misfit
from lead_router.audit.reading.files import encoding_of, plain
from lead_router.errors import Misconfigured

T = TypeVar("T")
SEPARATORS = ",;\t|"
FIELD_MAX = 1_000_000  # characters of a cell
HEADS_MAX = 12  # heads that a fault repeats

_QUOTED = re.compile('"[^"]*"')
_SEPARATED = re.compile("sep=(.)", re.IGNORECASE)  # a first line that Excel writes, and reads


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
            raise self.fault(name, str(fault)) from None

    def either(self, names: Sequence[str], read: Callable[[str], T]) -> T:
        """The same of the first of these cells that is not blank."""
        return self.get(next((name for name in names if self.cells[name].strip()), names[0]), read)

    def text(self, name: str) -> str:
        """The cell without blanks around it, in one line."""
        return " ".join(self.cells[name].split())

    def fault(self, name: str, told: str) -> Misconfigured:
        """A fault of this cell."""
        return Misconfigured(f"{self.path.name}, line {self.line}, column {self.columns.get(name, name)}: {told}")


def rows(path: Path, known: Mapping[str, Sequence[str]], required: Sequence[Sequence[str]]) -> Iterator[Row]:
    """The rows, each with the line that it begins on; a report's foot, which stands behind a blank line, is none.

    `known` names the spellings of each column; of each set of `required` columns one must be there. Raises
    Misconfigured naming file, line and column.
    """
    csv.field_size_limit(FIELD_MAX)
    encoding, bad = encoding_of(path)
    line = 1
    try:
        with path.open(encoding=encoding, errors=bad, newline="") as file:
            first = file.readline()
            told = _SEPARATED.fullmatch(first.strip())
            skipped = int(told is not None)
            separator = told[1] if told else max(SEPARATORS, key=_QUOTED.sub("", first).count)
            lines = csv.reader(file if told else chain([first], file), delimiter=separator)
            heads = next(lines, [])
            if not any(head.strip() for head in heads):
                raise Misconfigured(f"{path.name}: it is empty: not even heads of columns stand there; export it again")
            places = _places(heads, known, required, path)
            columns = {name: heads[place].strip() for name, place in places.items()}
            missing = dict.fromkeys(known.keys() - places.keys(), "")
            line, behind_blank = lines.line_num + skipped + 1, False
            for cells in lines:
                if not any(map(str.strip, cells)):
                    behind_blank = True
                elif not (behind_blank and _is_foot(cells, heads)):
                    _check_length(cells, heads, path, line)
                    found = {name: cells[place] for name, place in places.items()}
                    yield Row(path, line, missing | found, columns)
                line = lines.line_num + skipped + 1
    except csv.Error as fault:
        raise Misconfigured(f"{path.name}, line {line}: this is not CSV: {fault}") from None
    except UnicodeError:
        raise Misconfigured(f"{path.name}: its letters cannot be read: save it as UTF-8") from None
    except OSError as fault:
        raise Misconfigured(f"{path}: it cannot be read: {fault.strerror}") from None


def _is_foot(cells: Sequence[str], heads: Sequence[str]) -> bool:
    """Whether the line says who made a report, and when: a single text, or fewer cells than a row has."""
    return len(cells) < len(heads) or sum(bool(cell.strip()) for cell in cells) == 1


def _check_length(cells: Sequence[str], heads: Sequence[str], path: Path, line: int) -> None:
    if len(cells) < len(heads):
        lacks = heads[len(cells)].strip()
        told = f"column {lacks}: the line ends before it; is a quotation mark missing?"
        raise Misconfigured(f"{path.name}, line {line}, {told}")
    if any(map(str.strip, cells[len(heads) :])):
        told = f"it has {len(cells)} cells, and line 1 has {len(heads)} heads; is a text with a separator not quoted?"
        raise Misconfigured(f"{path.name}, line {line}: {told}")


def _places(
    heads: Sequence[str], known: Mapping[str, Sequence[str]], required: Sequence[Sequence[str]], path: Path
) -> dict[str, int]:
    spelt = {plain(head): place for place, head in reversed(list(enumerate(heads)))}
    places = {name: spelt[plain(word)] for name, words in known.items() for word in words[::-1] if plain(word) in spelt}
    for names in required:
        if not any(name in places for name in names):
            words = " or ".join(known[name][0] for name in names)
            others = ", ".join(word for name in names for word in known[name][1:3])
            there = ", ".join(head.strip()[:40] for head in heads[:HEADS_MAX]) + " …" * (len(heads) > HEADS_MAX)
            told = f"there is no column {words} (in reports: {others}); there are: {there}"
            raise Misconfigured(f"{path.name}, line 1: {told}")
    return places
