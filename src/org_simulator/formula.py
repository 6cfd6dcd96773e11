"""Formulas as closures. Kinds are checked while compiling, as Salesforce does when a formula is saved.

Ids are 15 characters and text comparison tells case apart. A blank text equals the empty text; arithmetic with a blank
number is blank; an ordering with a blank number is false.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from org_simulator import formula_functions
from org_simulator.formula_parser import Call, FormulaFault, Literal, Name, Node, Pair, Sign, parse
from org_simulator.ids import to15

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from org_simulator.changes import Row

__all__ = ["FormulaFault", "Scope", "compile_formula"]

KINDS = {
    "string": "text",
    "textarea": "text",
    "email": "text",
    "phone": "text",
    "url": "text",
    "id": "id",
    "reference": "id",
    "picklist": "picklist",
    "double": "number",
    "int": "number",
    "currency": "number",
    "percent": "number",
    "boolean": "boolean",
    "date": "date",
    "datetime": "datetime",
}
"""Describe type to formula kind."""

USER_FIELDS: Mapping[str, str] = {"Id": "id", "Username": "string", "Email": "email", "LastName": "string"}


@dataclass(slots=True)
class Scope:
    """What a formula may look at: the record with its new values, its original (None if new), who saves, when."""

    new: Row
    old: Row | None
    user: Row
    permissions: frozenset[str]
    now: datetime


Read: TypeAlias = "Callable[[Scope], Any]"


class Compiled(NamedTuple):
    """A closure and the kind of its value; `null` for the literal null."""

    kind: str
    read: Read


@dataclass(frozen=True, slots=True)
class Names:
    """What a formula may name: this object's fields (any case) with their describe types, and custom permissions."""

    fields: Mapping[str, tuple[str, str]]
    permissions: frozenset[str]


def compile_formula(text: str, types: Mapping[str, str], permissions: frozenset[str]) -> Callable[[Scope], bool]:
    """Compile a condition over fields of the given describe types; FormulaFault if Salesforce would refuse it."""
    names = Names({name.lower(): (name, kind) for name, kind in types.items()}, permissions)
    compiled = _compile(parse(text), names)
    _expect(compiled, "boolean", "the formula")
    read = compiled.read
    return lambda scope: bool(read(scope))


def _compile(node: Node, names: Names) -> Compiled:
    match node:
        case Literal(value):
            return _literal(value)
        case Name(path):
            return _name(path, names)
        case Sign(sign, operand):
            return _sign(sign, _compile(operand, names))
        case Pair(sign, left, right):
            return _pair(sign, _compile(left, names), _compile(right, names))
        case Call():
            return _call(node, names)


def _literal(value: str | float | bool | None) -> Compiled:
    match value:
        case None:
            kind = "null"
        case bool():
            kind = "boolean"
        case str():
            kind = "text"
        case _:
            kind = "number"
    return Compiled(kind, lambda _scope: value)


def _name(path: str, names: Names) -> Compiled:
    root, _, rest = path.partition(".")
    match root.lower():
        case "$permission":
            if rest not in names.permissions:
                raise FormulaFault(f"Field {path} does not exist. Check spelling.")
            return Compiled("boolean", lambda scope: rest in scope.permissions)
        case "$user":
            known = {name.lower(): name for name in USER_FIELDS}
            if rest.lower() not in known:
                raise FormulaFault(f"Field {path} does not exist. Check spelling.")
            name = known[rest.lower()]
            return _column(name, KINDS[USER_FIELDS[name]], lambda scope: scope.user)
        case _:
            name, kind = _field(path, names)
            return _column(name, kind, lambda scope: scope.new)


def _field(path: str, names: Names) -> tuple[str, str]:
    found = names.fields.get(path.lower())
    if found is None:
        raise FormulaFault(f"Field {path} does not exist. Check spelling.")
    name, described = found
    if described not in KINDS:
        raise FormulaFault(f"{path}: fields of type {described} cannot be used in a formula")
    return name, KINDS[described]


def _column(name: str, kind: str, row_of: Callable[[Scope], Row]) -> Compiled:
    if kind != "id":
        return Compiled(kind, lambda scope: row_of(scope).get(name))

    def read_id(scope: Scope) -> str | None:
        value = row_of(scope).get(name)
        return value if value is None else to15(value)

    return Compiled("text", read_id)


def _prior_value(path: str, names: Names) -> Compiled:
    name, kind = _field(path, names)
    return _column(name, kind, lambda scope: scope.new if scope.old is None else scope.old)


def _is_changed(path: str, names: Names) -> Compiled:
    name, _ = _field(path, names)

    def changed(scope: Scope) -> bool:
        if scope.old is None:
            return False
        before, after = scope.old.get(name), scope.new.get(name)
        return bool(before != after and not (before in {None, ""} and after in {None, ""}))

    return Compiled("boolean", changed)


