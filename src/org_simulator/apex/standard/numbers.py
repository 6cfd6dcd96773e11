"""Integer, Long, Decimal, Double, Boolean and Math."""

from __future__ import annotations

import math
from decimal import (
    ROUND_CEILING,
    ROUND_DOWN,
    ROUND_FLOOR,
    ROUND_HALF_DOWN,
    ROUND_HALF_EVEN,
    ROUND_HALF_UP,
    ROUND_UP,
    Decimal,
)
from typing import Any

from org_simulator.apex import operators
from org_simulator.apex.conversion import number
from org_simulator.apex.faults import Unsupported
from org_simulator.apex.platform import constant, method, static
from org_simulator.apex.raising import null_pointer, thrown
from org_simulator.apex.types import to_decimal, to_double
from org_simulator.apex.values import EnumValue, Long

INT_DIGITS = 31
LONG_DIGITS = 63


def _whole(kind: str, value: Any, bits: int) -> int:
    """A whole number of a text or a number; TypeException for text that is none."""
    if value is None:
        raise thrown("NullPointerException", "Argument cannot be null.")
    if not isinstance(value, str):
        return int(value)
    try:
        found = int(value)
    except ValueError:
        raise thrown("TypeException", f"Invalid {kind}: {value}") from None
    if not -(2**bits) <= found < 2**bits:
        raise thrown("TypeException", f"Invalid {kind}: {value}")
    return found


@static("Integer.valueOf", "Integer", 1)
def integer_value_of(_session: Any, value: Any) -> Any:
    return number(_whole("integer", value, INT_DIGITS), "Integer")


@static("Long.valueOf", "Long", 1)
def long_value_of(_session: Any, value: Any) -> Any:
    return Long(_whole("long", value, LONG_DIGITS))


@static("Decimal.valueOf", "Decimal", 1)
def decimal_value_of(_session: Any, value: Any) -> Any:
    if value is None:
        raise null_pointer()
    if not isinstance(value, str):
        return to_decimal(value)
    try:
        found = Decimal(value.strip())
    except ArithmeticError:
        raise thrown("TypeException", f"Invalid decimal: {value}") from None
    return found


@static("Double.valueOf", "Double", 1)
def double_value_of(_session: Any, value: Any) -> Any:
    if value is None:
        raise null_pointer()
    try:
        return float(value) if isinstance(value, str) else to_double(value)
    except ValueError:
        raise thrown("TypeException", f"Invalid double: {value}") from None


@static("Boolean.valueOf", "Boolean", 1)
def boolean_value_of(_session: Any, value: Any) -> bool:
    return value if isinstance(value, bool) else str(value).lower() == "true"


@method("Integer.format|Long.format|Decimal.format|Double.format", "String")
def format_(_session: Any, value: Any) -> str:
    """Digits in groups of three, as in the locale en_US."""
    return f"{value:,}"


@method("Integer.intValue|Long.intValue|Decimal.intValue|Double.intValue", "Integer")
def int_value(_session: Any, value: Any) -> Any:
    return number(value, "Integer")


@method("Integer.longValue|Decimal.longValue|Double.longValue", "Long")
def long_value(_session: Any, value: Any) -> Any:
    return number(value, "Long")


@method("Decimal.doubleValue", "Double")
def double_value(_session: Any, value: Decimal) -> float:
    return float(value)


@method("Decimal.scale", "Integer")
def scale(_session: Any, value: Decimal) -> int:
    return max(-int(value.as_tuple().exponent), 0)


@method("Decimal.precision", "Integer")
def precision(_session: Any, value: Decimal) -> int:
    return len(value.as_tuple().digits)


_ROUNDINGS = {
    "UP": ROUND_UP,
    "DOWN": ROUND_DOWN,
    "CEILING": ROUND_CEILING,
    "FLOOR": ROUND_FLOOR,
    "HALF_UP": ROUND_HALF_UP,
    "HALF_DOWN": ROUND_HALF_DOWN,
    "HALF_EVEN": ROUND_HALF_EVEN,
}
for _place, _name in enumerate(_ROUNDINGS):
    constant(
        f"RoundingMode.{_name}",
        "Object",
        lambda _name=_name, _place=_place: EnumValue("RoundingMode", _name, _place),  # type: ignore[misc]
    )


@method("Decimal.setScale", "Decimal", 1, 2)
def set_scale(_session: Any, value: Decimal, digits: int, mode: EnumValue | None = None) -> Decimal:
    """Half up, unless a mode is given."""
    rounding = ROUND_HALF_UP if mode is None else _ROUNDINGS[mode.name]
    return value.quantize(Decimal(1).scaleb(-digits), rounding=rounding, context=operators.EXACT)


