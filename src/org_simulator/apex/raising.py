"""Apex exceptions from inside the interpreter, in the platform's words."""

from __future__ import annotations

from typing import Any

from org_simulator.apex.classes import EXCEPTIONS
from org_simulator.apex.faults import Thrown
from org_simulator.apex.values import Instance

NULL = "Attempt to de-reference a null object"


def thrown(kind: str, message: str, extra: Any = None) -> Thrown:
    """An exception of the platform: `kind` such as "QueryException"."""
    value = Instance(EXCEPTIONS[kind.lower()])
    value.values["message"] = message
    value.extra = extra
    return Thrown(value)


def null_pointer() -> Thrown:
    """Something was asked of null."""
    return thrown("NullPointerException", NULL)


def is_limit(fault: Thrown) -> bool:
    """Whether no Apex code may catch it: governor limits and failed assertions."""
    return fault.value.cls.name in {"LimitException", "AssertException"}
