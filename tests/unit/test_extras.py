"""What is said of an extra that is missing can be typed."""

from __future__ import annotations

import shlex
import sys

from lead_router.ports.extras import install


def test_an_extra_is_installed_beside_the_program_that_misses_it(monkeypatch):
    """By its own Python: another pip of the path would install elsewhere, and might fetch a stranger of that name."""
    monkeypatch.setattr(sys, "executable", "/opt/lead router/bin/python")

    installed, checkout = install("operations").split(", or in a checkout ")

    assert shlex.split(installed) == ["/opt/lead router/bin/python", "-m", "pip", "install", "lead-router[operations]"]
    assert shlex.split(checkout) == [*shlex.split(installed)[:-1], "--editable", ".[operations]"]
