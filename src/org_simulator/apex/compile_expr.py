"""Expressions to closures over a frame; names are found once, here."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from org_simulator.apex import compile_calls, compile_make, compile_names, operators, tree
from org_simulator.apex.classes import Frame, Read
from org_simulator.apex.conversion import cast, is_instance
from org_simulator.apex.lower_expr import LongLiteral
from org_simulator.apex.raising import null_pointer, thrown
from org_simulator.apex.scope import Code, Scope
from org_simulator.apex.types import BOOLEAN, DECIMAL, DOUBLE, INTEGER, LONG, OBJECT, STRING, Type
from org_simulator.apex.values import ListValue, Long, Native

if TYPE_CHECKING:
    from org_simulator.apex.tree import Expr


def compile_expr(expr: Expr, scope: Scope) -> Code:
    """One expression; raises Unsupported with its place."""
    return _KINDS[type(expr)](expr, scope)


def _literal(expr: tree.Literal, _scope: Scope) -> Code:
    value: Any = Long(expr.value) if isinstance(expr.value, LongLiteral) else expr.value
    kinds: dict[type, Type] = {str: STRING, bool: BOOLEAN, int: INTEGER, Long: LONG, Decimal: DECIMAL, float: DOUBLE}
    return Code(lambda _frame: value, kinds.get(type(value), OBJECT))


def _this(expr: tree.This, scope: Scope) -> Code:
    if scope.static:
        raise scope.refuse("`this` where there is no object", expr.line)
    return Code(lambda frame: frame[1], Type(scope.cls.name, cls=scope.cls))


def _index(expr: tree.Index, scope: Scope) -> Code:
    base, index = scope.link(expr.base), scope.expr(expr.index)
    of, at = base.read, index.read

    def read(frame: Frame) -> Any:
        return element(of(frame), at(frame))

    return Code(read, base.type.args[0] if base.type.args else OBJECT)


def element(value: Any, index: Any) -> Any:
    """An element of a list."""
    if value is None or index is None:
        raise null_pointer()
    items = value.items
    if not 0 <= index < len(items):
        raise thrown("ListException", f"List index out of bounds: {index}")
    return items[index]


def _cast(expr: tree.Cast, scope: Scope) -> Code:
    wanted, inner = scope.type(expr.type, expr.line), scope.expr(expr.inner)
    read = inner.read
    return Code(lambda frame: cast(read(frame), wanted), wanted)


def _instance_of(expr: tree.InstanceOf, scope: Scope) -> Code:
    wanted, read = scope.type(expr.type, expr.line), scope.expr(expr.inner).read
    return Code(lambda frame: is_instance(read(frame), wanted), BOOLEAN, sure=True)


def _ternary(expr: tree.Ternary, scope: Scope) -> Code:
    condition = truth(scope.expr(expr.condition))
    yes, no = scope.expr(expr.yes), scope.expr(expr.no)
    one, two = yes.read, no.read
    kind = common(yes.type, no.type)
    if kind in {DECIMAL, LONG, DOUBLE} and yes.type != no.type:
        one, two = compile_names.assigned(one, kind), compile_names.assigned(two, kind)
    return Code(lambda frame: one(frame) if condition(frame) else two(frame), kind)


def _coalesce(expr: tree.Coalesce, scope: Scope) -> Code:
    left, right = scope.expr(expr.left), scope.expr(expr.right)
    one, two = left.read, right.read

    def read(frame: Frame) -> Any:
        value = one(frame)
        if (
            isinstance(value, ListValue)
            and value.queried
            and left.type.name == "List"
            and isinstance(expr.left, tree.Soql)
        ):
            return value if value.items else two(frame)
        return two(frame) if value is None else value

    return Code(read, left.type if left.type != OBJECT else right.type)


def common(left: Type, right: Type) -> Type:
    """The type that holds both; Object where that is not plain."""
    if right in {left, OBJECT}:
        return left
    if left == OBJECT:
        return right
    wide = [DOUBLE, DECIMAL, LONG, INTEGER]
    if left in wide and right in wide:
        return wide[min(wide.index(left), wide.index(right))]
    return OBJECT


def truth(code: Code) -> Read:
    """A condition or a number to work with: null is an error, as in Apex."""
    read = code.read
    if code.sure:
        return read

    def asked(frame: Frame) -> Any:
        value = read(frame)
        if value is None:
            raise null_pointer()
        return value

    return asked


def _unary(expr: tree.Unary, scope: Scope) -> Code:
    inner = scope.expr(expr.inner)
    read = truth(inner)
    match expr.op:
        case "!":
            return Code(lambda frame: not read(frame), BOOLEAN, sure=True)
        case "-":
            return Code(lambda frame: operators.negative(read(frame)), inner.type)
        case "+":
            return Code(read, inner.type)
        case _:
            flip = operators.bits("^")
            return Code(lambda frame: flip(read(frame), -1), inner.type)


def _binary(expr: tree.Binary, scope: Scope) -> Code:
    left, right = scope.expr(expr.left), scope.expr(expr.right)
    kind = _result(expr.op, left.type, right.type)
    return Code(joined(expr.op, left, right), kind, sure=kind == BOOLEAN and expr.op not in {"&", "|", "^"})


def _result(op: str, left: Type, right: Type) -> Type:
    if op in _ASKING or op in {"&&", "||"}:
        return BOOLEAN
    if op == "+" and STRING in {left, right}:
        return STRING
    return common(left, right) if OBJECT not in {left, right} else OBJECT


def joined(op: str, first: Code, second: Code) -> Read:
    """Both operands and what the operator makes of them."""
    if op == "&&":
        left, right = truth(first), truth(second)
        return lambda frame: left(frame) and right(frame)
    if op == "||":
        left, right = truth(first), truth(second)
        return lambda frame: left(frame) or right(frame)
    one, two = first.read, second.read
    work = _ASKING.get(op) or _CALCULATING.get(op) or operators.bits(op)
    return lambda frame: work(one(frame), two(frame))


_ASKING: dict[str, Callable[[Any, Any], Any]] = {
    "==": operators.equal,
    "!=": lambda left, right: not operators.equal(left, right),
    "===": operators.identical,
    "!==": lambda left, right: not operators.identical(left, right),
    "<": operators.less,
    "<=": operators.less_equal,
    ">": lambda left, right: operators.less(right, left),
    ">=": lambda left, right: operators.less_equal(right, left),
}
_CALCULATING: dict[str, Callable[[Any, Any], Any]] = {
    "+": operators.plus,
    "-": operators.minus,
    "*": operators.times,
    "/": operators.over,
}


def _assign(expr: tree.Assign, scope: Scope) -> Code:
    value = scope.expr(expr.value)
    if not expr.op:
        return compile_names.store(expr.target, value, scope)
    before = scope.expr(expr.target)
    after = joined(expr.op, before, value)
    return compile_names.store(expr.target, Code(after, before.type), scope)


def _step(expr: tree.Step, scope: Scope) -> Code:
    before = scope.expr(expr.target)
    read, by = truth(before), expr.by
    stored = compile_names.store(expr.target, Code(lambda frame: operators.plus(read(frame), by), before.type), scope)
    if expr.prefix:
        return stored
    work = stored.read

    def step(frame: Frame) -> Any:
        value = read(frame)
        work(frame)
        return value

    return Code(step, before.type)


def _trigger_variable(expr: tree.TriggerVariable, scope: Scope) -> Code:
    name = expr.name
    if name not in _TRIGGER:
        raise scope.refuse(f"Trigger.{name}", expr.line)
    kind = scope.hint(_TRIGGER[name])
    return Code(lambda frame: frame[0].trigger_variable(name), kind)


_TRIGGER = {
    "new": "List<SObject>",
    "old": "List<SObject>",
    "newmap": "Map<Id, SObject>",
    "oldmap": "Map<Id, SObject>",
    "size": "Integer",
    "operationtype": "TriggerOperation",
    **dict.fromkeys(
        ("isinsert", "isupdate", "isdelete", "isundelete", "isbefore", "isafter", "isexecuting"), "Boolean"
    ),
}


def _class_ref(expr: tree.ClassRef, scope: Scope) -> Code:
    value = Native("Type", str(scope.type(expr.type, expr.line)))
    return Code(lambda _frame: value, Type("Type"))


_KINDS: dict[type, Callable[[Any, Scope], Code]] = {
    tree.Literal: _literal,
    tree.Name: compile_names.name,
    tree.Member: compile_names.member,
    tree.Call: compile_calls.call,
    tree.ConstructorCall: compile_calls.constructor_call,
    tree.This: _this,
    tree.Index: _index,
    tree.New: compile_make.new,
    tree.NewRecord: compile_make.record,
    tree.NewCollection: compile_make.collection,
    tree.Cast: _cast,
    tree.InstanceOf: _instance_of,
    tree.Ternary: _ternary,
    tree.Coalesce: _coalesce,
    tree.Unary: _unary,
    tree.Binary: _binary,
    tree.Assign: _assign,
    tree.Step: _step,
    tree.Soql: compile_make.soql,
    tree.TriggerVariable: _trigger_variable,
    tree.ClassRef: _class_ref,
}
