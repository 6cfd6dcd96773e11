"""SOQL: whatever text is handed in, the answer is criteria or BadCriteria."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from lead_router.core.soql import compile_where
from lead_router.errors import BadCriteria

NOW = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)
WORDS = ["A", "Owner.Name", "=", "!=", "<>", "<", ">=", "LIKE", "IN", "NOT", "NOT IN", "INCLUDES", "AND", "OR", "(",
         ")", ",", "'x'", "'%a_'", "'00Q5f000005bwLF'", "5", "-1.5", "NULL", "TRUE", "2026-01-01",
         "4000-12-31T00:00:00Z",
         "TODAY", "LAST_N_DAYS:9999", "N_YEARS_AGO:9999", "NEXT_N_QUARTERS:9999", "'\\\\", "\\"]  # fmt: skip
TYPES = ["string", "id", "double", "boolean", "date", "datetime", "multipicklist", "base64"]
VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20), st.dates(), st.datetimes(),
    st.datetimes(timezones=st.just(UTC)).map(datetime.isoformat), st.lists(st.text(max_size=3), max_size=2),
)  # fmt: skip
CLAUSES = st.one_of(
    st.text(max_size=60),
    st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join),
    st.builds(
        "{} {} {}".format,
        st.sampled_from(["A", "Owner.Name"]),
        st.sampled_from(["=", "!=", "<", "<=", ">", ">=", "LIKE", "IN", "NOT IN", "INCLUDES", "EXCLUDES"]),
        st.sampled_from(WORDS[17:30]).flatmap(lambda value: st.sampled_from([value, f"({value})", f"({value}, 'b')"])),
    ),
)


@given(CLAUSES, st.one_of(st.none(), st.sampled_from(TYPES)), VALUES)
def test_any_text_compiles_or_is_refused_and_never_raises_anything_else(clause, kind, value):
    """The parser raises BadCriteria alone, with an offset inside the clause; matching never raises."""
    types = kind and {"A": kind, "Owner.Name": kind}
    try:
        criteria = compile_where(clause, types)
    except BadCriteria as fault:
        refused = fault
    else:
        refused = None
    if refused is not None:
        assert 0 <= refused.at <= len(clause)
        assert str(refused)
        return
    assert criteria.matches({"A": value, "Owner": {"Name": value}}, NOW) in {True, False}
    assert criteria.matches({}, NOW) in {True, False}


@given(CLAUSES, VALUES)
def test_not_is_the_exact_opposite(clause, value):
    """A condition is true or false, never unknown: NOT turns each match into none, null included."""
    try:
        plain = compile_where(clause)
        opposite = compile_where(f"NOT ({clause})")
    except BadCriteria:
        return
    record = {"A": value, "Owner": {"Name": value}}
    assert opposite.matches(record, NOW) is not plain.matches(record, NOW)


@given(st.text(alphabet="ab%_\\'", max_size=8), st.text(alphabet="abAB%_\\'", max_size=12))
def test_like_agrees_with_a_plain_regular_expression(pattern, value):
    """LIKE's fast form finds what the plain translation finds, escapes included."""
    escaped = pattern.replace("\\", "\\\\").replace("'", "\\'")
    plain = "".join({"%": ".*", "_": "."}.get(char, re.escape(char)) for char in pattern)
    expected = bool(value) and re.fullmatch(plain, value.lower(), re.DOTALL) is not None
    assert compile_where(f"A LIKE '{escaped}'").matches({"A": value}, NOW) is expected


@given(st.text(max_size=20))
def test_a_quoted_text_finds_itself(value):
    """Any text, escaped, is equal to itself; an empty one is null."""
    quoted = value.replace("\\", "\\\\").replace("'", "\\'")
    assert compile_where(f"A = '{quoted}'").matches({"A": value}, NOW)
    assert compile_where(f"A IN ('{quoted}', 'other')").matches({"A": value}, NOW)
