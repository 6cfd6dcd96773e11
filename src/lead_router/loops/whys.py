"""Why sweeps are due, in a handful of words: their reasons are texts, of which there is no end."""

from __future__ import annotations

from typing import Final

from lead_router.ports import SET_BACK

GAP: Final = "gap"
"""Anything else: the stream says that events are lost to it, or may be."""

_BEGINNINGS: Final = {
    "interval": "interval",
    "first start": "start",
    "subscribed to new events only": "start",
    "configuration changed": "configuration",
    "a lead was given back": "returned",
    "the last one was not ended": "again",
    "the database did not answer": "again",
    SET_BACK: "clock",
}


def kind_of(reason: str) -> str:
    """One of seven words for a sweep's reason."""
    return next((kind for beginning, kind in _BEGINNINGS.items() if reason.startswith(beginning)), GAP)
