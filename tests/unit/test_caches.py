"""What is remembered to be quick is bounded."""

from __future__ import annotations

import importlib
import pkgutil
from functools import _lru_cache_wrapper

import lead_router

BY_SOURCE = {"lead_router.jobs.dialect.translate"}  # its keys are the statements of this program and the two dialects


def caches() -> dict[str, int | None]:
    """The most that each cache of production holds, None without a bound, by its whole name."""
    names = [one.name for one in pkgutil.walk_packages(lead_router.__path__, "lead_router.")]
    modules = [importlib.import_module(name) for name in names if not name.endswith("__main__")]
    found = {}
    for module in modules:
        places = [module, *(one for one in vars(module).values() if isinstance(one, type))]
        for cached in (one for place in places for one in vars(place).values() if isinstance(one, _lru_cache_wrapper)):
            found[f"{cached.__module__}.{cached.__qualname__}"] = cached.cache_parameters()["maxsize"]
    return found


def test_every_cache_is_bounded():
    """F10: whatever ids, hours and instants come by, no cache holds more than its size."""
    found = caches()

    assert len(found) > 5
    assert {name for name, most in found.items() if most is None} == BY_SOURCE
