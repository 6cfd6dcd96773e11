"""Mutants of Apex: what is made of a class, and that strong tests kill what weak ones let live."""

from __future__ import annotations

import pytest

from mutation import chosen, suite
from mutation.edits import edits
from mutation.report import Told, alive, rate, text
from mutation.trial import Court, Mutant
from org_simulator.apex import tree
from org_simulator.schema import default_metadata
from org_simulator.schema import load as load_schema
from support.metadata_copy import ROOT

pytestmark = pytest.mark.apex

SCHEMA = load_schema(default_metadata())
SHARE = """public class Share {
    public static final Integer MOST = 3;
    public static Integer of(Integer whole, Boolean all) {
        if (whole == null || whole < 0) {
            return 0;
        }
        Integer count = 0;
        for (Integer place = 0; place < whole; place++) {
            if (all && place != 1) {
                continue;
            }
            count += 1;
        }
        return count > MOST ? MOST : count;
    }
    public static List<Lead> found(String name) {
        List<Lead> locked = [SELECT Id FROM Lead WHERE LastName = :name AND IsConverted = FALSE FOR UPDATE];
        return [SELECT Id FROM Lead WHERE Id IN :locked ORDER BY Name LIMIT 2];
    }
}"""
WEAK = "@IsTest private class ShareTest {{ @IsTest static void it() {{ {body} }} }}"
LOOK = "Share.of(3, false); Share.of(0, false); Share.of(null, true); Share.of(2, true); Share.found('x');"


def sources(parser, body: str, **more: str) -> suite.Sources:
    texts = {"Share.cls": SHARE, "ShareTest.cls": WEAK.format(body=body), **more}
    return suite.of_texts(texts, SCHEMA, parser)


def tried(parser, body: str) -> list:
    found = sources(parser, body)
    court = Court(found, suite.covered(found), {}, patience_s=0.3)
    return [court.judge(mutant) for mutant in chosen.every(found)]


def test_each_kind_of_edit_is_made_of_a_class(apex_parser):
    """Comparisons, constants, joins, statements, guards, loops, order, lock and conditions of queries, each by line."""
    made = {(edit.line, edit.said) for edit in edits(suite.parsed(SHARE, apex_parser, "Share.cls"))}
    assert {
        (2, "3 becomes 4"),
        (4, "the guard is dropped"),
        (4, "the condition is negated"),
        (4, "`||` becomes `&&`"),
        (4, "`<` becomes `<=`"),
        (8, "`<` becomes `>=`"),
        (8, "the step goes the other way"),
        (9, "`&&` becomes `||`"),
        (9, "`!=` becomes `==`"),
        (10, "continue is dropped"),
        (12, "the statement is dropped"),
        (12, "`+=` becomes `-=`"),
        (18, "ORDER BY is dropped"),
        (17, "FOR UPDATE is dropped"),
        (17, "the condition LastName = :b0 is dropped"),
    } <= made


def test_an_edit_changes_its_place_alone(apex_parser):
    """Each tree differs from the sound one, and from each other."""
    unit = suite.parsed(SHARE, apex_parser, "Share.cls")
    made = [edit.made for edit in edits(unit)]
    assert all(isinstance(each, tree.ClassDecl) and each != unit for each in made)
    assert all(one != other for place, one in enumerate(made) for other in made[:place])


def test_tests_that_only_look_let_mutants_live_and_tests_that_assert_kill_them(apex_parser):
    """Coverage is the same; what is asserted makes the difference, and a loop without end is a kill too."""
    weak = tried(apex_parser, LOOK)
    strong = tried(
        apex_parser,
        "Assert.areEqual(3, Share.of(4, false)); Assert.areEqual(2, Share.of(2, false));"
        "Assert.areEqual(0, Share.of(0, false)); Assert.areEqual(0, Share.of(null, true));"
        "Assert.areEqual(0, Share.of(-1, false)); Assert.areEqual(1, Share.of(3, true)); Share.found('x');",
    )
    assert rate(weak) < 0.4
    assert rate(strong) > 0.6
    ends = [each for each in weak if each.mutant.said == "the step goes the other way"]
    assert [each.killer for each in ends] == ["ShareTest.it (did not end)"]


def test_survivors_are_named_by_file_line_and_edit(apex_parser):
    """What lives is told as path, line, the line's text, and what was done to it."""
    seen = tried(apex_parser, LOOK)
    told = text(seen, Told(len(seen), 0, 1, 2.0))
    assert "Share.cls:14: return count > MOST ? MOST : count;: `>` becomes `>=`" in told.splitlines()
    assert len(alive(seen, named=False)) == sum(not each.killer for each in seen)


def test_what_would_not_compile_does_not_count(apex_parser):
    """A tree that names what is not there is no mutant that a test could find."""
    found = sources(apex_parser, LOOK)
    broken = suite.parsed(SHARE.replace("MOST : count", "MOST : nothing"), apex_parser, "Share.cls")
    mutant = Mutant("Share.cls", 14, 14, "broken", "", broken)
    verdict = Court(found, suite.covered(found), {}, patience_s=0.3).judge(mutant)
    assert (verdict.valid, rate([verdict])) == (False, 1.0)


def test_red_tests_begin_no_run(apex_parser):
    """Mutants of what is broken already would all be killed."""
    with pytest.raises(suite.Red, match=r"ShareTest\.it"):
        suite.covered(sources(apex_parser, "Assert.areEqual(1, Share.of(0, false));"))


def test_the_lists_fit_the_shipped_sources(apex_parser):
    """Each mutant made by hand finds its text once and compiles; each listed equivalent is one that can be made."""
    found = suite.read(ROOT, load_schema(ROOT), apex_parser)
    for each in chosen.by_hand():
        assert chosen.made(each, found, apex_parser).made != found.units
    known = {(mutant.cls, mutant.text, mutant.said) for mutant in chosen.every(found)}
    assert [each for each in chosen.equivalents() if (each.cls, each.text, each.said) not in known] == []
