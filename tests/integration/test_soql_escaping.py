"""A value that comes from outside stays a value in every query, whatever signs it holds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lead_router.core.soql import compile_where
from lead_router.core.soql.lexer import tokens, unescape
from lead_router.errors import BadCriteria, Rejected
from lead_router.salesforce import queries
from lead_router.salesforce.configuration import Intake
from support.rest_org import START, RestOrg, best

NASTY = (
    "O'Brien",
    "'",
    "''",
    "\\",
    "ends with a backslash \\",
    "\\'",
    "\\\\'",
    "' OR Id != '",
    "x') OR (Id != null",
    "100%",
    "under_score",
    "%",
    "_",
    "\\%",
    "\\u0027",
    "\\u0027 OR Id != \\u0027",
    "\u2019 \uff07 \u02bc",
    "line\nbreak",
    "line\r\nbreak\ttab",
    "Zoë Müller 李雷 🦊",
    '"double"',
    "a -- b /* c */ ; d",
    ":bound {0} {value}",
)


@given(st.text(max_size=60) | st.sampled_from(NASTY))
def test_a_quoted_text_is_one_value_and_the_same(value):
    """Escaped once, it is read back as it was, and nothing of it is read as SOQL."""
    found = tokens(f"Name = {queries.text(value)} AND Id = 'x'")
    assert [token.kind for token in found] == ["word", "op", "text", "word", "word", "op", "text", "end"]
    assert unescape(found[2], like=False) == value


@pytest.fixture(scope="module")
def org():
    """With one lead for each of these texts, and one of none."""
    made = RestOrg(best())
    for value in NASTY:
        made.lead(LastName="Doe", Title=value)
    made.lead(LastName="Plain", Title="plain")
    return made


@pytest.mark.parametrize("value", NASTY)
def test_a_query_finds_what_bears_the_value_and_nothing_else(org, value):
    """Over the wire: as a value, as one of several, and beside a clause."""
    for condition in (f"Title = {queries.text(value)}", queries.among("Title", [value, "no such title"])):
        found = org.rest.query(queries.select(("Id", "Title"), "Lead", f"WHERE {condition}"))
        assert {row["Title"] for row in found} == {value}


@pytest.mark.parametrize("value", NASTY)
def test_a_rule_s_value_is_a_value_in_its_criteria(value):
    """As an admin writes it, escaped: it matches that text alone. A unicode escape is refused, not guessed at."""
    criteria = compile_where(f"Title = {queries.text(value)}")
    assert [criteria.matches({"Title": title}, START) for title in (value, "plain", None)] == [True, False, False]


def test_a_unicode_escape_in_criteria_is_refused_by_name():
    """It would be a quote to one reader and six letters to another."""
    with pytest.raises(BadCriteria, match=r"'\\u' is no escape sequence"):
        compile_where("Title = '\\u0027'")


def test_like_s_wildcards_are_letters_once_escaped(org):
    """A value within a pattern finds itself alone, wherever the pattern leaves room."""
    for value in NASTY:
        condition = f"Title LIKE {queries.like('{}', value)}"
        found = org.rest.query(queries.select(("Title",), "Lead", f"WHERE {condition}"))
        assert {row["Title"] for row in found} == {value}
        wide = org.rest.query(queries.select(("Title",), "Lead", f"WHERE Title LIKE {queries.like('%{}%', value)}"))
        assert {row["Title"] for row in wide} == {each for each in NASTY if value in each}


@pytest.mark.parametrize(
    "value", ["o'brien@acme.example", "x') OR (Id != null", "\\u0027", "\\", "' OR Username LIKE '%"]
)
def test_names_in_settings_choose_no_more_than_they_name(value):
    """Usernames and queues of the settings: one that is not there is told of, and no other user's leads are taken."""
    for intake in (Intake(usernames=(value,)), Intake(queues=(value,))):
        made = RestOrg(best(), intake)
        with pytest.raises(Exception, match="LEAD_ROUTER_INTAKE_") as refused:
            made.client.configuration()
        assert type(refused.value).__name__ == "Misconfigured"


@pytest.mark.parametrize("lead_id", ["00Q000000000001' OR Id != '", "' OR '' = '", "00Q000000000001\\u0027"])
def test_an_id_is_no_piece_of_a_query(org, lead_id):
    """Ids are quoted as well, and one that is none finds nothing."""
    try:
        found = org.rest.query(queries.select(("Title",), "Lead", f"WHERE {queries.among('Id', [lead_id])}"))
    except Rejected as refused:
        assert "invalid ID field" in str(refused)  # noqa: PT017 - one of two good answers
        found = []
    assert found == []
