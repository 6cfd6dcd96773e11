"""Events that are lost to a stream: an alarm for each reason, and a sweep for what they would have told."""

from __future__ import annotations

from collections.abc import Iterable

import structlog

REFUSED = "the stream is refused: until it is not, each try asks for a sweep"


class Gaps:
    """The reasons since the last delivery."""

    def __init__(self, log: structlog.stdlib.BoundLogger) -> None:
        self._log = log
        self._reasons: list[str] = []

    def miss(self, why: str) -> None:
        """Events are lost."""
        self._log.warning("stream_gap", reason=why)
        self._reasons.append(why)

    def sweep(self, why: str) -> None:
        """Nothing may be lost, or it was told already; a sweep is wanted all the same."""
        self._reasons.append(why)

    def taken(self, further: Iterable[str | None]) -> str | None:
        """Why a sweep is needed, if it is; `further` is what the events themselves say. Told once."""
        for why in further:
            if why:
                self.miss(why)
        reasons, self._reasons = self._reasons, []
        return "; ".join(dict.fromkeys(reasons)) or None
