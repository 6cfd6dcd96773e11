"""One seed, played to its end: apart, because a process of a pool does not find what stands in `__main__`."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from simulation.play import played
from simulation.promises import broken


@dataclass(frozen=True, slots=True)
class Played:
    """What became of one seed."""

    seed: int
    broken: tuple[str, ...]
    counts: Counter[str]


def outcome_of(seed: int, *, apex: bool | None = None, requests: bool | None = None) -> Played:
    """Play a seed to its end; a fault of the play itself is told as a broken promise."""
    try:
        with played(seed, apex=apex, requests=requests) as play:
            return Played(seed, tuple(broken(play)), play.counts)
    except Exception as fault:  # noqa: BLE001 - the other seeds are to be played
        return Played(seed, (f"play: {type(fault).__name__}: {fault}",), Counter())
