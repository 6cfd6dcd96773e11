"""`make fuzz`: the criteria parser under coverage-guided fuzzing, for as long as it is given.

Every input must give a result or one clear error with its position: no other exception, no hang, and a clause that is
accepted must answer for every lead, whatever its values.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import Any

import atheris

with atheris.instrument_imports():
    from lead_router.core.soql import compile_where
    from lead_router.errors import BadCriteria
    from lead_router.rulefiles.broader import reach, takers

TYPES = {
    "Name": "string",
    "Email": "email",
    "Revenue__c": "currency",
    "IsConverted": "boolean",
    "Born__c": "date",
    "CreatedDate": "datetime",
    "Tags__c": "multipicklist",
    "OwnerId": "reference",
    "Owner.Type": "string",
    "Where__c": "location",
}
LEADS: tuple[dict[str, Any], ...] = (
    {},
    {
        "Name": "Jos\u00e9 \U0001f600\n%_",
        "Email": "a@b.example",
        "Revenue__c": 1e300,
        "IsConverted": True,
        "Born__c": "2024-02-29",
        "CreatedDate": "2026-01-31T08:00:00.000+0000",
        "Tags__c": "A;B",
        "OwnerId": "005000000000001AAA",
        "Owner": {"Type": "Queue"},
    },
    {
        "Name": 7,
        "Revenue__c": "x",
        "IsConverted": "",
        "Born__c": 0,
        "CreatedDate": "never",
        "Tags__c": [],
        "Owner": None,
    },
)
AT = datetime(2026, 3, 29, 1, 30, tzinfo=UTC)
# fmt: off
PIECES = (
    *TYPES, *"()=<>,'\"\\ ", "<=", ">=", "!=", "<>", " AND ", " OR ", " NOT ", "NOT ", " IN ", " LIKE ", " INCLUDES ",
    " EXCLUDES ", "NULL", "TRUE", "FALSE", "TODAY", "LAST_N_DAYS:", "NEXT_N_YEARS:9999", "THIS_FISCAL_YEAR",
    "2026-02-30", "1700-01-01", "4000-12-31", "2026-01-31T08:00:00Z", "+14:00", "'A%'", "'_'", "'\\n'", "'\\%'", "1.5",
    "-0", "9" * 40,
)


OPERATORS = ("=", "!=", "<>", "<", "<=", ">", ">=", " LIKE ", " IN ", " NOT IN ", " INCLUDES ", " EXCLUDES ")
VALUES = (
    "'A'", "'a%'", "'_b'", "''", "'A;B'", "'005000000000001'", "1", "-1.5", ".5", "1e5", "TRUE", "FALSE", "NULL",
    "TODAY", "LAST_N_DAYS:3", "NEXT_N_QUARTERS:9999", "THIS_WEEK", "LAST_90_DAYS", "2026-01-31", "9999-12-31",
    "0001-01-01", "2026-03-29T01:30:00+02:00", "2026-03-29T01:30:00.123456Z",
)
# fmt: on
JOINTS = (" AND ", " OR ", " AND (", " OR (", ")", ") AND ", " AND (NOT ", "")


def one_input(raw: bytes) -> None:
    """Texts as they come, or the grammar's pieces in any order, or conditions that are nearly right."""
    provider = atheris.FuzzedDataProvider(raw)
    match provider.ConsumeIntInRange(0, 3):
        case 0:
            clause = provider.ConsumeUnicodeNoSurrogates(400)
        case 1:
            clause = "".join(_one_of(provider, PIECES) for _ in range(provider.ConsumeIntInRange(1, 40)))
        case _:
            clause = "".join(_condition(provider) for _ in range(provider.ConsumeIntInRange(1, 8)))
    for types in (TYPES, None):
        _try(clause, types)


def _condition(provider: Any) -> str:
    field, operator = _one_of(provider, tuple(TYPES)), _one_of(provider, OPERATORS)
    value = _one_of(provider, VALUES)
    if provider.ConsumeBool():
        value = f"({value},{_one_of(provider, VALUES)})"
    if provider.ConsumeIntInRange(0, 9) == 0:
        value = f"'{provider.ConsumeUnicodeNoSurrogates(20)}'"
    return f"{field}{operator}{value}{_one_of(provider, JOINTS)}"


def _one_of(provider: Any, several: tuple[str, ...]) -> str:
    return several[provider.ConsumeIntInRange(0, len(several) - 1)]


def _try(clause: str, types: dict[str, str] | None) -> None:
    try:
        criteria = compile_where(clause, types)
    except BadCriteria as fault:
        if not 0 <= fault.at <= len(clause) or not str(fault).strip():
            raise AssertionError(f"the fault has no place in the clause: {fault.at} of {len(clause)}") from fault
        return
    for lead in LEADS:
        if not isinstance(criteria.matches(lead, AT), bool):
            raise TypeError("a criterion answers yes or no")
    reached = reach("it", clause, types)
    if reached.parts and takers(reached, [reached]) is None:
        raise AssertionError("a rule takes its own leads")


if __name__ == "__main__":
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
