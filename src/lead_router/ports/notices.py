"""Notices: what is told outside of what was done, each once to each of its channels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol, TypeAlias


class NoticeKind(StrEnum):
    """What a notice is about: how its lead came to its owner, or that the owner is reminded of it."""

    ASSIGNED = "assigned"
    FALLBACK = "fallback"
    MATCHED = "matched"
    DUPLICATE = "duplicate"
    REMINDER = "reminder"


@dataclass(frozen=True, slots=True)
class NewNotice:
    """Something to be told once, however often it is handed in under its key.

    `user_id` is who is told, a user or a queue, `name` theirs where it is known. `owner_id` is whose the lead must
    still be when it is sent: blank, their own. `round` is the lead's, by which a later notice of the lead takes the
    place of an earlier one that was not sent. `reason` is one line that names rules, groups and members, never the
    lead.
    """

    key: str
    kind: NoticeKind
    lead_id: str
    user_id: str
    round: int
    reason: str
    name: str = ""
    group: str = ""
    owner_id: str = ""


ChannelsOf: TypeAlias = Callable[[NewNotice], Sequence[str]]
"""The names of the channels that a notice goes to."""


def nowhere(_notice: NewNotice) -> Sequence[str]:
    """Nobody is told."""
    return ()


@dataclass(frozen=True, slots=True)
class TakenNotice:
    """A claimed notice of one channel. Only the claim that holds the token may send it and say what came of it."""

    id: int
    token: str
    channel: str
    what: NewNotice
    attempts: int
    age_s: float


@dataclass(frozen=True, slots=True)
class Sent:
    """The channel has taken it."""


@dataclass(frozen=True, slots=True)
class Unsent:
    """It was surely not sent: again in `delay_s` seconds. The attempt counts only where it was the notice's own."""

    delay_s: float
    error: str
    counts: bool = True


@dataclass(frozen=True, slots=True)
class GivenUp:
    """It was surely not sent, and will not be."""

    error: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """It may have been sent. Nobody can know, so that it is not sent again."""

    error: str


@dataclass(frozen=True, slots=True)
class Dropped:
    """What it tells is no longer so; it was not sent."""

    reason: str


NoticeEnding: TypeAlias = Sent | Unsent | GivenUp | Unknown | Dropped


@dataclass(frozen=True, slots=True)
class NoticeView:
    """A notice as a person sees it (`lead-router notices`)."""

    id: int
    channel: str
    status: str
    kind: str
    lead_id: str
    user_id: str
    attempts: int
    created_at: datetime
    next_run_at: datetime
    completed_at: datetime | None
    last_error: str | None
    reason: str
    key: str


@dataclass(frozen=True, slots=True)
class ChannelView:
    """A channel at a glance: how many notices by status, and for how many seconds the oldest unsent one has waited.

    Of those that were sent or dropped, the last 24 hours' count.
    """

    channel: str
    by_status: Mapping[str, int]
    oldest_age_s: float | None


class Notices(Protocol):
    """The part of the job store that keeps notices. Raises StoreUnavailable as the rest of it does."""

    @property
    def notifies(self) -> bool:
        """Whether anybody is told anything: whoever makes notices need not where it is False."""
        ...

    def notify(self, notices: Sequence[NewNotice]) -> int:
        """Write them down for their channels; how many were new. Earlier rounds' unsent ones are dropped."""
        ...

    def take_notice(self, channel: str, *, lease_s: float, pace_s: float) -> TakenNotice | None:
        """Claim the earliest due notice of the channel, each person's in order; None where there is none, or not yet.

        Whoever claims, of whatever process, gets one every `pace_s` seconds at most. One that was being sent when its
        lease ended is unknown from then on.
        """
        ...

    def sending(self, notice: TakenNotice, *, lease_s: float) -> bool:
        """It is about to be sent, which outlives even the machine. False: it is no longer ours to send."""
        ...

    def end_notice(self, notice: TakenNotice, how: NoticeEnding) -> bool:
        """What came of it; False where the claim was lost."""
        ...

    def unsent_leads(self, channel: str, *, older_than_s: float, limit: int) -> list[str]:
        """Leads of the channel's notices that have waited so long, those that come next first."""
        ...

    def notices(self, *, status: str | None = None, limit: int = 50) -> list[NoticeView]:
        """Notices, newest first."""
        ...

    def notices_of(self, lead_id: str, *, limit: int) -> list[NoticeView]:
        """A lead's notices, newest first."""
        ...

    def channels(self) -> list[ChannelView]:
        """All channels that have anything to tell of."""
        ...

    def forget_notices(self, *, older_than_s: float, limit: int) -> int:
        """Delete up to `limit` notices that are over, or were never sent, for longer; how many it were."""
        ...


@dataclass(frozen=True, slots=True)
class Channel:
    """A way to people outside, by name: what it is told of, and how.

    Blank `groups` and `kinds` are all. One letter goes out every `pace_s` seconds at most, `tries` is how often one is
    tried that the channel refuses by itself, and `give_up_s` how long one waits for a channel that is away. `fields`
    are API names of the Lead fields that it shows.
    """

    name: str
    groups: frozenset[str] = frozenset()
    kinds: frozenset[NoticeKind] = frozenset()
    pace_s: float = 1.0
    deadline_s: float = 10.0
    tries: int = 5
    give_up_s: float = 14_400.0
    fields: tuple[str, ...] = ()

    def hears(self, notice: NewNotice) -> bool:
        """Whether the notice goes to it; one of no group goes to those that hear all groups."""
        of_group = not self.groups or notice.group in self.groups
        return of_group and (not self.kinds or notice.kind in self.kinds)


@dataclass(frozen=True, slots=True)
class Letter:
    """A notice in words: a title, lines of text, and where its lead is to be seen."""

    title: str
    lines: tuple[str, ...]
    link: str
    lead_id: str
    user_id: str


@dataclass(frozen=True, slots=True)
class Delivered:
    """The channel has taken the letter."""


@dataclass(frozen=True, slots=True)
class Declined:
    """The channel refuses this very letter, which was not sent."""

    text: str


@dataclass(frozen=True, slots=True)
class Down:
    """Nothing was sent, and no other letter would be: the channel is away, asks for a rest, or is set up wrongly."""

    text: str
    retry_after: float = 0.0


@dataclass(frozen=True, slots=True)
class Unclear:
    """No answer came, or none that tells whether the letter was sent."""

    text: str


Delivery: TypeAlias = Delivered | Declined | Down | Unclear


class Messenger(Protocol):
    """A way to people outside. No text of its answers holds a secret."""

    def send(self, letter: Letter) -> Delivery:
        """Hand over one letter, within the messenger's own deadline; raises nothing for what the other side does."""
        ...
