"""The same fault planted in either router, in rotation, keys or duty: the shared cases of it go red, and no others."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections import defaultdict
from collections.abc import Callable
from functools import lru_cache
from types import ModuleType

import pytest

from lead_router.core import duty, keys, rotation
from mutation import suite
from mutation.chosen import ByHand, made
from org_simulator.apex import running
from org_simulator.schema import default_metadata
from org_simulator.schema import load as load_schema
from support.shipped_metadata import PROJECT

Change = tuple[str, str]
OUTSIDE: dict[str, tuple[ModuleType, Change]] = {
    "rotation": (rotation, ("OWED_TURNS = 2", "OWED_TURNS = 3")),
    "keys": (keys, ('f"{to18(lead_id)}.{round_}"', 'f"{to18(lead_id)}-{round_}"')),
    "duty": (duty, ("count >= member.daily_cap", "count > member.daily_cap")),
}
INSIDE: dict[str, tuple[str, Change]] = {
    "rotation": ("RoutingRotation", ("OWED_TURNS = 2;", "OWED_TURNS = 3;")),
    "keys": ("RoutingKeys", ("return leadId + '.' + round;", "return leadId + '-' + round;")),
    "duty": ("RoutingDuty", ("if (count >= member.dailyCap)", "if (count > member.dailyCap)")),
}
APEX_CASES = {"rotationIsTheSame": "rotation", "keysAreTheSame": "keys", "dutyIsTheSame": "duty"}


@pytest.fixture
def shared() -> ModuleType:
    """The module of shared cases, which a test may hand another core."""
    return importlib.import_module("unit.test_shared_cases")


@lru_cache
def apex(parser) -> suite.Sources:
    return suite.read(PROJECT, load_schema(default_metadata()), parser)


def planted(module: ModuleType, change: Change, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A copy of a module of the core, with one text changed."""
    source = inspect.getsource(module)
    assert source.count(change[0]) == 1, f"the fault's text must stand once: {change[0]}"
    broken = ModuleType(f"broken_{module.__name__}")
    monkeypatch.setitem(sys.modules, broken.__name__, broken)  # dataclasses look their module up
    exec(compile(source.replace(*change), broken.__name__, "exec"), broken.__dict__)  # noqa: S102 - our own source
    return broken


def red(shared: ModuleType) -> set[str]:
    """The kinds of shared cases of which one fails at least."""
    cases = {
        "rotation": (shared.test_rotation_is_that_of_the_cases, shared.CASES["rotation"]),
        "keys": (shared.test_keys_of_leads_are_those_of_the_cases, shared.CASES["keys"]["ids"]),
        "duty": (shared.test_duty_is_that_of_the_cases, shared.CASES["duty"]),
    }
    return {kind for kind, (check, found) in cases.items() if not all(_holds(check, case) for case in found)}


def _holds(check: Callable[[dict], None], case: dict) -> bool:
    try:
        check(case)
    except AssertionError:
        return False
    return True


def red_inside(program) -> set[str]:
    """The same of the test class that an org runs."""
    automation = suite.in_org(program, load_schema(default_metadata()))
    kinds = {f"LeadRoutingCasesTest.{method}": kind for method, kind in APEX_CASES.items()}
    return {
        kinds[name]
        for name, setups, method in running.tests_of(program)
        if name in kinds and running.run_one(automation, setups, method, defaultdict(set)).failure
    }


@pytest.mark.apex
def test_neither_router_is_red_as_it_is(shared, apex_parser):
    """So that red below is the fault's doing."""
    assert red(shared) == set()
    sound = apex(apex_parser)
    assert red_inside(sound.program()) == set()


@pytest.mark.parametrize("kind", OUTSIDE)
def test_a_fault_outside_is_found_by_the_shared_cases(shared, monkeypatch, kind):
    """Three turns owed instead of two, a lead's key with another sign, one lead more than a member's cap."""
    broken = planted(*OUTSIDE[kind], monkeypatch)
    names = {"rotation": ("take_turn",), "duty": ("off_duty", "Moment"), "keys": ()}[kind]
    for name in names:
        monkeypatch.setattr(shared, name, getattr(broken, name))
    if kind == "keys":
        monkeypatch.setattr(shared, "keys", broken)
    assert red(shared) == {kind}


@pytest.mark.apex
@pytest.mark.parametrize("kind", INSIDE)
def test_a_fault_inside_is_found_by_the_shared_cases(apex_parser, kind):
    """The same three, in Apex, by the test class that an org runs."""
    cls, change = INSIDE[kind]
    sound = apex(apex_parser)
    mutant = made(ByHand(cls, *change, promise=kind), sound, apex_parser)
    assert red_inside(sound.with_unit(mutant.file, mutant.made)) == {kind}
