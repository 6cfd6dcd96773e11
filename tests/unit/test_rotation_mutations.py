"""Each rule of the rotation, broken on purpose: the promised sequences or the restated rule must tell."""

from __future__ import annotations

import inspect
from types import ModuleType

import pytest

from lead_router.core import rotation
from support.rotation_play import differing, golden

MUTATIONS = {
    "the clock is no floor": ("else max(member.next_turn, clock)", "else member.next_turn"),
    "a newcomer starts at zero": ("clock if member.next_turn is None", "0 if member.next_turn is None"),
    "more than two turns are owed": ("OWED_TURNS = 2", "OWED_TURNS = 3"),
    "only one turn is owed": ("OWED_TURNS = 2", "OWED_TURNS = 1"),
    "any number of turns is owed": ("max(place, mean - OWED_TURNS * stride(one))", "place"),
    "the means forget weights": (
        "weighted: int = sum(map(mul, weights, start))",
        "weighted = sum(weights) * sum(start) // len(on)",
    ),
    "the means are rounded up": ("weighted // sum(weights)", "weighted // sum(weights) + 1"),
    "the clock stands still": ("clock = max(group.clock, min(start.values()))", "clock = group.clock"),
    "the clock follows the able": (
        "clock = max(group.clock, min(start.values()))",
        "clock = max(group.clock, min(start[one.id] for one in able))",
    ),
    "all the able are ready": ("    if ready:\n        return ready", "    return able"),
    "who stands at the mean is not ready": ("<= mean]", "< mean]"),
    "readiness forgets weights": (
        "    mean = _mean(on, start.values())",
        "    mean = sum(start.values()) // len(on)",
    ),
    "readiness looks at the able alone": (
        "_mean(on, start.values())",
        "_mean(able, [start[member.id] for member in able])",
    ),
    "nobody ready means anybody": ("if start[member.id] == least]", "if least is not None]"),
    "the deadline forgets the stride": (
        "return start + stride(member), start, newcomer",
        "return start, start, newcomer",
    ),
    "the start does not settle ties": ("stride(member), start, newcomer", "stride(member), 0, newcomer"),
    "newcomers come first": ("newcomer, member.last_turn or 0", "not newcomer, member.last_turn or 0"),
    "the last turn does not settle ties": ("newcomer, member.last_turn or 0", "False, 0"),
    "the shortest wait comes first": ("member.last_turn or 0", "-(member.last_turn or 0)"),
    "the sort order does not settle ties": ("member.sort_order, member.id", "0, member.id"),
    "the id does not settle ties": ("member.sort_order, member.id", 'member.sort_order, ""'),
    "the stride is not added": ("start[picked.id] + stride(picked), clock", "start[picked.id], clock"),
    "the stride is added to the clock": ("start[picked.id] + stride(picked), clock", "clock + stride(picked), clock"),
    "every stride is alike": ("SECOND // member.weight", "SECOND"),
    "weight 0 is on duty": ("and member.weight > 0", ""),
    "duty is not asked": ("if member.id in duty and member.weight", "if member.weight"),
    "eligibility is not asked": ("if member.id in eligible", "if member.id"),
    "the turn is not counted": ("number = group.turn + 1", "number = group.turn"),
    "the own last turn is not kept": ("last_turn=number", "last_turn=picked.last_turn"),
    "the clock is not kept": ("clock=clock, members=members", "members=members"),
    "the member is not kept": ("member if one is picked else one for one", "one for one"),
}


def _broken(find: str, put: str) -> ModuleType:
    source = inspect.getsource(rotation)
    assert source.count(find) == 1, f"the mutation's text must stand once in the rotation: {find}"
    module = ModuleType("broken_rotation")
    exec(compile(source.replace(find, put), "broken_rotation", "exec"), module.__dict__)  # noqa: S102 - our own source
    return module


def _passes(module: ModuleType) -> bool:
    try:
        right = all(expected == got for expected, got in golden(module.take_turn).values())
        return right and all(differing(module.take_turn, [seed]) == [] for seed in range(40))
    except (AssertionError, ZeroDivisionError, ValueError, TypeError):
        return False


def test_the_unbroken_rotation_passes():
    """The checks that the mutations meet are met by the real rotation."""
    assert _passes(rotation)


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_broken_rule_is_seen(name):
    """One mutation of each rule turns at least one check red."""
    find, put = MUTATIONS[name]
    assert not _passes(_broken(find, put))
