"""Apex's values and operators. Expectations are those of the Apex Developer Guide, worked out by hand."""

from __future__ import annotations

import pytest

from support.apex import apex, check, failure

pytestmark = pytest.mark.apex


def test_whole_numbers_are_cut_and_wrap_around():
    """Division of whole numbers cuts towards zero; 32 and 64 bits wrap as in Java."""
    check(
        {
            "7 / 2": "3",
            "-7 / 2": "-3",
            "Math.mod(-7, 2)": "-1",
            "2147483647 + 1": "-2147483648",
            "2147483647L + 1": "2147483648",
            "65536 * 65536": "0",
            "Long.valueOf('9223372036854775807') + 1": "-9223372036854775808",
            "-5 >> 1": "-3",
            "-5 >>> 28": "15",
            "1 << 33": "2",
            "5 & 3": "1",
            "5 | 3": "7",
            "5 ^ 3": "6",
            "true ^ true": "false",
        }
    )


def test_a_calculation_takes_the_wider_of_its_types():
    """Integer, Long, Decimal, Double: the wider one decides what comes out."""
    check(
        {
            "1 + 2L": "3",
            "(1 + 2L) instanceof Long": "true",
            "(1 + 2) instanceof Integer": "true",
            "1 / 2.0": "0.5",
            "(1 + 2.5) instanceof Decimal": "true",
            "1 + 2.5d": "3.5",
            "0.1 + 0.2": "0.3",
            "0.1d + 0.2d": "0.30000000000000004",
            "10.00 * 3": "30.00",
            "1.0d": "1.0",
            "12345678.0d": "1.2345678E7",
        }
    )


def test_text_is_compared_in_any_case_and_ids_in_any_length():
    """`==` ignores case, equals and collections do not; an Id equals its own 15 characters."""
    check(
        {
            "'Abc' == 'aBC'": "true",
            "'Abc' === 'aBC'": "false",
            "'Abc'.equals('aBC')": "false",
            "'a' < 'B'": "true",
            "new Set<String>{ 'a' }.contains('A')": "false",
            "new List<String>{ 'a' } == new List<String>{ 'A' }": "true",
            "(Id) '00Q5f000005bwLF' == (Id) '00Q5f000005bwLFEAY'": "true",
            "(Id) '00Q5f000005bwLF'": "00Q5f000005bwLFEAY",
            "'' + (Id) '00Q5f000005bwLFEAY'": "00Q5f000005bwLFEAY",
            "new Set<Id>{ '00Q5f000005bwLF' }.contains('00Q5f000005bwLFEAY')": "true",
            "'x' + null + 1 + 2.50 + true": "xnull12.50true",
        }
    )


def test_null_is_below_text_and_no_number_is_compared_with_it():
    """An order with null is false for numbers; a text is above null; equality with null is plain."""
    check(
        {
            "null == null": "true",
            "(Integer) null < 5": "false",
            "(Integer) null > 5": "false",
            "(String) null < 'a'": "true",
            "'a' > (String) null": "true",
            "'' == null": "false",
        }
    )


@pytest.mark.parametrize(
    ("body", "name", "part"),
    [
        ("Integer x = null; return x + 1;", "NullPointerException", "de-reference a null object"),
        ("String s; return s.length();", "NullPointerException", "de-reference a null object"),
        ("Boolean b; if (b) { return 1; } return 2;", "NullPointerException", "de-reference a null object"),
        ("return 1 / 0;", "MathException", "Divide by 0"),
        ("Id i = 'abc'; return i;", "StringException", "Invalid id: abc"),
        ("return new List<Integer>{ 1 }[1];", "ListException", "List index out of bounds: 1"),
        ("return Integer.valueOf('1.5');", "TypeException", "Invalid integer: 1.5"),
        (
            "Object o = 'a'; return (Integer) o;",
            "TypeException",
            "Invalid conversion from runtime type String to Integer",
        ),
    ],
)
def test_what_cannot_be_done_is_an_exception_of_its_kind(body, name, part):
    """Each with the platform's name and words."""
    assert failure(body)[0] == name
    assert part in failure(body)[1]


def test_assignment_widens_numbers_and_a_cast_narrows_them():
    """An Integer goes into Long, Decimal and Double; back only by a cast, which cuts."""
    assert apex("Long a = 1; Object o = a; return o instanceof Long;") is True
    assert apex("Decimal a = 1; Object o = a; return o instanceof Decimal;") is True
    assert apex("Long a = 4294967297L; return (Integer) a;") == 1
    assert apex("return (Integer) 2.9;") == 2
    assert apex("List<Long> a = new List<Long>(); a.add(1); Object o = a[0]; return o instanceof Long;") is True


def test_records_are_equal_by_their_fields():
    """`==` of records compares fields, `===` the object."""
    assert apex("return new Lead(LastName = 'a') == new Lead(LastName = 'a');") is True
    assert apex("return new Lead(LastName = 'a') == new Lead(LastName = 'b');") is False
    assert apex("Lead a = new Lead(); Lead b = a; b.LastName = 'x'; return a === b && a.LastName == 'x';") is True
