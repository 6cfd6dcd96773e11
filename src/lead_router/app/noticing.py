"""Notices in this process: the channels' messengers, and a letter to try them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lead_router.app.noticefile import SALESFORCE, NoticePlan, notice_plan
from lead_router.app.wiring import Wired, wire
from lead_router.core.hidden import scrub
from lead_router.errors import LeadRouterError, Misconfigured
from lead_router.hops.apprised import Apprised
from lead_router.ports import Finding
from lead_router.ports.notices import Channel, Delivered, Delivery, Letter, Messenger
from lead_router.salesforce.notifications import Bell
from lead_router.settings import PREFIX, Settings

NOBODY = "000000000000000AAA"
"""The id of no record, as Salesforce's own documents use it where a notification has no target."""


@dataclass(frozen=True, slots=True)
class Post:
    """The channels of one process, each with what sends its letters."""

    plan: NoticePlan
    messengers: Mapping[str, Messenger]


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of a letter to a channel; `text` says why it did not go out, blank where it did."""

    channel: str
    sent: bool
    text: str


def plan_of(settings: Settings) -> NoticePlan | None:
    """The channels that the settings name, None where nobody is told; raises Misconfigured."""
    return None if settings.notice_file is None else notice_plan(settings.notice_file)


def post_of(plan: NoticePlan, wired: Wired) -> Post:
    """What sends the letters; nothing is sent yet. Raises Misconfigured naming the channel."""
    return Post(plan, {channel.name: _messenger(plan, channel, wired) for channel in plan.channels})


def _messenger(plan: NoticePlan, channel: Channel, wired: Wired) -> Messenger:
    if channel.name == SALESFORCE:
        return Bell(wired.rest)
    return Apprised(channel.name, plan.addresses[channel.name], deadline_s=channel.deadline_s)


def try_channels(settings: Settings, *, only: str | None = None, user_id: str | None = None) -> list[Tried]:
    """Send one letter to each channel, or to the one of that name; Salesforce's goes to the user, or is left out."""
    plan = plan_of(settings)
    if plan is None:
        raise Misconfigured(f"{PREFIX}NOTICE_FILE is not set: nobody is told of anything")
    wanted = [channel for channel in plan.channels if only in {None, channel.name}]
    if not wanted:
        raise Misconfigured(f"there is no channel '{only}': {', '.join(channel.name for channel in plan.channels)}")
    wired = wire(settings)
    return [_tried(plan, channel, wired, settings.login_url, user_id) for channel in wanted]


def _tried(plan: NoticePlan, channel: Channel, wired: Wired, link: str, user_id: str | None) -> Tried:
    if channel.name == SALESFORCE and user_id is None:
        return Tried(channel.name, sent=False, text="say whom to tell: --to and the id of a user")
    lines = (f"Channel '{channel.name}' works: `lead-router notices test` sent this.",)
    letter = Letter("A test of lead-router", lines, link, NOBODY, user_id or "")
    try:
        delivery: Delivery = _messenger(plan, channel, wired).send(letter)
    except LeadRouterError as fault:
        return Tried(channel.name, sent=False, text=scrub(str(fault)))
    match delivery:
        case Delivered():
            return Tried(channel.name, sent=True, text="")
        case _:
            return Tried(channel.name, sent=False, text=scrub(delivery.text))


def notice_findings(settings: Settings, wired: Wired) -> list[Finding]:
    """What the doctor says of the channels; nothing is sent."""
    try:
        plan = plan_of(settings)
        if plan is None:
            return []
        post_of(plan, wired)
    except Misconfigured as fault:
        return [Finding("notices", ok=False, detail=scrub(str(fault)), remedy="do what it says; then look again")]
    names = ", ".join(channel.name for channel in plan.channels)
    parts = [told.rpartition(": ") for told in plan.exposed]
    return [
        Finding("notices", ok=True, detail=f"{names}; `lead-router notices test` sends a letter to each"),
        *(Finding("secrets", ok=False, detail=told, remedy=remedy, warning=True) for told, _, remedy in parts),
    ]
