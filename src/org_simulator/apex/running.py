"""Apex tests: every test method in an org state of its own, with what it cost and which lines it reached."""

from __future__ import annotations

import time
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from org_simulator.apex import jobs
from org_simulator.apex.automation import Automation
from org_simulator.apex.classes import ApexClass, ApexMethod, shown
from org_simulator.apex.faults import Thrown, Unsupported
from org_simulator.apex.invoking import invoke
from org_simulator.apex.limits import Limits
from org_simulator.apex.session import Session

if TYPE_CHECKING:
    from org_simulator.apex.program import Program
    from org_simulator.org import Org

ROUNDS_MAX = 20
"""Times that what a stopTest starts may start more."""


@dataclass(slots=True)
class TestState:
    """What a running test has started; `outer` are the limits from before startTest, `inner` those used in between."""

    __test__ = False

    outer: Limits | None = None
    inner: dict[str, int] | None = None

    def deliver(self, session: Session) -> None:
        """Run what waits for a commit, as if it came: jobs and events, each with limits of its own."""
        for _ in range(ROUNDS_MAX):
            if not session.jobs and not session.events:
                return
            self.deliver_events(session)
            waiting, session.jobs[:] = list(session.jobs), []
            for job in waiting:
                jobs.perform(job, lambda work: self._apart(session, work))
        raise Unsupported("jobs of a test that never end")

    def deliver_events(self, session: Session) -> None:
        """Run the triggers of the events that wait."""
        waiting, session.events[:] = list(session.events), []
        by_name: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
        for name, fields, _ in waiting:
            by_name[name].append(fields)
        for name, found in by_name.items():
            delivery = jobs.Delivery(name, tuple(found))
            self._apart(session, lambda inner, delivery=delivery: jobs.deliver(inner, delivery))

    def _apart(self, session: Session, work: Any) -> Any:
        """In the test's transaction, but with statics and limits of its own."""
        inner = Session(session.program, session.tx, asynchronous=True)
        inner.test, inner.hits = self, session.hits
        session.tx.session = inner
        try:
            value = work(inner)
        finally:
            session.tx.session = session
        session.events += inner.events
        session.jobs += inner.jobs
        return value


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a test method: `failure` is empty if it passed."""

    name: str
    failure: str
    seconds: float
    used: dict[str, int]


@dataclass(slots=True)
class Report:
    """All outcomes, and lines by class: those with statements, those reached."""

    outcomes: list[Outcome] = field(default_factory=list)
    lines: dict[str, tuple[set[int], set[int]]] = field(default_factory=dict)

    @property
    def failed(self) -> list[Outcome]:
        """The tests that did not pass."""
        return [each for each in self.outcomes if each.failure]

    def coverage(self) -> float:
        """Reached lines of all classes and triggers, test classes left out; 1 where there are none."""
        whole = sum(len(lines) for lines, _ in self.lines.values())
        return sum(len(hit) for _, hit in self.lines.values()) / whole if whole else 1.0


def run_tests(org: Org, program: Program, wanted: str = "") -> Report:
    """Run the @IsTest methods whose `Class.method` contains `wanted`."""
    org.automation = automation = Automation(org, program)
    report = Report()
    hits: defaultdict[ApexClass, set[int]] = defaultdict(set)
    for name, setups, method in tests_of(program):
        if wanted.lower() in name.lower():
            report.outcomes.append(run_one(automation, setups, method, hits))
    for cls in (*program.every(), *(trigger.cls for trigger in program.triggers)):
        if not cls.test and cls.lines:
            file = cls.file
            lines, hit = report.lines.setdefault(file, (set(), set()))
            lines |= cls.lines
            hit |= hits[cls] & cls.lines
    return report


def tests_of(program: Program) -> list[tuple[str, list[ApexMethod], ApexMethod]]:
    """Each test by its `Class.method`, with the methods that set its org up."""
    found = []
    for cls in program.classes.values():
        if not cls.test:
            continue
        methods = [each for named in cls.methods.values() for each in named]
        setups = [each for each in methods if _marked(each, "testsetup")]
        found += [(f"{cls.name}.{each.name}", setups, each) for each in methods if is_test(each)]
    return found


def _marked(method: ApexMethod, name: str) -> bool:
    return method.decl is not None and name in method.decl.marks.annotations


def is_test(method: ApexMethod) -> bool:
    """Whether it is a test method."""
    words = method.decl.marks.words if method.decl is not None else frozenset()
    return _marked(method, "istest") or "testmethod" in words


def run_one(
    automation: Automation,
    setups: list[ApexMethod],
    method: ApexMethod,
    hits: defaultdict[ApexClass, set[int]],
) -> Outcome:
    """Run one test in a transaction that is undone; the lines it reached are added to `hits`."""
    org = automation.org
    started = time.perf_counter()
    failure, used = "", dict[str, int]()
    with org.transaction(org.admin_user_id, api="apex") as tx:
        for each in (*setups, method):
            tx.session = session = Session(automation.program, tx)
            session.test, session.hits = TestState(), hits
            failure = failure or _one(session, each)
            used = session.test.inner or session.limits.used
        tx.rollback()
    name = f"{method.owner.name}.{method.name}"
    return Outcome(name, failure, time.perf_counter() - started, dict(used))


def _one(session: Session, method: ApexMethod) -> str:
    """Run one method; the text of what it failed with."""
    try:
        session.static_of(method.owner)
        invoke(session, method, None, ())
    except Thrown as fault:
        value = fault.value
        where = "\n".join(f"  {name}: line {line}" for name, line in fault.trace)
        return f"{shown(value.cls)}: {value.values.get('message')}\n{where}"
    except Unsupported as fault:
        return str(fault)
    except RecursionError:
        return "System.LimitException: Maximum stack depth reached"
    return ""
