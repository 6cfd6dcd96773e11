"""Notices: channels whose events say only that something changed. The stream beside them never suffers for them.

They are heard from now on and bear no position: whoever subscribes, or subscribes again, has to look for himself, once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import structlog

from lead_router.salesforce import bayeux
from lead_router.salesforce.cometd_session import Session
from lead_router.salesforce.losses import ClientEnded, Loss, Lost, Refused, SessionLost, TokenRefused
from lead_router.salesforce.names import Permissions

_log = structlog.get_logger()

SUBSCRIBED = "subscribed"
_WAIT = "nothing: until it is there, its changes are seen by time alone"
_REMEDY = (
    "its changes are seen by time alone; deploy salesforce_metadata (platformEventChannelMembers) "
    f"and assign the permission set {Permissions.INTEGRATION_SET}"
)


class Notices:
    """The channels beside a stream; those that the org refuses are asked for again after `again_s` seconds."""

    def __init__(self, channels: Sequence[str], *, again_s: float) -> None:
        self._channels = frozenset(channels)
        self._again_s = again_s
        self._missing: list[str] = []
        self._again_at = 0.0
        self._warned: set[str] = set()
        self._reasons: list[str] = []

    def lost(self) -> None:
        """The session is over, and every subscription with it."""
        self._missing = sorted(self._channels)
        self._again_at = float("-inf")

    async def subscribe(self, session: Session, now: float) -> bool:
        """Subscribe to what is missing, if it is time; True if a channel was won.

        Raises Lost where the session is over. Whatever else keeps a channel away is one warning, until it is there.
        """
        if not self._missing or now < self._again_at:
            return False
        wanted, self._missing = self._missing, []
        self._again_at = now + self._again_s
        for channel in wanted:
            try:
                await session.subscribe(channel, bayeux.NEW_ONLY)
            except Lost as lost:
                if isinstance(lost.loss, TokenRefused | SessionLost | ClientEnded):
                    raise
                self._missing.append(channel)
                self._warn(channel, lost.loss)
            else:
                self._warned.discard(channel)
                self._reasons.append(SUBSCRIBED)
                _log.info("notices_subscribed", channel=channel)
        return len(self._missing) < len(wanted)

    def sorted_out(self, inbox: Iterable[Any]) -> list[Any]:
        """The inbox without notices."""
        events: list[Any] = []
        for frame in inbox:
            if bayeux.is_frame(frame) and frame["channel"] in self._channels:
                self._reasons.append(frame["channel"])
            else:
                events.append(frame)
        return events

    def taken(self) -> str | None:
        """Why one has to look, if one has; told once."""
        reasons, self._reasons = self._reasons, []
        return ", ".join(dict.fromkeys(reasons)) or None

    def _warn(self, channel: str, loss: Loss) -> None:
        if channel not in self._warned:
            self._warned.add(channel)
            _log.warning("notices_refused", channel=channel, reason=loss.text, remedy=remedy_for(loss))


def remedy_for(loss: Loss) -> str:
    """What to do about a channel that is not heard."""
    return _REMEDY if isinstance(loss, Refused) else _WAIT
