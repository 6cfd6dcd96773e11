"""The parts that reach outside, built from settings: the org and the job store."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import requests

from lead_router.app.hops import Hops, hops_of
from lead_router.core.model import FirstTouch, Rollout
from lead_router.jobs import open_store
from lead_router.ports import JobStore
from lead_router.ports.notices import ChannelsOf, nowhere
from lead_router.salesforce.auth import Login, TokenHolder
from lead_router.salesforce.configuration import Intake
from lead_router.salesforce.gateway import SalesforceOrg
from lead_router.salesforce.rest import Rest
from lead_router.salesforce.wire import open_session
from lead_router.settings import PREFIX, Settings, secret_text


@dataclass(frozen=True, slots=True)
class Wired:
    """An org within reach, the token holder behind it, and the hops that are switched on."""

    tokens: TokenHolder
    rest: Rest
    org: SalesforceOrg
    hops: Hops = field(default_factory=Hops)


def now() -> datetime:
    """The host's time, aware and in UTC."""
    return datetime.now(UTC)


def login_of(settings: Settings) -> Login:
    """How to log in, with the secrets read; raises Misconfigured naming the setting."""
    secret = settings.client_secret.get_secret_value() if settings.client_secret else None
    if settings.client_secret_file is not None:
        secret = secret_text(settings.client_secret_file, f"{PREFIX}CLIENT_SECRET_FILE")
    key = settings.private_key.get_secret_value() if settings.private_key else None
    source = f"{PREFIX}PRIVATE_KEY"
    if settings.private_key_file is not None:
        source = f"{PREFIX}PRIVATE_KEY_FILE"
        key = secret_text(settings.private_key_file, source)
    return Login(settings.login_url, settings.client_id, secret, key, settings.username, settings.audience, source)


def wire(
    settings: Settings, *, ending: Callable[[], bool] = lambda: False, answered: Callable[[], None] = lambda: None
) -> Wired:
    """The org's client; nothing is sent yet, nothing read once `ending`. Raises Misconfigured naming the setting.

    `answered` is called, on the thread that asked, with each answer of the org.
    """

    def note(_answer: requests.Response, **_: Any) -> None:
        answered()

    session = open_session(
        settings.login_url,
        connect_s=settings.connect_timeout_s,
        read_s=settings.read_timeout_s,
        ca_file=settings.ca_file,
    )
    session.hooks["response"].append(note)
    tokens = TokenHolder(login_of(settings), session, now=now, sleep=time.sleep, dice=random.Random())  # noqa: S311 - jitter
    rest = Rest(tokens, session, ending=ending)
    hops = hops_of(settings)
    intake = Intake(
        queues=settings.intake_queues,
        usernames=settings.intake_users,
        statuses=settings.intake_statuses,
        unassigned=settings.unassigned,
        form_field=settings.form_field,
        submission_window_s=settings.submission_window_s,
        follow_wait_s=settings.follow_wait_s,
        open_leads=settings.open_leads,
        rollout=rollout_of(settings),
        scoring=hops.scoring,
        enrichment=hops.enrichment,
        first_touch=FirstTouch(settings.untouched, settings.first_touch_reminder, settings.first_touch_reroutes),
    )
    return Wired(tokens, rest, SalesforceOrg(rest, intake, now=now, lock_touch=settings.lock_touch), hops)


def rollout_of(settings: Settings) -> Rollout:
    """The positions of the switches."""
    return Rollout(settings.duplicates, settings.matched_owner, settings.reroutes, settings.first_touch)


def store_of(settings: Settings, org_id: str, channels: ChannelsOf = nowhere, *, admitted: bool = False) -> JobStore:
    """The job store of one org, for the thread that asks; `channels` says where its notices go.

    `admitted`: this process has opened it before, and a login or a right that is refused now is waited for.
    """
    attempts = settings.attempts_max
    return open_store(settings.database, org_id=org_id, max_attempts=attempts, channels=channels, admitted=admitted)
