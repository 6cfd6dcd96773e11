"""An org's stream on a loopback socket, served by a thread of its own."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from org_simulator.cometd import Terms
from support.bayeux import serving
from support.beside import served_beside

TERMS = Terms(poll_s=0.5, reconnect_s=2.0)


@contextlib.contextmanager
def served(org: Any, terms: Terms = TERMS) -> Iterator[str]:
    """The value is its URL."""
    with served_beside(serving(org, terms)) as place:
        yield place.url
