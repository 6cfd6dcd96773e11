"""Sweeps: looks for leads that no event brought, of which one at a time is somebody's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Sweeps(Protocol):
    """The part of the job store that says whether a sweep is due. Raises StoreUnavailable as the rest of it does."""

    def request_sweep(self, reason: str) -> None:
        """Ask for a sweep soon."""
        ...

    def take_sweep(self, *, every_s: float) -> str | None:
        """The reason if a sweep is due, and mark it as begun.

        It is due where it was asked for, the last one is older than `every_s`, or its taker gave no sign of life for a
        minute. One a minute in the future, or asked for a minute in the future, tells of a clock set back: the reason
        begins with SET_BACK, and no job waits longer.
        """
        ...

    def reopen(self, keys: Sequence[str]) -> int:
        """The jobs of these idempotency keys that ended because their leads were not to be read are due anew.

        Answers how many they were. All other jobs stay as they are.
        """
        ...

    def keep_sweep(self, reason: str) -> None:
        """The sweep that was taken for that reason is going on; to be told more often than once a minute."""
        ...

    def end_sweep(self, reason: str) -> None:
        """The sweep that was taken for that reason has looked at everything."""
        ...
