"""The manual: each command has its page, and what a page shows can be typed."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

import pytest

from lead_router.cli import pages
from lead_router.cli.arguments import parser
from lead_router.cli.manual import WIDTH, commands, described
from lead_router.cli.pages import PAGES

NAMES = [name for name, _ in commands(parser())]
EXAMPLES = [(name, line) for name, page in PAGES.items() if name in NAMES for line, _ in page.examples]


@pytest.mark.parametrize("name", NAMES)
def test_every_command_has_a_page_with_text_options_codes_and_examples(name, capsys):
    """Whoever adds a command adds its page to `lead_router.cli.pages`; its help fits a terminal of 100 columns."""
    assert name in PAGES, f"add a page for `{name}` to lead_router/cli/pages.py"
    with pytest.raises(SystemExit) as ended:
        parser().parse_args([*name.split(), "--help"])
    shown = capsys.readouterr().out
    page = PAGES[name]

    assert ended.value.code == 0
    assert " ".join(page.text.split()) in " ".join(shown.split())
    assert "\nexit codes:\n  0  " in shown
    assert "\nexamples:\n  lead-router " in shown
    assert ("\n  3  " in shown) != page.alone
    assert page.examples
    text = shown[shown.index("\n\n") : shown.index("options:")]
    assert max(map(len, text.splitlines())) <= WIDTH


@pytest.mark.parametrize(("name", "line"), EXAMPLES, ids=[line for _, line in EXAMPLES])
def test_every_example_can_be_typed(name, line):
    """Its words are the parser's, and call the command on whose page they stand, or one of its verbs."""
    program, *words = shlex.split(line.partition(" > ")[0])
    asked = parser().parse_args(words)

    assert program == "lead-router"
    assert f"{asked.command} {getattr(asked, 'verb', '')}".strip().startswith(name)


@pytest.mark.parametrize("command", ["check", "test", "pull", "push"])
def test_every_command_of_rules_takes_their_folder_by_one_name(command):
    """What was typed for one fits the next."""
    words = parser().parse_args(["rules", command, "--files", "rules"])

    assert Path("rules") in vars(words).values()


def test_no_page_is_left_of_a_command_that_is_gone():
    """A page that nobody can open is not kept."""
    assert sorted(set(PAGES) - set(NAMES)) == []


def test_each_page_stands_once():
    """Of two, one would be shown and the other kept up in vain."""
    assert len(PAGES) == sum(map(len, (pages._OPERATING, pages._JOBS, pages._DECIDING)))


def test_a_command_without_a_page_is_left_as_it_is():
    """The walk changes what it has a page for, and meets verbs below commands."""
    root = argparse.ArgumentParser(prog="x")
    verbs = root.add_subparsers().add_parser("novel").add_subparsers()
    verbs.add_parser("verb", description="own words")
    (_, novel), (name, verb) = commands(described(root))

    assert (novel.epilog, name, verb.description) == (None, "novel verb", "own words")


def test_exit_codes_are_those_that_the_page_names(capsys):
    """Only what may happen stands there: 1 where it means something, 3 where somebody is asked."""
    told = {name: [line[2] for line in _codes(name, capsys)] for name in ("doctor", "init", "rules test", "jobs show")}

    assert told == {"doctor": [*"0123"], "init": [*"02"], "rules test": [*"012"], "jobs show": [*"023"]}


def test_a_command_with_verbs_names_every_exit_code_of_theirs(capsys):
    """Who reads its page and writes a script is not surprised by one."""
    told = {name: {line[2] for line in _codes(name, capsys)} for name in NAMES}
    wholes = {name: {code for verb in NAMES if verb.startswith(f"{name} ") for code in told[verb]} for name in NAMES}

    assert {name: codes - told[name] for name, codes in wholes.items() if codes - told[name]} == {}


def _codes(name, capsys):
    with pytest.raises(SystemExit):
        parser().parse_args([*name.split(), "--help"])
    text = capsys.readouterr().out.partition("exit codes:\n")[2].partition("\n\n")[0]
    return [line for line in text.splitlines() if line[2].isdigit()]
