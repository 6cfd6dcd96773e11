"""Broader rules, at random: what is told to be out of reach, no lead reaches."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from lead_router.core.soql import compile_where
from lead_router.rulefiles.broader import reach, takers

TYPES = {"T": "string", "N": "double", "B": "boolean", "D": "date", "M": "multipicklist"}
AT = datetime(2026, 1, 2, 12, tzinfo=UTC)

_TEXTS = ["a", "A", "ab", "b", "abc", ""]
_NUMBERS = [-1, 0, 1, 1.5, 2]
_DAYS = ["2026-01-01", "2026-01-02", "2026-01-03"]
_SETS = ["A", "B", "A;B", "A;B;C"]

_conditions = st.one_of(
    st.builds(
        "T {} '{}'".format, st.sampled_from(["=", "!=", "<", ">=", "LIKE"]), st.sampled_from([*_TEXTS, "a%", "%b%"])
    ),
    st.builds("T {} ('{}', '{}')".format, st.sampled_from(["IN", "NOT IN"]), *[st.sampled_from(_TEXTS)] * 2),
    st.builds("{} {} null".format, st.sampled_from(["T", "N", "D", "M"]), st.sampled_from(["=", "!="])),
    st.builds("N {} {}".format, st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), st.sampled_from(_NUMBERS)),
    st.builds("B {} {}".format, st.sampled_from(["=", "!="]), st.sampled_from(["TRUE", "FALSE", "NULL"])),
    st.builds("D {} {}".format, st.sampled_from(["=", "<", "<=", ">", ">="]), st.sampled_from([*_DAYS, "TODAY"])),
    st.builds("M {} ('{}')".format, st.sampled_from(["INCLUDES", "EXCLUDES"]), st.sampled_from(_SETS)),
)
_clauses = st.recursive(
    _conditions,
    lambda inner: st.one_of(
        st.builds("({} AND {})".format, inner, inner),
        st.builds("({} OR {})".format, inner, inner),
        st.builds("(NOT {})".format, inner),
    ),
    max_leaves=4,
)
_leads = st.fixed_dictionaries(
    {
        "T": st.sampled_from([None, *_TEXTS[:-1], "xby"]),
        "N": st.sampled_from([None, *_NUMBERS, 7]),
        "B": st.sampled_from([None, True, False]),
        "D": st.sampled_from([None, *_DAYS, "2020-02-02"]),
        "M": st.sampled_from([None, *_SETS, "C"]),
    }
)


@settings(max_examples=400, deadline=None)
@given(rule=_clauses, above=st.lists(_clauses, min_size=1, max_size=3), leads=st.lists(_leads, min_size=5, max_size=20))
def test_what_is_told_to_be_out_of_reach_no_lead_reaches(rule, above, leads):
    """P65: takers take every lead of the rule, and a clause without parts is met by none."""
    reached = reach("it", rule, TYPES)
    taken = takers(reached, [reach(clause, clause, TYPES) for clause in above])
    meets = compile_where(rule, TYPES).matches
    for lead in leads:
        if meets(lead, AT):
            assert reached.parts != ()
            assert taken is None or any(compile_where(clause, TYPES).matches(lead, AT) for clause in taken)
