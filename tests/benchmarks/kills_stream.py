"""A steady stream of leads that lasts as long as the kills do, however long these take."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from support.third_program import Form

TOGETHER = 5
PAUSE_MAX_S = 2.0
FIRST_GUESS_S = 2.5  # per part, until one has passed


class Stream:
    """Posts `leads` one small call after another, so that the last comes when the last of `parts` has passed."""

    def __init__(self, form: Form, leads: Sequence[Mapping[str, Any]], *, parts: int) -> None:
        self._form = form
        self._leads = leads
        self._parts = parts
        self._began = time.monotonic()
        self._passed = 0
        self._over = threading.Event()

    def passed(self, parts: int) -> None:
        """So many parts are over."""
        self._passed = parts

    @contextmanager
    def flowing(self) -> Iterator[None]:
        """Post beside the block; at its end what is left is posted at once."""
        self._began = time.monotonic()
        with ThreadPoolExecutor(1) as pool:
            posted = pool.submit(self._post)
            try:
                yield
            finally:
                self._over.set()
            posted.result()

    def _post(self) -> None:
        for at in range(0, len(self._leads), TOGETHER):
            self._form.post_together(self._leads[at : at + TOGETHER])
            calls_left = (len(self._leads) - at) // TOGETHER
            self._over.wait(min(PAUSE_MAX_S, self._left_s() / max(1, calls_left)))

    def _left_s(self) -> float:
        """How long the parts still to come will take, if they are as long as those before."""
        elapsed = time.monotonic() - self._began
        each_s = elapsed / self._passed if self._passed else FIRST_GUESS_S
        return max(0.0, self._parts * each_s - elapsed)