def _sign(sign: str, operand: Compiled) -> Compiled:
    read = operand.read
    if sign == "!":
        _expect(operand, "boolean", "operator '!'")
        return Compiled("boolean", lambda scope: not read(scope))
    _expect(operand, "number", f"operator '{sign}'")
    if sign == "+":
        return operand
    return Compiled("number", lambda scope: None if (value := read(scope)) is None else -value)


_ORDER: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}
_ARITHMETIC: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": lambda left, right: None if right == 0 else left / right,
    "^": operator.pow,
}


def _pair(sign: str, left: Compiled, right: Compiled) -> Compiled:
    match sign:
        case "||" | "&&":
            return _applied("OR" if sign == "||" else "AND", [left, right])
        case "=" | "<>":
            return _equal(left, right, wanted=sign == "=")
        case "&":
            return _joined(sign, left, right)
        case "+" if "text" in {left.kind, right.kind}:
            return _joined(sign, left, right)
        case "<" | ">" | "<=" | ">=":
            return _ordered(sign, left, right)
        case _:
            return _calculated(sign, left, right)


def _equal(left: Compiled, right: Compiled, *, wanted: bool) -> Compiled:
    kind = _common_kind(left, right)
    one, two = left.read, right.read
    if kind == "text":
        return Compiled("boolean", lambda scope: ((one(scope) or "") == (two(scope) or "")) is wanted)
    if kind == "boolean":
        return Compiled("boolean", lambda scope: (bool(one(scope)) == bool(two(scope))) is wanted)
    return Compiled("boolean", lambda scope: (one(scope) == two(scope)) is wanted)


def _ordered(sign: str, left: Compiled, right: Compiled) -> Compiled:
    kind = _common_kind(left, right)
    if kind not in {"number", "date", "datetime"}:
        raise FormulaFault(f"Incorrect parameter type for operator '{sign}'. Expected Number, Date, received {kind}")
    one, two, compare = left.read, right.read, _ORDER[sign]

    def ordered(scope: Scope) -> bool:
        before, after = one(scope), two(scope)
        return before is not None and after is not None and compare(before, after)

    return Compiled("boolean", ordered)


def _joined(sign: str, left: Compiled, right: Compiled) -> Compiled:
    for operand in (left, right):
        _expect(operand, "text", f"operator '{sign}'")
    one, two = left.read, right.read
    return Compiled("text", lambda scope: (one(scope) or "") + (two(scope) or ""))


def _calculated(sign: str, left: Compiled, right: Compiled) -> Compiled:
    for operand in (left, right):
        _expect(operand, "number", f"operator '{sign}'")
    one, two, calculate = left.read, right.read, _ARITHMETIC[sign]

    def calculated(scope: Scope) -> Any:
        before, after = one(scope), two(scope)
        return None if before is None or after is None else calculate(before, after)

    return Compiled("number", calculated)


def _common_kind(left: Compiled, right: Compiled) -> str:
    kinds = {left.kind, right.kind} - {"null"}
    if "picklist" in kinds:
        raise FormulaFault("Picklist fields are only supported in certain functions.")
    if len(kinds) > 1:
        raise FormulaFault(f"Incorrect parameter type for comparison. Expected {left.kind}, received {right.kind}")
    return kinds.pop() if kinds else "null"


def _expect(compiled: Compiled, kind: str, where: str) -> None:
    if compiled.kind not in {kind, "null"}:
        raise FormulaFault(f"Incorrect parameter type for {where}. Expected {kind}, received {compiled.kind}")


def _call(call: Call, names: Names) -> Compiled:
    match call.function, call.arguments:
        case "ISNEW", ():
            return Compiled("boolean", lambda scope: scope.old is None)
        case "ISCHANGED", (Name(path),):
            return _is_changed(path, names)
        case "PRIORVALUE", (Name(path),):
            return _prior_value(path, names)
        case ("ISNEW" | "ISCHANGED" | "PRIORVALUE") as function, _:
            raise FormulaFault(f"Incorrect parameters for function '{function}()'")
        case function, arguments:
            return _applied(function, [_compile(argument, names) for argument in arguments])


def _applied(function: str, arguments: list[Compiled]) -> Compiled:
    """A function that needs no field name: its kinds are checked against the table, its arguments read one by one."""
    known = formula_functions.TABLE.get(function)
    if known is None:
        raise FormulaFault(f"Unknown function {function}. Check spelling.")
    kind = known.check([argument.kind for argument in arguments], function)
    return Compiled(kind, known.build([argument.read for argument in arguments]))
