"""Where a CometD stream stands, and when a replay id is complete.

Several events may bear one replay id (enriched or filtered channels), and `replay after N` skips all of them. So the
last id of an answer is stored only after another id followed it, or after the server had nothing more to say.
"""

from __future__ import annotations

from collections.abc import Sequence

from lead_router.ports import Delivery, Position
from lead_router.salesforce.bayeux import RETAINED


class Progress:
    """The stored position, and the id behind it that is not yet known to be complete."""

    def __init__(self, channel: str) -> None:
        self._channel = channel
        self._open: int | None = None
        self._asked_at: float | None = None
        self.position: Position | None = None

    def loaded(self, position: Position) -> bool:
        """Take over what was stored earlier; False if it is no CometD replay id, then all that is retained is due."""
        self.position = position
        usable = replay_id_of(position) is not None
        if not usable:
            self.expired()
        return usable

    def stored(self, position: Position) -> None:
        """The position is on disk."""
        self.position = position
        if replay_id_of(position) == self._open:
            self._open = None

    def expired(self) -> None:
        """The stored id is dead. From now on all that is retained is due; so says the store too, once it is told."""
        self.position = self._at(RETAINED)
        self._open = RETAINED

    def awaiting(self, since: float | None) -> None:
        """A connect is waiting behind everything received so far, or none is."""
        self._asked_at = since

    def behind(self, ids: Sequence[int]) -> Position | None:
        """The position to store with these events, in order of arrival: the last id that another one followed.

        Without any position yet the last id itself: better than none at all.
        """
        known = [self._open, *ids] if self._open is not None else list(ids)
        if not known:
            return None
        if ids:
            self._asked_at = None
        last = known[-1]
        self._open = last
        complete = [replay_id for replay_id in known if replay_id != last]
        if complete:
            return self._at(complete[-1])
        return self._at(last) if self.position is None or last == RETAINED else None

    def settled(self, before: float) -> Delivery:
        """The last id as a delivery of its own, if a connect has been waiting since `before` without bringing more."""
        if self._open is None or self._asked_at is None or self._asked_at > before:
            return Delivery()
        return self.confirmed()

    def confirmed(self) -> Delivery:
        """The server answered that nothing more has come: the last id is complete, or the position still holds."""
        return Delivery(position=self._at(self._open) if self._open is not None else self.position)

    def _at(self, replay_id: int) -> Position:
        return Position(self._channel, str(replay_id).encode())


def replay_id_of(position: Position) -> int | None:
    """The number to subscribe with, None where the position was not made by this kind of stream."""
    try:
        text = position.replay_id.decode("ascii")
    except UnicodeDecodeError:
        return None
    return int(text) if text.isdigit() or text == str(RETAINED) else None


def start_of(position: Position | None, default: int) -> tuple[int, str]:
    """Where a subscription starts, and why there: `stored`, `retained` (after an expired id) or `default`."""
    replay_id = replay_id_of(position) if position is not None else None
    if replay_id is None:
        return default, "default"
    return replay_id, "retained" if replay_id == RETAINED else "stored"
