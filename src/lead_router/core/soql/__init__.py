"""SOQL WHERE clauses: one grammar for rules, members, the definition of unassigned, and the simulated org's queries."""

from lead_router.core.soql.criteria import Criteria, compile_where
from lead_router.core.soql.parser import parse
from lead_router.core.soql.tree import (
    And,
    Boolean,
    Compare,
    Day,
    Expr,
    In,
    Includes,
    Instant,
    Not,
    Null,
    Number,
    Or,
    Relative,
    Text,
    Value,
    pinned,
)

__all__ = [
    "And",
    "Boolean",
    "Compare",
    "Criteria",
    "Day",
    "Expr",
    "In",
    "Includes",
    "Instant",
    "Not",
    "Null",
    "Number",
    "Or",
    "Relative",
    "Text",
    "Value",
    "compile_where",
    "parse",
    "pinned",
]
