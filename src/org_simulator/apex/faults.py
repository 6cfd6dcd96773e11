"""What can go wrong with Apex here, before it is Apex's own exception."""

from __future__ import annotations

from typing import Any, NamedTuple


class Place(NamedTuple):
    """Where something stands in a source file; lines count from 1."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class ParserMissing(Exception):
    """The parser's package is not installed; the text says what would install it."""


class Unparsable(Exception):
    """A source file that Salesforce's parser refuses."""

    def __init__(self, place: Place, text: str) -> None:
        super().__init__(f"{place}: {text}")
        self.place = place


class Unsupported(Exception):
    """Apex that this interpreter does not run, named by file and line. Never caught by Apex, never passed over."""

    def __init__(self, what: str, place: Place | None = None) -> None:
        super().__init__(f"{place}: unsupported: {what}" if place else f"unsupported: {what}")
        self.what = what
        self.place = place

    def at(self, place: Place) -> Unsupported:
        """The same, with its place if it had none."""
        return self if self.place is not None else Unsupported(self.what, place)


class Thrown(Exception):
    """An Apex exception on its way up; `value` is the Apex object, `trace` its places from the innermost."""

    def __init__(self, value: Any) -> None:
        super().__init__(f"{value.cls.name}: {value.values.get('message')}")
        self.value = value
        self.trace: list[tuple[str, int]] = []
