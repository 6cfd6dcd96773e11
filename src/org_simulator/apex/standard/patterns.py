"""Pattern and Matcher."""

from __future__ import annotations

import re
from typing import Any

from org_simulator.apex.platform import method, static
from org_simulator.apex.raising import null_pointer, thrown
from org_simulator.apex.standard.strings import expression, replacement
from org_simulator.apex.types import STRING
from org_simulator.apex.values import ListValue, Native


class Search:
    """A matcher's text and where it last found something."""

    __slots__ = ("at", "found", "pattern", "text")

    def __init__(self, pattern: re.Pattern[str], text: str) -> None:
        self.pattern = pattern
        self.text = text
        self.at = 0
        self.found: re.Match[str] | None = None


@static("Pattern.compile", "Pattern", 1)
def compile_(_session: Any, pattern: str) -> Native:
    if pattern is None:
        raise null_pointer()
    return Native("Pattern", re.compile(expression(pattern), re.ASCII))


@static("Pattern.matches", "Boolean", 2)
def pattern_matches(_session: Any, pattern: str, value: str) -> bool:
    return re.fullmatch(expression(pattern), value, re.ASCII) is not None


@static("Pattern.quote", "String", 1)
def quote(_session: Any, value: str) -> str:
    return re.escape(value)


@method("Pattern.matcher", "Matcher", 1)
def matcher(_session: Any, value: Native, text: str) -> Native:
    if text is None:
        raise null_pointer()
    return Native("Matcher", Search(value.held, text))


@method("Pattern.pattern", "String")
def pattern_text(_session: Any, value: Native) -> str:
    return str(value.held.pattern)


@method("Pattern.split", "List<String>", 1)
def pattern_split(_session: Any, value: Native, text: str) -> ListValue:
    return ListValue(value.held.split(text), STRING)


@method("Matcher.matches", "Boolean")
def matches(_session: Any, value: Native) -> bool:
    search = value.held
    search.found = search.pattern.fullmatch(search.text)
    return search.found is not None


@method("Matcher.lookingAt", "Boolean")
def looking_at(_session: Any, value: Native) -> bool:
    search = value.held
    search.found = search.pattern.match(search.text)
    return search.found is not None


@method("Matcher.find", "Boolean")
def find(_session: Any, value: Native) -> bool:
    search = value.held
    search.found = search.pattern.search(search.text, search.at)
    if search.found is not None:
        search.at = search.found.end() + (search.found.end() == search.found.start())
    return search.found is not None


def _match(value: Native) -> re.Match[str]:
    found: re.Match[str] | None = value.held.found
    if found is None:
        raise thrown("StringException", "No match found")
    return found


@method("Matcher.group", "String", 0, 1)
def group(_session: Any, value: Native, number: int = 0) -> str | None:
    found: str | None = _match(value)[number]
    return found


@method("Matcher.groupCount", "Integer")
def group_count(_session: Any, value: Native) -> int:
    return int(value.held.pattern.groups)


@method("Matcher.start", "Integer", 0, 1)
def start(_session: Any, value: Native, number: int = 0) -> int:
    return _match(value).start(number)


@method("Matcher.end", "Integer", 0, 1)
def end(_session: Any, value: Native, number: int = 0) -> int:
    return _match(value).end(number)


@method("Matcher.replaceAll", "String", 1)
def matcher_replace_all(_session: Any, value: Native, new: str) -> str:
    return str(value.held.pattern.sub(replacement(new), value.held.text))


@method("Matcher.reset", "Matcher")
def reset(_session: Any, value: Native) -> Native:
    value.held.at, value.held.found = 0, None
    return value


@method("String.matches", "Boolean", 1)
def string_matches(_session: Any, value: str, pattern: str) -> bool:
    return re.fullmatch(expression(pattern), value, re.ASCII) is not None
