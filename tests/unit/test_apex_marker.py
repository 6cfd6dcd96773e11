"""Which tests run Apex, and what becomes of them where its parser is missing."""

from __future__ import annotations

import pytest

from org_simulator.apex.faults import ParserMissing
from support.apex import do_without, need_parser

ABSENT = ParserMissing("no parser")


def test_a_test_that_runs_apex_without_the_marker_fails_with_the_parser_and_without():
    """Else `pytest -m apex` would leave it out, and nobody would miss it."""
    with pytest.raises(pytest.fail.Exception, match="is not marked apex"):
        need_parser()


def test_without_the_parser_a_test_is_skipped_and_says_why(monkeypatch):
    """In sight, in the summary."""
    monkeypatch.delenv("APEX_CHECK", raising=False)
    with pytest.raises(pytest.skip.Exception, match="no parser"):
        do_without(ABSENT)


def test_where_apex_is_required_it_fails(monkeypatch):
    """APEX_CHECK=require, as for the checks of Apex and metadata."""
    monkeypatch.setenv("APEX_CHECK", "require")
    with pytest.raises(pytest.fail.Exception, match="no parser"):
        do_without(ABSENT)
