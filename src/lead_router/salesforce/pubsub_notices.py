"""Topics whose events say only that something changed, each heard by a stream beside the one that matters.

They are heard from now on and bear no position: whoever begins to hear, or hears again, has to look for himself, once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import structlog

from lead_router.salesforce.eventbus import ReplayPreset
from lead_router.salesforce.losses import Lost, Refused
from lead_router.salesforce.notices import SUBSCRIBED, remedy_for
from lead_router.salesforce.pubsub_call import PubSubChannel

_log = structlog.get_logger()


class TopicNotices:
    """The topics beside a stream; one that is refused, or that ends, is asked for again after `again_s` seconds."""

    def __init__(self, channel: PubSubChannel, topics: Sequence[str], *, again_s: float) -> None:
        self._channel = channel
        self._topics = tuple(topics)
        self._again_s = again_s
        self._hearing: list[asyncio.Task[None]] = []
        self._warned: set[str] = set()
        self._reasons: list[str] = []

    def begin(self) -> None:
        """Hear every topic, one stream each, until `end`."""
        self._hearing = [asyncio.ensure_future(self._keep_hearing(topic)) for topic in self._topics]

    async def end(self) -> None:
        """Hear nothing more."""
        hearing, self._hearing = self._hearing, []
        for each in hearing:
            each.cancel()
        if hearing:
            await asyncio.wait(hearing)

    def taken(self) -> str | None:
        """Why one has to look, if one has; told once."""
        reasons, self._reasons = self._reasons, []
        return ", ".join(dict.fromkeys(reasons)) or None

    async def _keep_hearing(self, topic: str) -> None:
        while True:
            try:
                await self._hear(topic)
            except Lost as lost:
                if topic not in self._warned:
                    self._warned.add(topic)
                    _log.warning("notices_refused", channel=topic, reason=lost.loss.text, remedy=remedy_for(lost.loss))
            await asyncio.sleep(self._again_s)

    async def _hear(self, topic: str) -> None:
        told = await self._channel.topic(topic)
        if not told.can_subscribe:
            raise Lost(Refused(f"the org does not let this user hear {topic}"))
        stream = self._channel.subscribe(topic)
        try:
            await stream.begin(ReplayPreset.LATEST)
            self._warned.discard(topic)
            self._reasons.append(SUBSCRIBED)
            _log.info("notices_subscribed", channel=topic)
            while True:
                if (await stream.receive()).events:
                    self._reasons.append(topic)
                await stream.ask()
        finally:
            stream.end()
