"""Apex from text, run in an org of its own: what a method answers, in Python's values."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, NoReturn

import pytest

from org_simulator.apex import parser
from org_simulator.apex.automation import Automation
from org_simulator.apex.faults import ParserMissing, Thrown
from org_simulator.apex.invoking import invoke
from org_simulator.apex.program import load_texts
from org_simulator.apex.texts import text
from org_simulator.clock import ManualClock
from org_simulator.events import change_log
from org_simulator.org import Org
from org_simulator.schema import default_metadata, load
from org_simulator.switches import Switches

START = datetime(2026, 11, 29, 20, 26, 27, 123000, tzinfo=UTC)


@lru_cache
def _found() -> Any:
    try:
        return parser.binary()
    except ParserMissing as absent:
        return absent


_at_work: list[pytest.Item] = []  # the test that runs in this process


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """A test marked `apex` begins where the parser is, and is skipped in sight elsewhere."""
    _at_work[:] = [item]
    if item.get_closest_marker("apex") or "apex_parser" in getattr(item, "fixturenames", ()):
        need_parser()


def need_parser() -> Any:
    """The parser, or a visible skip where npm has not brought it. A test that comes here must be marked `apex`: so
    `pytest -m apex` runs all that are skipped without it.
    """
    for item in _at_work:
        if item.get_closest_marker("apex") is None:
            pytest.fail(f"{item.nodeid} runs Apex and is not marked apex", pytrace=False)
    found = _found()
    if isinstance(found, ParserMissing):
        do_without(found)
    return found


def do_without(absent: ParserMissing) -> NoReturn:
    """A skip that says what is missing; a failure with APEX_CHECK=require."""
    if os.environ.get("APEX_CHECK") == "require":
        pytest.fail(str(absent), pytrace=False)
    pytest.skip(str(absent))


@pytest.fixture(scope="session")
def apex_parser() -> Any:
    """Tests that use it are skipped, visibly, where the parser is not there."""
    return need_parser()


@dataclass
class ApexOrg:
    """An org that runs these sources."""

    sources: dict[str, str]
    switches: Switches = field(default_factory=Switches)

    def __post_init__(self) -> None:
        found = need_parser()
        self.clock = ManualClock(START)
        self.org = Org(load(default_metadata()), clock=self.clock, switches=self.switches)
        self.org.assignment_rule = None
        change_log(self.org)
        self.program = load_texts(self.sources, self.org.schema, found)
        self.org.automation = self.automation = Automation(self.org, self.program)

    def call(self, cls: str, method: str = "run", user_id: str | None = None) -> Any:
        """What a static method answers, in a transaction that is committed."""
        [found] = self.program.classes[cls.lower()].methods[method.lower()]
        return self.automation.call(
            user_id or self.org.admin_user_id, lambda session: self._invoked(session, found), asynchronous=False
        )

    def _invoked(self, session: Any, found: Any) -> Any:
        session.static_of(found.owner)
        return invoke(session, found, None, ())

    def rows(self, sobject: str) -> list[dict[str, Any]]:
        """All committed records."""
        with self.org.transaction(self.org.admin_user_id) as tx:
            return [dict(row) for row in tx.rows(sobject)]


def apex(body: str, **more: str) -> Any:
    """What `body` answers as the body of a static method; `more` are further sources by file name without ending."""
    sources = {f"{name}.cls": source for name, source in more.items()}
    return ApexOrg({"Probe.cls": probe(body), **sources}).call("Probe")


def probe(body: str) -> str:
    """A class around a body."""
    return f"public class Probe {{ public static Object run() {{ {body} }} }}"


def shown(expression: str) -> str:
    """An expression's value as String.valueOf would show it; null is `null`."""
    return text(apex(f"return {expression};"))


def failure(body: str) -> tuple[str, str]:
    """Name and text of the exception that a body lets out."""
    with pytest.raises(Thrown) as caught:
        apex(body)
    return caught.value.value.cls.name, caught.value.value.values["message"]


def table(expressions: list[str]) -> list[str]:
    """The values of many expressions, each as text, by one class."""
    methods = [f"public static Object m{place}() {{ return {each}; }}" for place, each in enumerate(expressions)]
    org = ApexOrg({"Probe.cls": f"public class Probe {{ {' '.join(methods)} }}"})
    return [text(org.call("Probe", f"m{place}")) for place in range(len(expressions))]


def check(pairs: dict[str, str]) -> None:
    """Each expression has the value beside it, as text."""
    assert dict(zip(pairs, table(list(pairs)), strict=True)) == pairs
