"""The parser's JSON, read without its wrappings: tagged nodes, optional values, located names."""

from __future__ import annotations

from typing import Any, TypeAlias

from org_simulator.apex.faults import Place, Unsupported
from org_simulator.apex.tree import TypeName

Node: TypeAlias = "dict[str, Any]"


def tag(node: Any) -> str:
    """`Expr$NewExpr` of a node's class name; empty for what is no node."""
    return str(node.get("@class", "")).rpartition(".")[2] if isinstance(node, dict) else ""


def some(node: Any) -> Any:
    """What an optional holds, None for an empty one."""
    if not isinstance(node, dict) or "@class" in node:
        return node
    return some(node["value"]) if "value" in node else None


def name(node: Any) -> str:
    """The text of an identifier."""
    held = some(node)
    return str(held["value"]) if isinstance(held, dict) else str(held)


def constant(node: Any) -> Any:
    """A plain value that the parser wraps in its Java type, such as an operator."""
    return node["$"] if isinstance(node, dict) and "$" in node else node


def line(node: Any) -> int:
    """The line of a node, or of the first part of it that has one; 0 if none has."""
    if isinstance(node, dict):
        found = node.get("loc")
        if isinstance(found, dict) and "line" in found:
            return int(found["line"])
        parts: Any = node.values()
    else:
        parts = node if isinstance(node, list) else ()
    return next((at for part in parts if isinstance(part, dict | list) and (at := line(part))), 0)


def type_name(node: Node, file: str) -> TypeName:
    """A type as written."""
    match tag(node):
        case "TypeRefs$ClassTypeRef":
            path = tuple(name(part) for part in node["names"])
            return TypeName(path, tuple(type_name(each, file) for each in node["typeArguments"]))
        case "TypeRefs$ArrayTypeRef":
            return TypeName(("List",), (type_name(node["heldType"], file),))
        case other:
            raise refuse(other, node, file)


def refuse(what: str, node: Any, file: str) -> Unsupported:
    """This part of the language is not run."""
    return Unsupported(what, Place(file, line(node)))
