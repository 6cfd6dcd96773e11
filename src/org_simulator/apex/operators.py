"""What Apex's operators do, by the values at hand."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from decimal import Context, Decimal
from typing import Any

from org_simulator.apex.faults import Unsupported
from org_simulator.apex.raising import null_pointer, thrown
from org_simulator.apex.records import Record
from org_simulator.apex.texts import text
from org_simulator.apex.types import to_id
from org_simulator.apex.values import (
    INT_BITS,
    LONG_BITS,
    EnumValue,
    Id,
    Instance,
    ListValue,
    Long,
    MapValue,
    Native,
    SetValue,
    key,
    kind_of,
    refuse_own_equality,
    wrap,
)  # fmt: skip

EXACT = Context(prec=60)
QUOTIENT = Context(prec=33)
"""Digits of a Decimal's quotient; the platform's own number of digits is not documented."""

INT_MIN, INT_MAX = -(2**31), 2**31 - 1


def plus(left: Any, right: Any) -> Any:
    """Sum, or text joined with anything; a Date plus an Integer is a later day."""
    if type(left) is int and type(right) is int:
        total = left + right
        return total if INT_MIN <= total <= INT_MAX else wrap(total, INT_BITS)
    if isinstance(left, str) or isinstance(right, str):
        return text(left) + text(right)
    if isinstance(left, date) and not isinstance(left, datetime) and isinstance(right, int):
        return date.fromordinal(left.toordinal() + right)
    return _calculate(int.__add__, EXACT.add, float.__add__, left, right)


def minus(left: Any, right: Any) -> Any:
    """Difference."""
    if type(left) is int and type(right) is int:
        total = left - right
        return total if INT_MIN <= total <= INT_MAX else wrap(total, INT_BITS)
    if isinstance(left, date) and not isinstance(left, datetime) and isinstance(right, int):
        return date.fromordinal(left.toordinal() - right)
    return _calculate(int.__sub__, EXACT.subtract, float.__sub__, left, right)


def times(left: Any, right: Any) -> Any:
    """Product."""
    return _calculate(int.__mul__, EXACT.multiply, float.__mul__, left, right)


def over(left: Any, right: Any) -> Any:
    """Quotient; of whole numbers cut towards zero."""
    if right is not None and right == 0 and type(right) is not float:
        raise thrown("MathException", "Divide by 0")
    return _calculate(whole_quotient, QUOTIENT.divide, _float_quotient, left, right)


def whole_quotient(left: int, right: int) -> int:
    """Division of whole numbers, cut towards zero."""
    found = abs(left) // abs(right)
    return found if (left < 0) == (right < 0) else -found


def _float_quotient(left: float, right: float) -> float:
    if right == 0:
        raise thrown("MathException", "Divide by 0")
    return left / right


def _calculate(
    whole: Callable[..., Any], exact: Callable[..., Any], inexact: Callable[..., Any], left: Any, right: Any
) -> Any:
    """By the wider of the two types: Double, Decimal, Long, Integer; whole numbers wrap around as in Java."""
    if left is None or right is None:
        raise null_pointer()
    kinds = {type(left), type(right)}
    if not kinds <= _NUMBERS:
        raise Unsupported(f"calculation with {kind_of(left)} and {kind_of(right)}")
    if Decimal in kinds:
        return exact(_decimal(left), _decimal(right))
    if float in kinds:
        return inexact(float(left), float(right))
    value = whole(int(left), int(right))
    if Long in kinds:
        return Long(value if -(2**63) <= value < 2**63 else wrap(value, LONG_BITS))
    return value if INT_MIN <= value <= INT_MAX else wrap(value, INT_BITS)


_NUMBERS = {int, Long, Decimal, float}


def _decimal(value: Any) -> Decimal:
    return (
        value
        if isinstance(value, Decimal)
        else Decimal(repr(value))
        if isinstance(value, float)
        else Decimal(int(value))
    )


def bits(op: str) -> Callable[[Any, Any], Any]:
    """`&`, `|`, `^` of Booleans or whole numbers; shifts of whole numbers."""
    work = _BITS[op]

    def calculate(left: Any, right: Any) -> Any:
        if left is None or right is None:
            raise null_pointer()
        if isinstance(left, bool) and isinstance(right, bool) and len(op) == 1:
            return bool(work(left, right, INT_BITS))
        width = LONG_BITS if type(left) is Long or (type(right) is Long and len(op) == 1) else INT_BITS
        value = wrap(work(int(left), int(right), width), width)
        return Long(value) if width == LONG_BITS else value

    return calculate


_BITS: dict[str, Callable[[int, int, int], int]] = {
    "&": lambda left, right, _width: left & right,
    "|": lambda left, right, _width: left | right,
    "^": lambda left, right, _width: left ^ right,
    "<<": lambda left, right, width: left << (right % width),
    ">>": lambda left, right, width: left >> (right % width),
    ">>>": lambda left, right, width: (left & ((1 << width) - 1)) >> (right % width),
}


def negative(value: Any) -> Any:
    """The number with its sign turned."""
    return minus(0, value) if type(value) is not float else -value


def equal(left: Any, right: Any) -> bool:  # noqa: PLR0911 - one per kind of value
    """`==`: texts in any case, ids in either length, collections and records by content, objects by themselves."""
    if left is right:
        return True
    if left is None or right is None:
        return False
    if isinstance(left, str) and isinstance(right, str):
        if type(left) is str and type(right) is str:
            return left.lower() == right.lower()
        return _same_id(left, right)
    match left:
        case ListValue():
            return (
                isinstance(right, ListValue)
                and len(left.items) == len(right.items)
                and all(map(equal, left.items, right.items))
            )
        case SetValue() | MapValue() | Record() | Native():
            return type(left) is type(right) and bool(key(left) == key(right))
        case EnumValue():
            return isinstance(right, EnumValue) and (left.type, left.name) == (right.type, right.name)
        case Instance():
            refuse_own_equality(left)
            return False
        case bool():
            return isinstance(right, bool) and left == right
        case _:
            return type(right) not in {bool, str} and bool(left == right)


def _same_id(left: str, right: str) -> bool:
    try:
        return bool(to_id(left) == to_id(right))
    except ValueError as fault:
        if type(left) is Id and type(right) is Id:
            raise
        raise thrown("StringException", str(fault)) from None


def identical(left: Any, right: Any) -> bool:
    """`===`: the same object; values of primitive types by value, texts by case."""
    if isinstance(left, ListValue | SetValue | MapValue | Record | Instance):
        return left is right
    if isinstance(left, str) and isinstance(right, str):
        return str(left) == str(right)
    return equal(left, right)


def order(left: Any, right: Any) -> int:
    """Negative, zero or positive, for `<` and its kin and for sorting; texts in any case, null first."""
    if left is None or right is None:
        return (left is not None) - (right is not None)
    if isinstance(left, str) and isinstance(right, str):
        one, two = left.lower(), right.lower()
        return (one > two) - (one < two)
    try:
        return int(left > right) - int(left < right)
    except TypeError:
        raise Unsupported(f"an order of {kind_of(left)} and {kind_of(right)}") from None


def less(left: Any, right: Any) -> bool:
    """`<`; false where a number, date or time is null, while null is below every text."""
    return _comparable(left, right) and order(left, right) < 0


def less_equal(left: Any, right: Any) -> bool:
    """`<=`."""
    return _comparable(left, right) and order(left, right) <= 0


def _comparable(left: Any, right: Any) -> bool:
    if left is not None and right is not None:
        return True
    return isinstance(left, str) or isinstance(right, str)
