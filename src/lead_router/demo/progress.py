"""Progress: one line on standard error that is written anew, or plain lines where nobody can see that."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TextIO

from lead_router.demo.witness import Tally

REFRESH_S = 0.5
PLAIN_EVERY_S = 4.0
BAR = 24
_ANEW = "\r\x1b[2K"


def line(elapsed_s: float, tally: Tally, leads: int) -> str:
    """How far `leads` leads are after `elapsed_s` seconds."""
    done = min(tally.ledger, leads)
    bar = "#" * (BAR * done // leads)
    waiting = max(0, tally.leads - tally.ledger)
    return (
        f"[{bar:<{BAR}}] {elapsed_s:5.1f} s  {tally.leads:>5,} posted  {tally.ledger:>5,} routed  {waiting:>4,} waiting"
    )


class Progress:
    """Shows `look`'s tally from a thread of its own until closed. With `out` None it shows nothing."""

    def __init__(self, look: Callable[[], Tally], leads: int, out: TextIO | None) -> None:
        self._look = look
        self._leads = leads
        self._out = out
        self._live = out is not None and out.isatty()
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._began = time.monotonic()
        self._thread = threading.Thread(target=self._run, name="progress", daemon=True)
        if out is not None:
            self._thread.start()

    def say(self, text: str) -> None:
        """One line that stays."""
        if self._out is not None:
            with self._lock:
                self._out.write(f"{_ANEW if self._live else ''}{text}\n")
                self._out.flush()

    def close(self) -> None:
        """Leave the last line standing."""
        self._over.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        try:
            while not self._over.wait(REFRESH_S if self._live else PLAIN_EVERY_S):
                self._show("" if self._live else "\n")
            self._show("\n")
        except (OSError, ValueError):
            # The org or the terminal is gone: whoever notices for good will say so, this was only for show.
            return

    def _show(self, end: str) -> None:
        assert self._out is not None  # noqa: S101 - the thread runs only with an output
        text = line(time.monotonic() - self._began, self._look(), self._leads)
        with self._lock:
            self._out.write(f"{_ANEW if self._live else ''}{text}{end}")
            self._out.flush()
