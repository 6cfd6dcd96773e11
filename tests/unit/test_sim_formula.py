from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from org_simulator.formula import FormulaFault, Scope, compile_formula

TYPES = {
    "Name": "string",
    "OwnerId": "reference",
    "Turn__c": "double",
    "Weight__c": "double",
    "Key__c": "string",
    "Status": "picklist",
    "Active__c": "boolean",
    "Start__c": "datetime",
    "Day__c": "date",
}
OWNER = "0055f000005bwLFEAY"
USER = {"Id": "0055f000005bwLFEAY", "Username": "ada@simulated.example"}


def holds(formula: str, new: dict[str, Any] | None = None, old: dict[str, Any] | None = None, **granted: bool) -> bool:
    permissions = frozenset(name for name, given in granted.items() if given)
    condition = compile_formula(formula, TYPES, frozenset({"Lead_Router"}))
    return condition(Scope(new or {}, old, USER, permissions, datetime(2026, 11, 29, 23, 30, tzinfo=UTC)))


@pytest.mark.parametrize(
    "formula",
    [
        "1 + 2 * 3 = 7",
        "(1 + 2) * 3 = 9",
        "2 ^ 3 = 8",
        "-2 + 5 = 3",
        "7 / 2 = 3.5",
        "ISBLANK(1 / 0)",
        '"a" & "b" = "ab"',
        '"a" + "b" = "ab"',
        "'single' = \"single\"",
        '"say \\"hi\\"" = \'say "hi"\'',
        '"Case" <> "case"',
        "TRUE && NOT(false)",
        "FALSE || 1 != 2",
        "!FALSE",
        "1 == 1",
        "OR(FALSE, FALSE, TRUE)",
        "AND(TRUE, 2 >= 2, 2 <= 2, 3 > 2, 2 < 3)",
        'IF(1 > 2, "x", "y") = "y"',
        'LEFT("abcdef", 3) = "abc"',
        'LEFT("ab", 15) = "ab"',
        'RIGHT("abcdef", 2) = "ef"',
        'MID("abcdef", 2, 3) = "bcd"',
        'FIND("c", "abc") = 3',
        'LEN("abc") = 3',
        'BEGINS("00G5f", "00G")',
        'NOT(BEGINS("0055f", "00G"))',
        'CONTAINS("abc", "b")',
        'UPPER(LOWER("Ab")) = "AB"',
        'TRIM("  a ") = "a"',
        'VALUE("41") + 1 = 42',
        'ISBLANK(VALUE("x"))',
        'ISNUMBER("4.5") && NOT(ISNUMBER("x"))',
        'TEXT(41 + 1) = "42"',
        'TEXT(2.50) = "2.5"',
        "ROUND(2.5, 0) = 3 && ROUND(-2.5, 0) = -3 && ROUND(2.345, 2) = 2.35",
        "MOD(-7, 3) = 2",
        "MAX(1, 3, 2) = 3 && MIN(1, 3, 2) = 1",
        "ABS(-2) = 2 && FLOOR(2.7) = 2 && CEILING(2.1) = 3",
        "/* why */ TRUE",
        'TEXT(TODAY()) = "2026-11-29"',
    ],
)
def test_expressions(formula: str) -> None:
    """Operators bind as Salesforce binds them; text comparison tells case apart; functions do as documented."""
    assert holds(formula)


def test_a_new_record_is_new_unchanged_and_its_own_prior_value() -> None:
    """On insert ISCHANGED is false and PRIORVALUE the present value (a trap: `NOT(ISNEW())` must guard it)."""
    new = {"Turn__c": 5.0}
    assert holds("ISNEW()", new)
    assert not holds("ISCHANGED(Turn__c)", new)
    assert holds("PRIORVALUE(Turn__c) = 5", new)


def test_a_changed_record_shows_its_original() -> None:
    new, old = {"Turn__c": 5.0, "Name": None}, {"Turn__c": 4.0, "Name": ""}
    assert not holds("ISNEW()", new, old)
    assert holds("ISCHANGED(turn__C)", new, old)
    assert not holds("ISCHANGED(Name)", new, old)
    assert holds("PRIORVALUE(Turn__c) + 1 = Turn__c", new, old)
    assert holds('TEXT(PRIORVALUE(Turn__c)) & "." & TEXT(Turn__c) = "4.5"', new, old)


