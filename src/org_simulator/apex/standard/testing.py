"""Test, Assert, and the assertions of System."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from org_simulator.apex.conversion import is_instance
from org_simulator.apex.faults import Thrown, Unsupported
from org_simulator.apex.limits import Limits
from org_simulator.apex.operators import equal
from org_simulator.apex.platform import method, static
from org_simulator.apex.raising import thrown
from org_simulator.apex.records import Record, to_stored
from org_simulator.apex.texts import text
from org_simulator.apex.tree import TypeName
from org_simulator.apex.values import Native


def _failed(what: str, given: tuple[Any, ...]) -> Thrown:
    return thrown("AssertException", f"Assertion Failed{f': {text(given[0])}' if given else ''}{what}")


@static("System.assert|Assert.isTrue", "void", 1, 2)
def assert_(_session: Any, condition: Any, *given: Any) -> None:
    if condition is not True:
        raise _failed("", given)


@static("Assert.isFalse", "void", 1, 2)
def is_false(_session: Any, condition: Any, *given: Any) -> None:
    if condition is not False:
        raise _failed("", given)


@static("System.assertEquals|Assert.areEqual", "void", 2, 3)
def assert_equals(_session: Any, expected: Any, actual: Any, *given: Any) -> None:
    """Texts are compared by case, as assertEquals does."""
    if not _same(expected, actual):
        raise _failed(f": Expected: {text(expected)}, Actual: {text(actual)}", given)


@static("System.assertNotEquals|Assert.areNotEqual", "void", 2, 3)
def assert_not_equals(_session: Any, expected: Any, actual: Any, *given: Any) -> None:
    if _same(expected, actual):
        raise _failed(f": Same value: {text(expected)}", given)


def _same(expected: Any, actual: Any) -> bool:
    if type(expected) is str and type(actual) is str:
        return bool(expected == actual)
    return equal(expected, actual)


@static("Assert.isNull", "void", 1, 2)
def is_null(_session: Any, value: Any, *given: Any) -> None:
    if value is not None:
        raise _failed(f": Expected null, Actual: {text(value)}", given)


@static("Assert.isNotNull", "void", 1, 2)
def is_not_null(_session: Any, value: Any, *given: Any) -> None:
    if value is None:
        raise _failed(": Expected a value, Actual: null", given)


@static("Assert.fail", "void", 0, 1)
def fail(_session: Any, *given: Any) -> None:
    raise _failed("", given)


@static("Assert.isInstanceOfType", "void", 2, 3)
def is_instance_of_type(session: Any, value: Any, kind: Native, *given: Any) -> None:
    wanted = session.program.resolver.type(TypeName(tuple(kind.held.split("."))), None)
    if not is_instance(value, wanted):
        raise _failed(f": Expected an instance of {kind.held}", given)


# ---- Test -----------------------------------------------------------------------------------------------------------


@static("Test.isRunningTest", "Boolean")
def is_running_test(session: Any) -> bool:
    return session.test is not None


def _running(session: Any) -> Any:
    if session.test is None:
        raise Unsupported("Test methods where no test runs")
    return session.test


@static("Test.startTest", "void")
def start_test(session: Any) -> None:
    """A new set of limits, until stopTest."""
    test = _running(session)
    test.outer = session.limits
    session.limits = Limits()


@static("Test.stopTest", "void")
def stop_test(session: Any) -> None:
    """What was asked to run later runs now, events are delivered, and the limits of before are back."""
    test = _running(session)
    if test.outer is None:
        raise Unsupported("Test.stopTest without startTest")
    test.inner = session.limits.used
    session.limits = test.outer
    test.outer = None
    test.deliver(session)


@static("Test.getEventBus", "TestEventBus")
def get_event_bus(session: Any) -> Native:
    return Native("TestEventBus", _running(session))


@method("TestEventBus.deliver", "void")
def deliver(session: Any, value: Native) -> None:
    value.held.deliver_events(session)


@static("Test.setCreatedDate", "void", 2)
def set_created_date(session: Any, record_id: Any, at: datetime) -> None:
    tx = session.tx
    name = session.org.sobject_of(record_id[:3])
    row = tx.any_row(name, record_id)
    if row is None:
        raise thrown("IllegalArgumentException", f"No such record: {record_id}")
    moment = to_stored(at).replace("+00:00", "+0000")
    tx.write(name, record_id, {**row, "CreatedDate": moment}, None)


@static("Test.loadData", "List<SObject>", 2)
def load_data(_session: Any, _kind: Any, _name: str) -> Record:
    raise Unsupported("Test.loadData")


__all__ = ["TypeName"]
