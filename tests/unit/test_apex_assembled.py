"""Queries that Apex puts together are known before it runs, each way through conditions by itself."""

from __future__ import annotations

import pytest

from apex import queries
from apex.assembled import WAYS_MAX
from apex.toolbox import Toolbox
from support.apex import need_parser

pytestmark = pytest.mark.apex

CLASS = """public class Asked {{
    private static final String BASE = 'SELECT Id' + ' FROM Lead';
    private static final List<String> FIELDS = new List<String>{{ 'Id', 'Name' }};
    private Datetime since;
    {methods}
}}"""


def texts(methods: str) -> list[list[str]]:
    """What each query of such a class may be, with `<name>` for what only a run tells."""
    need_parser()
    found = queries.texts_of(Toolbox.found().parse(CLASS.format(methods=methods)))
    return [[marked(text) for text in ways] for _, ways in found]


def marked(text: str) -> str:
    parts = text.split("\0")
    return "".join(f"<{part}>" if place % 2 else part for place, part in enumerate(parts))


@pytest.mark.parametrize(
    ("methods", "expected"),
    [
        ("void a() { Database.query(BASE + ' LIMIT 1'); }", ["SELECT Id FROM Lead LIMIT 1"]),
        (
            "void a() { String s = 'x'; Database.query(s); } void b() { String s = 'y'; s = s.trim(); }",
            ["x"],
        ),
        (
            "void a(Boolean b) { Database.query(b ? BASE : BASE + ' FOR UPDATE'); }",
            ["SELECT Id FROM Lead", "SELECT Id FROM Lead FOR UPDATE"],
        ),
        (
            "void a(Boolean b) { String s = BASE; if (b) { s += ' LIMIT 1'; } Database.query(s); }",
            ["SELECT Id FROM Lead", "SELECT Id FROM Lead LIMIT 1"],
        ),
        (
            "void a(Boolean b) { String s; if (b) { s = 'x'; } else { s = 'y'; } Database.query(s); }",
            ["x", "y"],
        ),
        (
            """void a() { Database.query(tail(BASE)); } String tail(String s) { return s + rest(); }
            String rest() { return since == null ? '' : ' WHERE Id != NULL'; }""",
            ["SELECT Id FROM Lead", "SELECT Id FROM Lead WHERE Id != NULL"],
        ),
        (
            "void a() { ask('x'); } void b() { ask('y'); } private void ask(String s) { Database.query(s + 'z'); }",
            ["xz", "yz"],
        ),
        (
            "void a() { ask('x'); } public void ask(String s) { Database.query(s + 'z'); }",
            ["xz", "<s>z"],
        ),
        (
            "void a() { List<String> f = FIELDS.clone(); f.add(Form.name()); Database.query(String.join(f, ',')); }",
            ["Id,Name,<Form.name()>"],
        ),
        (
            "void a(String Clause) { Database.countQuery(BASE + ' WHERE ' + Clause); }",
            ["SELECT Id FROM Lead WHERE <Clause>"],
        ),
        ("void a() { Database.query(again('x')); } String again(String s) { return again(s); }", ["<again()>"]),
    ],
    ids=[
        *("a constant", "a name used twice", "two ways at once", "an addition", "one of two", "methods", "arguments"),
        *("arguments of others", "a joined list", "an unknown part", "a method without end"),
    ],
)
def test_a_query_in_text_is_each_text_that_it_may_be(methods: str, expected: list[str]):
    """By constants, variables, conditions, methods and lists of the same class; the rest is named."""
    assert [sorted(ways) for ways in texts(methods)] == [sorted(expected)]


def test_ways_are_not_followed_without_end():
    """Each condition doubles them; there are a few at most, and at once."""
    grown = " ".join(f"if (b) {{ s += '{place}'; }}" for place in range(40))
    [ways] = texts(f"void a(Boolean b) {{ String s = ''; {grown} Database.query(s); }}")
    assert len(ways) == WAYS_MAX
