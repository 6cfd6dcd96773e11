"""Which Avro schemas a body may be read with: those by which no body can take more than it weighs. Pure.

The reader is compiled code: it follows a schema that holds itself as deep as the body says, until the process dies,
and fills an array of items that take no byte as long as the body claims. No event of Salesforce needs either.
"""

from __future__ import annotations

from typing import Any, Final

DEPTH_MAX = 32
_EMPTY: Final = "null"
_RECORDS: Final = frozenset({"record", "error"})


def least_bytes(kind: Any) -> int:
    """How many bytes a value takes at least; raises ValueError for what must not be read.

    Of a schema that is malformed it may also raise TypeError or KeyError, or say nothing.
    """
    return _least(kind, {}, 0)


def _least(kind: Any, known: dict[str, int | None], depth: int) -> int:
    """`known` are the named types so far, those still open without a size; a name counts without its namespace."""
    if depth > DEPTH_MAX:
        raise ValueError("nested too deep")
    if isinstance(kind, list):
        for branch in kind:
            _least(branch, known, depth + 1)
        return 1
    if isinstance(kind, str):
        size = known.get(_short(kind), 0 if kind == _EMPTY else 1)
        if size is None:
            raise ValueError("a type that holds itself")
        return size
    return _compound(kind, known, depth + 1)


def _compound(kind: Any, known: dict[str, int | None], depth: int) -> int:
    match kind["type"]:
        case "array":
            if _least(kind["items"], known, depth) == 0:
                raise ValueError("an array of items without a size")
            return 1
        case "map":
            _least(kind["values"], known, depth)
            return 1
        case "enum":
            known[_short(kind["name"])] = 1
            return 1
        case "fixed":
            known[_short(kind["name"])] = size = int(kind["size"])
            return size
        case str(word) if word in _RECORDS:
            name = _short(kind["name"])
            known[name] = None
            known[name] = size = sum(_least(field["type"], known, depth) for field in kind["fields"])
            return size
        case inner:
            return _least(inner, known, depth)


def _short(name: str) -> str:
    return name.rpartition(".")[2]