def test_ids_have_15_characters() -> None:
    """An 18-character literal never equals an id; 15 characters do, and case counts."""
    new = {"OwnerId": OWNER}
    old = {"OwnerId": OWNER}
    assert not holds(f'OwnerId = "{OWNER}"', new)
    assert holds(f'OwnerId = "{OWNER[:15]}"', new)
    assert not holds(f'OwnerId = "{OWNER[:15].lower()}"', new)
    assert holds("LEN(PRIORVALUE(OwnerId)) = 15", new, old)
    assert holds("LEN($User.Id) = 15")
    assert holds('$User.Username = "ada@simulated.example"')


def test_blanks() -> None:
    """A blank text equals the empty text, a blank number orders before nothing, BLANKVALUE fills in."""
    assert holds('Name = ""')
    assert holds("ISBLANK(Name) && ISBLANK(OwnerId) && ISBLANK(Turn__c) && ISBLANK(Status)")
    assert not holds("Turn__c < 1")
    assert not holds("Turn__c >= 0")
    assert holds("Turn__c <> 0")
    assert not holds("Turn__c = 0")
    assert holds("ISBLANK(Turn__c + 1)")
    assert holds("BLANKVALUE(Turn__c, 0) = 0")
    assert holds("BLANKVALUE(Turn__c, 0) = 3", {"Turn__c": 3.0})
    assert holds('LEFT(Name, 3) & "x" = "x"')
    assert not holds("Active__c")


def test_text_of_a_number_has_no_point() -> None:
    """Counters up to 2^53 print as whole numbers, without exponent: the expected turn is compared as text."""
    assert holds('TEXT(Turn__c) = "9007199254740992"', {"Turn__c": float(2**53)})
    assert holds('TEXT(Turn__c) = "0"', {"Turn__c": 0.0})


def test_permissions_are_the_users_own() -> None:
    assert holds("$Permission.Lead_Router", Lead_Router=True)
    assert not holds("$Permission.Lead_Router")


def test_picklists_and_dates() -> None:
    new, old = {"Status": "New", "Start__c": "2026-11-29T10:00:00.000+0000"}, {"Status": "Open"}
    assert holds('TEXT(Status) = "New" && ISPICKVAL(Status, "New")', new)
    assert holds('ISPICKVAL(PRIORVALUE(Status), "Open") && ISCHANGED(Status)', new, old)
    assert holds("Start__c < NOW()", new)


@pytest.mark.parametrize(
    ("formula", "complaint"),
    [
        ("Status = 'New'", "Picklist fields are only supported in certain functions."),
        ("Missing__c = 1", "Field Missing__c does not exist"),
        ("$Permission.Nobody", "Field $Permission.Nobody does not exist"),
        ("$User.Shoe", "Field $User.Shoe does not exist"),
        ("FROB(1)", "Unknown function FROB"),
        ("Turn__c & 'x' = 'x'", "Expected text, received number"),
        ("Turn__c = 'x'", "Incorrect parameter type for comparison"),
        ("Name > 'a'", "operator '>'"),
        ("AND(1)", "function 'AND()'"),
        ("LEFT(Name)", "Incorrect number of parameters for function 'LEFT()'"),
        ("LEFT(Turn__c, 1) = '1'", "function 'LEFT()'"),
        ("IF(TRUE, 1, 'x') = 1", "function 'IF()'"),
        ("PRIORVALUE(1) = 1", "function 'PRIORVALUE()'"),
        ("ISNEW(1)", "function 'ISNEW()'"),
        ("Turn__c + 1", "Expected boolean, received number"),
        ("AND(TRUE", "expected ')'"),
        ("TRUE TRUE", "expected the end"),
        ("1 = @", "character 4"),
        ("", "character 1"),
        ("(" * 100 + "TRUE" + ")" * 100, "nested"),
    ],
)
def test_a_formula_salesforce_would_refuse_is_refused(formula: str, complaint: str) -> None:
    """Kinds, names, arity and syntax are checked when the formula is compiled, as when an admin saves it."""
    with pytest.raises(FormulaFault) as refusal:
        holds(formula)
    assert complaint in str(refusal.value)
