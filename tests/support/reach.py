"""How much hangs on an object: what a loop keeps from one step to the next can be counted."""

from __future__ import annotations

import gc
import logging
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any
from weakref import ReferenceType

_BEYOND = (
    *(ModuleType, FunctionType, BuiltinFunctionType, type),  # code, and by its globals the whole program
    logging.Logger,  # below it are the test run's own records
    ReferenceType,  # keeps nothing; a connection clears its dead ones away by the hundred
)


def reached(*roots: object) -> int:
    """How many objects can be reached from these; not code, and nothing of a simulated org."""
    gc.collect()
    seen: dict[int, Any] = {}
    ahead = list(roots)
    while ahead:
        one = ahead.pop()
        if id(one) not in seen and _counts(one):
            seen[id(one)] = one
            ahead.extend(gc.get_referents(one))
    return len(seen)


def _counts(one: object) -> bool:
    return not isinstance(one, _BEYOND) and not type(one).__module__.startswith("org_simulator")
