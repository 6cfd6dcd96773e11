"""The register of what the platform's own types offer: methods of values, static methods, and constants."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Offer:
    """A method: `call(session, receiver, *args)`, of a static one `call(session, *args)`.

    `result` is a type as written, in which T, K and V stand for the receiver's arguments; `takes` how many arguments.
    """

    call: Callable[..., Any]
    result: str
    takes: tuple[int, ...]


METHODS: dict[str, dict[str, Offer]] = {}
STATICS: dict[str, dict[str, Offer]] = {}
CONSTANTS: dict[str, tuple[Callable[[], Any], str]] = {}
"""By `type.name` in lower case: what makes the value, and its type."""

ABOVE = {
    "id": "string",
    "long": "integer",
    "enum": "object",
    **dict.fromkeys(
        ("statuscode", "logginglevel", "triggeroperation", "displaytype", "parentjobresult", "roundingmode"), "enum"
    ),
    "exception": "object",
}
"""Where a method is looked for next; all ends with Object."""


def method(names: str, result: str = "Object", *takes: int) -> Callable[[_Function], _Function]:
    """Register a method under one or more names, `String.length` or `List.add|Set.add`."""

    def register(function: _Function) -> _Function:
        for each in names.split("|"):
            owner, _, name = each.rpartition(".")
            METHODS.setdefault(owner.lower(), {})[name.lower()] = Offer(function, result, takes or (0,))
        return function

    return register


def static(names: str, result: str = "Object", *takes: int) -> Callable[[_Function], _Function]:
    """Register a static method under one or more names, `Math.abs`; `System.` before a type is left out."""

    def register(function: _Function) -> _Function:
        for each in names.split("|"):
            owner, _, name = each.rpartition(".")
            STATICS.setdefault(owner.lower(), {})[name.lower()] = Offer(function, result, takes or (0,))
        return function

    return register


def constant(names: str, result: str, make: Callable[[], Any]) -> None:
    """Register a constant, `LoggingLevel.ERROR`."""
    for each in names.split("|"):
        CONSTANTS[each.lower()] = (make, result)


def offered(kind: str, name: str) -> Offer | None:
    """A method of a type or of one above it; both names in lower case."""
    at = kind
    while True:
        found = METHODS.get(at, {}).get(name)
        if found is not None:
            return found
        if at == "object":
            return None
        at = ABOVE.get(at, "object")