@method("Decimal.round|Double.round", "Long", 0, 1)
def round_(_session: Any, value: Any, mode: EnumValue | None = None) -> Long:
    """Halves to the even neighbour, unless a mode is given (Decimal.round); a Double's away from zero."""
    rounding = _ROUNDINGS[mode.name] if mode else ROUND_HALF_EVEN if isinstance(value, Decimal) else ROUND_HALF_UP
    return Long(to_decimal(value).quantize(Decimal(1), rounding=rounding, context=operators.EXACT))


@method("Decimal.abs|Double.abs", "This")
@static("Math.abs", "Object", 1)
def abs_(_session: Any, value: Any) -> Any:
    return operators.negative(value) if value < 0 else value


@method("Decimal.stripTrailingZeros", "Decimal")
def strip_trailing_zeros(_session: Any, value: Decimal) -> Decimal:
    return value.normalize(operators.EXACT)


@method("Decimal.toPlainString", "String")
def to_plain_string(_session: Any, value: Decimal) -> str:
    return format(value, "f")


@method("Decimal.divide", "Decimal", 2, 3)
def divide(session: Any, value: Decimal, by: Any, digits: int, mode: EnumValue | None = None) -> Decimal:
    return set_scale(session, operators.EXACT.divide(value, to_decimal(by)), digits, mode)


# ---- Math -----------------------------------------------------------------------------------------------------------


@static("Math.max", "Object", 2)
def max_(_session: Any, one: Any, two: Any) -> Any:
    return _wider(one, two, max(one, two))


@static("Math.min", "Object", 2)
def min_(_session: Any, one: Any, two: Any) -> Any:
    return _wider(one, two, min(one, two))


def _wider(one: Any, two: Any, value: Any) -> Any:
    kinds = {type(one), type(two)}
    wide = "Double" if float in kinds else "Decimal" if Decimal in kinds else "Long" if Long in kinds else "Integer"
    return number(value, wide)


@static("Math.mod", "Object", 2)
def mod(_session: Any, value: Any, by: Any) -> Any:
    """The rest, with the sign of the dividend."""
    if by == 0:
        raise thrown("MathException", "Divide by 0")
    if isinstance(value, Decimal | float) or isinstance(by, Decimal | float):
        raise Unsupported("Math.mod of numbers that are not whole")
    return _wider(value, by, abs(value) % abs(by) * (-1 if value < 0 else 1))


@static("Math.floor", "Object", 1)
def floor(_session: Any, value: Any) -> Any:
    return Decimal(math.floor(value)) if not isinstance(value, float) else float(math.floor(value))


@static("Math.ceil", "Object", 1)
def ceil(_session: Any, value: Any) -> Any:
    return Decimal(math.ceil(value)) if not isinstance(value, float) else float(math.ceil(value))


@static("Math.round", "Object", 1)
def math_round(_session: Any, value: Any) -> Any:
    """Half up to an Integer for a Decimal (half even there), to a Long for a Double."""
    if isinstance(value, Decimal):
        return number(value.quantize(Decimal(1), rounding=ROUND_HALF_EVEN), "Integer")
    return Long(math.floor(value + 0.5))


@static("Math.roundToLong", "Long", 1)
def round_to_long(session: Any, value: Any) -> Long:
    return round_(session, value)


@static("Math.signum", "Object", 1)
def signum(_session: Any, value: Any) -> Any:
    return number((value > 0) - (value < 0), "Double" if isinstance(value, float) else "Decimal")


@static("Math.pow", "Double", 2)
def pow_(_session: Any, base: Any, exponent: Any) -> float:
    return math.pow(base, exponent)


@static("Math.sqrt", "Double", 1)
def sqrt(_session: Any, value: Any) -> float:
    return math.sqrt(value)


@static("Math.log10", "Double", 1)
def log10(_session: Any, value: Any) -> float:
    return math.log10(value)


@static("Math.random", "Double")
def random(session: Any) -> float:
    return float(session.org.dice.random())


constant("Integer.MAX_VALUE", "Integer", lambda: 2**31 - 1)
constant("Integer.MIN_VALUE", "Integer", lambda: -(2**31))
constant("Long.MAX_VALUE", "Long", lambda: Long(2**63 - 1))
constant("Long.MIN_VALUE", "Long", lambda: Long(-(2**63)))
