"""Expressions of the syntax tree to the internal form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from org_simulator.apex import tree
from org_simulator.apex.lower_soql import query
from org_simulator.apex.raw import Node, constant, line, name, refuse, some, tag, type_name
from org_simulator.apex.tree import Expr, TypeName

_COMPARISONS = {
    "DOUBLE_EQUAL": "==",
    "NOT_EQUAL": "!=",
    "ALT_NOT_EQUAL": "!=",
    "TRIPLE_EQUAL": "===",
    "NOT_TRIPLE_EQUAL": "!==",
    "LESS_THAN": "<",
    "LESS_THAN_EQUAL": "<=",
    "GREATER_THAN": ">",
    "GREATER_THAN_EQUAL": ">=",
    "AND": "&&",
    "OR": "||",
}
_CALCULATIONS = {
    "ADDITION": "+",
    "SUBTRACTION": "-",
    "MULTIPLICATION": "*",
    "DIVISION": "/",
    "AND": "&",
    "OR": "|",
    "XOR": "^",
    "LEFT_SHIFT": "<<",
    "RIGHT_SHIFT": ">>",
    "UNSIGNED_RIGHT_SHIFT": ">>>",
}
_SIGNS = {"NOT": "!", "NEGATIVE": "-", "POSITIVE": "+", "BITWISE_COMPLEMENT": "~"}
_STEPS = {"INC": 1, "DEC": -1}


class LongLiteral(int):
    """A whole number written with an L."""


class Lowering:
    """Of one file; raises Unsupported for nodes that have no place in the internal form."""

    def __init__(self, file: str) -> None:
        self.file = file

    def expr(self, node: Node) -> Expr:
        """One expression."""
        known = _KINDS.get(tag(node).removeprefix("Expr$"))
        if known is None:
            raise refuse(tag(node).removeprefix("Expr$"), node, self.file)
        return known(self, node)

    def maybe(self, node: Any) -> Expr | None:
        """An expression that may be absent."""
        held = some(node)
        return None if held is None else self.expr(held)

    def exprs(self, nodes: Any) -> tuple[Expr, ...]:
        """A list of expressions."""
        return tuple(self.expr(node) for node in some(nodes) or ())

    def type(self, node: Node) -> TypeName:
        """A type as written."""
        return type_name(node, self.file)


def _literal(_to: Lowering, node: Node) -> Expr:
    value = constant(node.get("literal"))
    match constant(node["type"]):
        case "NULL":
            value = None
        case "TRUE" | "FALSE" as flag:
            value = flag == "TRUE"
        case "INTEGER":
            value = int(value)
        case "LONG":
            value = LongLiteral(value)
        case "DECIMAL":
            value = Decimal(str(value))
        case "DOUBLE":
            value = float(value)
        case _:
            value = str(value)
    return tree.Literal(value, line(node))


def _path(to: Lowering, node: Node, names: list[Any], at: int) -> Expr | None:
    """What stands before the last name: `a.b` of `a.b.c`; `?.` binds the first name behind the dotted expression."""
    base = to.maybe(node["dottedExpr"])
    safe = bool(node["isSafeNav"])
    for each in names:
        base = tree.Name(name(each), at) if base is None else tree.Member(base, name(each), safe, at)
        safe = False
    return base


def _variable(to: Lowering, node: Node) -> Expr:
    at = line(node)
    found = _path(to, node, node["names"], at)
    if found is None:
        raise refuse("an empty name", node, to.file)
    return found


def _method_call(to: Lowering, node: Node) -> Expr:
    *before, last = node["names"]
    at = line(node)
    base = _path(to, node, before, at)
    safe = bool(node["isSafeNav"]) and not before
    return tree.Call(base, name(last), to.exprs(node["inputParameters"]), safe, at)


def _new(to: Lowering, node: Node) -> Expr:
    made, at = node["creator"], line(node)
    match tag(made):
        case "NewObject$NewStandard":
            return tree.New(to.type(made["type"]), to.exprs(made["inputParameters"]), at)
        case "NewObject$NewKeyValue":
            fields = tuple((name(each["name"]), to.expr(each["value"])) for each in made["keyValues"])
            return tree.NewRecord(to.type(made["type"]), fields, at)
        case "NewObject$NewListInit" | "NewObject$NewSetInit" | "NewObject$NewMapInit" as kind:
            given = to.maybe(made["expr"])
            return tree.New(_collection(to, made, kind), () if given is None else (given,), at)
        case "NewObject$NewListLiteral" | "NewObject$NewSetLiteral" as kind:
            return tree.NewCollection(_collection(to, made, kind), to.exprs(made["values"]), at)
        case "NewObject$NewMapLiteral" as kind:
            pairs = [(to.expr(each["key"]), to.expr(each["value"])) for each in made["pairs"]]
            return tree.NewCollection(_collection(to, made, kind), tuple(part for pair in pairs for part in pair), at)
        case other:
            raise refuse(other, node, to.file)


def _collection(to: Lowering, made: Node, kind: str) -> TypeName:
    found = next(word for word in ("List", "Set", "Map") if f"New{word}" in kind)
    return TypeName((found,), tuple(to.type(each) for each in made["types"]))


def _prefix(to: Lowering, node: Node) -> Expr:
    op, inner, at = constant(node["op"]), to.expr(node["expr"]), line(node)
    if op in _STEPS:
        return tree.Step(inner, _STEPS[op], prefix=True, line=at)
    if op == "NEGATIVE" and isinstance(inner, tree.Literal) and isinstance(inner.value, int | float | Decimal):
        return tree.Literal(type(inner.value)(-inner.value), at)
    return tree.Unary(_SIGNS[op], inner, at)


def _binary(to: Lowering, node: Node, signs: Mapping[str, str]) -> Expr:
    left = to.expr(node["left"])
    return tree.Binary(signs[constant(node["op"])], left, to.expr(node["right"]), left.line or line(node))


def _assignment(to: Lowering, node: Node) -> Expr:
    op = constant(node["op"]).removesuffix("EQUALS").rstrip("_")
    sign = _CALCULATIONS[op] if op else ""
    target = to.expr(node["left"])
    return tree.Assign(target, sign, to.expr(node["right"]), target.line or line(node))


def _soql(to: Lowering, node: Node) -> Expr:
    text, binds = query(node)
    return tree.Soql(text, tuple(to.expr(bind) for bind in binds), line(node))


_KINDS: dict[str, Callable[[Lowering, Node], Expr]] = {
    "LiteralExpr": _literal,
    "VariableExpr": _variable,
    "MethodCallExpr": _method_call,
    "NewExpr": _new,
    "PrefixExpr": _prefix,
    "PostfixExpr": lambda to, node: tree.Step(
        to.expr(node["expr"]), _STEPS[constant(node["op"])], prefix=False, line=line(node)
    ),
    "BooleanExpr": lambda to, node: _binary(to, node, _COMPARISONS),
    "BinaryExpr": lambda to, node: _binary(to, node, _CALCULATIONS),
    "AssignmentExpr": _assignment,
    "SoqlExpr": _soql,
    "NestedExpr": lambda to, node: to.expr(node["expr"]),
    "ThisVariableExpr": lambda _to, node: tree.This(line(node)),
    "SuperVariableExpr": lambda _to, node: tree.Super(line(node)),
    "ThisMethodCallExpr": lambda to, node: tree.ConstructorCall(
        parent=False, args=to.exprs(node["inputParameters"]), line=line(node)
    ),
    "SuperMethodCallExpr": lambda to, node: tree.ConstructorCall(
        parent=True, args=to.exprs(node["inputParameters"]), line=line(node)
    ),
    "ArrayExpr": lambda to, node: tree.Index(to.expr(node["expr"]), to.expr(node["index"]), line(node)),
    "CastExpr": lambda to, node: tree.Cast(to.type(node["type"]), to.expr(node["expr"]), line(node)),
    "InstanceOf": lambda to, node: tree.InstanceOf(to.expr(node["expr"]), to.type(node["type"]), line(node)),
    "TernaryExpr": lambda to, node: tree.Ternary(
        to.expr(node["condition"]), to.expr(node["trueExpr"]), to.expr(node["falseExpr"]), line(node)
    ),
    "NullCoalescingExpr": lambda to, node: tree.Coalesce(to.expr(node["left"]), to.expr(node["right"]), line(node)),
    "TriggerVariableExpr": lambda _to, node: tree.TriggerVariable(name(node["variable"]).lower(), line(node)),
    "ClassRefExpr": lambda to, node: tree.ClassRef(to.type(node["type"]), line(node)),
}
