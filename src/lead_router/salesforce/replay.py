"""Where a stream stands, and when a replay id is complete.

Several events may bear one replay id (enriched or filtered channels), and `replay after N` skips all of them. So the
last id of an answer is stored only after another id followed it, or after the server had nothing more to say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, Protocol, TypeVar

from lead_router.errors import LeadRouterError
from lead_router.ports import Delivery, Position
from lead_router.salesforce.bayeux import RETAINED
from lead_router.salesforce.losses import Broken, Lost

Id = TypeVar("Id")


class Ids(Protocol[Id]):
    """A protocol's replay ids and how they are stored; `retained` stands for all that is retained."""

    @property
    def retained(self) -> Id:
        """Stored after an id was refused: the next subscription begins with the oldest event."""
        ...

    def written(self, replay_id: Id) -> bytes:
        """As it is stored."""
        ...

    def read(self, stored: bytes) -> Id | None:
        """Back again; None where it was not made by this protocol."""
        ...


class Numbers:
    """CometD's: whole numbers, stored in decimal; -2 is all that is retained."""

    retained = RETAINED

    def written(self, replay_id: int) -> bytes:
        """In decimal."""
        return str(replay_id).encode()

    def read(self, stored: bytes) -> int | None:
        """The number to subscribe with."""
        try:
            text = stored.decode("ascii")
        except UnicodeDecodeError:
            return None
        return int(text) if text.isdigit() or text == str(RETAINED) else None


class Opaque:
    """Pub/Sub's: bytes, stored as they came; none at all is all that is retained."""

    retained = b""

    def written(self, replay_id: bytes) -> bytes:
        """Unchanged."""
        return replay_id

    def read(self, stored: bytes) -> bytes | None:
        """Unchanged."""
        return stored


class Progress(Generic[Id]):
    """The stored position, and the id behind it that is not yet known to be complete."""

    def __init__(self, channel: str, ids: Ids[Id]) -> None:
        self._channel = channel
        self._ids: Ids[Id] = ids
        self._open: Id | None = None
        self._asked_at: float | None = None
        self._loaded = False
        self.position: Position | None = None

    def loaded(self, position: Position) -> bool:
        """Take over what was stored earlier; False if it is no replay id, then all that is retained is due."""
        self.position = position
        usable = self._ids.read(position.replay_id) is not None
        if not usable:
            self.expired()
        return usable

    def load_once(self, load: Callable[[], Position | None]) -> bool:
        """Take over what `load` gives, until that succeeds once; False as `loaded` says. Raises Lost."""
        if self._loaded:
            return True
        try:
            position = load()
        except LeadRouterError as fault:
            raise Lost(Broken(f"the stored position could not be read: {fault}")) from None
        self._loaded = True
        return position is None or self.loaded(position)

    def stored(self, position: Position) -> None:
        """The position is on disk."""
        self.position = position
        if self._ids.read(position.replay_id) == self._open:
            self._open = None

    def expired(self) -> None:
        """The stored id is dead. From now on all that is retained is due; so says the store too, once it is told."""
        self.position = self._at(self._ids.retained)
        self._open = self._ids.retained

    def awaiting(self, since: float | None) -> None:
        """A connect is waiting behind everything received so far, or none is."""
        self._asked_at = since

    def behind(self, ids: Sequence[Id]) -> Position | None:
        """The position to store with these events, in order of arrival: the last id that another one followed.

        Without any position yet the last id itself: better than none at all.
        """
        known: list[Id] = [*([] if self._open is None else [self._open]), *ids]
        if not known:
            return None
        if ids:
            self._asked_at = None
        last = known[-1]
        self._open = last
        complete = [replay_id for replay_id in known if replay_id != last]
        if complete:
            return self._at(complete[-1])
        return self._at(last) if self.position is None or last == self._ids.retained else None

    def settled(self, before: float) -> Delivery:
        """The last id as a delivery of its own, if a connect has been waiting since `before` without bringing more."""
        if self._open is None or self._asked_at is None or self._asked_at > before:
            return Delivery()
        return self.confirmed()

    def confirmed(self) -> Delivery:
        """The server answered that nothing more has come: the last id is complete, or the position still holds."""
        return Delivery(position=self._at(self._open) if self._open is not None else self.position)

    def reached(self, replay_id: Id) -> Delivery:
        """The server stands there, and nothing before it is undelivered."""
        self._open = replay_id
        return self.confirmed()

    def start(self) -> tuple[Id | None, str]:
        """Where a subscription starts now, and why: `stored`, `retained` (after an expired id) or `default` (None).

        What the last session left open comes again, and until it has, another id does not complete it.
        """
        if self._open != self._ids.retained:
            self._open = None
        replay_id = self._ids.read(self.position.replay_id) if self.position is not None else None
        if replay_id is None:
            return None, "default"
        return replay_id, "retained" if replay_id == self._ids.retained else "stored"

    def _at(self, replay_id: Id) -> Position:
        return Position(self._channel, self._ids.written(replay_id))
