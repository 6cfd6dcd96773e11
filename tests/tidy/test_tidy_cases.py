"""CASES.md says what the tests say."""

from __future__ import annotations

from support.cases import KINDS, TABLE, bearers, not_covered, promises, table

BORNE = {name for bearer in bearers() for name in bearer.ids}


def test_the_table_is_what_the_tests_say():
    """Who looks for a case finds it in the files beside it. `PYTHONPATH=tests python -m support.cases` writes it."""
    assert TABLE.read_text(encoding="utf-8") == table()


def test_every_id_that_a_test_bears_has_its_promise_and_every_promise_its_test():
    """A mistyped id is found, and no promise stands alone: both are in `support/cases.toml`."""
    assert BORNE - promises().keys() == set()
    assert promises().keys() - BORNE == set()
    assert {name[0] for name in promises()} == KINDS.keys()


def test_what_is_not_covered_is_borne_by_no_test():
    """No case is listed as covered and as not."""
    assert not_covered().keys() & (promises().keys() | BORNE) == set()


def test_ids_stand_where_they_count():
    """At the start of a line before a colon or a full stop, or in brackets; elsewhere it would not be counted."""
    assert {f"{bearer.path}::{bearer.name}": bearer.astray for bearer in bearers() if bearer.astray} == {}


def test_only_ids_in_docstrings_of_tests_count(tmp_path):
    """Names of leads, members and groups look alike: in a docstring they are astray, elsewhere nothing."""
    (tmp_path / "unit").mkdir()
    (tmp_path / "unit" / "test_it.py").write_text(
        '"""D1: of a module."""\n'
        "def test_one():\n"
        '    """A1, C22: two.\n\n    P3. Another (B4, F5), of group B2.\n    """\n'
        '    assert "E1: no" # E2\n',
        encoding="utf-8",
    )

    (found,) = bearers(tmp_path)
    assert (found.ids, found.astray) == ({"A1", "C22", "P3", "B4", "F5"}, {"B2"})
