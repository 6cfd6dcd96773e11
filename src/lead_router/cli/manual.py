"""The manual page of each command: a paragraph, its options, its exit codes and examples, all in `--help`."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterator

from lead_router.cli.pages import PAGES, Page

WIDTH = 96
_CODES = {
    2: "wrong usage, or a setting or record that a person must change",
    3: "Salesforce or the database did not answer; try again later",
}


def commands(root: argparse.ArgumentParser, path: str = "") -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Every command and verb with the words that call it, `jobs list`; a command comes before its verbs."""
    for action in root._actions:  # noqa: SLF001 - argparse offers no other way to walk its commands
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001 - as above
            for word, one in action.choices.items():
                name = f"{path} {word}".strip()
                yield name, one
                yield from commands(one, name)


def described(root: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """The same parser, each of whose commands shows its page."""
    for name, command in commands(root):
        page = PAGES.get(name)
        if page is not None:
            command.formatter_class = argparse.RawDescriptionHelpFormatter
            command.description = textwrap.fill(page.text, WIDTH)
            command.epilog = f"{_codes(page)}\n\n{_examples(page)}"
    return root


def _codes(page: Page) -> str:
    told = {0: page.done, **({1: page.found} if page.found else {}), **_CODES}
    if page.alone:
        del told[3]
    lines = [
        textwrap.fill(text, WIDTH, initial_indent=f"  {code}  ", subsequent_indent="     ")
        for code, text in told.items()
    ]
    return "\n".join(["exit codes:", *lines])


def _examples(page: Page) -> str:
    return "\n".join(["examples:", *(f"  {line}\n      {why}" for line, why in page.examples)])
