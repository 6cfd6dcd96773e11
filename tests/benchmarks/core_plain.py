"""The rules of the core benchmark as Python has them, written by hand: what matching is measured against."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

Condition: TypeAlias = Callable[[Mapping[str, Any]], bool]
PLAIN = (
    "Country == 'C{n}' and AnnualRevenue >= {n}000",
    "Country in ('C{n}', 'D{n}', 'E{n}') and LeadSource != 'Partner'",
    "Email.endswith('@company{n}.example')",
    "(Industry == 'I{n}' or Industry == 'J{n}') and NumberOfEmployees > {n}",
    "State == 'S{n}' and CreatedDate > '{n}'",
)
"""The same conditions as Python has them."""


def compiled(rules: int, first: int) -> None:
    """Compile so many conditions, those of rule `first` and after."""
    for n in range(first, first + rules):
        compile(PLAIN[n % len(PLAIN)].format(n=n), "rule", "eval")


def function(n: int) -> Condition:
    """The condition of rule `n` as a function of a lead's fields."""
    among = (f"C{n}", f"D{n}", f"E{n}")
    functions: tuple[Condition, ...] = (
        lambda of: of["Country"] == f"C{n}" and of["AnnualRevenue"] >= n * 1000,
        lambda of: of["Country"] in among and of["LeadSource"] != "Partner",
        lambda of: of["Email"].endswith(f"@company{n}.example"),
        lambda of: (of["Industry"] == f"I{n}" or of["Industry"] == f"J{n}") and of["NumberOfEmployees"] > n,
        lambda of: of["State"] == f"S{n}" and of["CreatedDate"] > str(n),
    )
    return functions[n % len(functions)]


def first(plain: Sequence[Condition], fields: Mapping[str, Any]) -> int | None:
    """Which of them the lead meets first."""
    return next((number for number, met in enumerate(plain) if met(fields)), None)
