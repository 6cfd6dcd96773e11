"""Which protocol brings the events: Pub/Sub API where it is installed and reached, else CometD."""

from __future__ import annotations

import importlib
import importlib.util
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.parse import urlsplit

import structlog

from lead_router.app.wiring import Wired
from lead_router.errors import Misconfigured
from lead_router.ports import EventSource, Finding, Position
from lead_router.ports.extras import install
from lead_router.salesforce.cometd import CometdSource
from lead_router.salesforce.subscription import Subscription
from lead_router.salesforce.wire import LOOPBACK
from lead_router.settings import PREFIX, Settings

_log = structlog.get_logger(__name__)

ENDPOINT = "api.pubsub.salesforce.com:7443"
PACKAGES = ("grpc", "google.protobuf", "fastavro")
INSTALL = install("pubsub")
TRIED_S = 15.0
TOLD_MAX = 200
_SAID = f"{PREFIX}STREAM says so"
_NEW_ONLY, _RETAINED = -1, -2


def check_stream(settings: Settings) -> None:
    """Raises Misconfigured where Pub/Sub API is asked for and cannot be spoken here."""
    if settings.stream != "pubsub":
        return
    if fault := lack():
        raise Misconfigured(f"{PREFIX}STREAM=pubsub: {fault}, or set it to auto or cometd")
    if not endpoint_of(settings):
        raise Misconfigured(f"{PREFIX}STREAM=pubsub needs {PREFIX}PUBSUB_ENDPOINT for an org on this machine")


def lack() -> str:
    """What of the extra is not installed, or cannot be used as it is; empty where nothing is."""
    if missing := [name for name in PACKAGES if not _found(name)]:
        return f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} not installed: {INSTALL}"
    try:
        importlib.import_module("lead_router.salesforce.pubsub")
    except Exception as fault:  # noqa: BLE001 - whatever another's code raises: an old version, or a library it misses
        told = f"{type(fault).__name__}: {fault}".partition("\n")[0][:TOLD_MAX]
        return f"the extra cannot be loaded ({told}): {INSTALL}"
    return ""


def endpoint_of(settings: Settings) -> str:
    """Where Pub/Sub API is spoken; Salesforce's own never for an org on this machine, as it is not for strangers."""
    local = urlsplit(settings.login_url.strip()).hostname in LOOPBACK
    return settings.pubsub_endpoint or ("" if local else ENDPOINT)


def open_source(
    settings: Settings, wired: Wired, *, load: Callable[[str], Position | None], notices: Sequence[str]
) -> EventSource:
    """The source of the settings' channel. `load` gives a stored position by the name it is stored under."""
    why_not = _why_not_pubsub(settings, wired)
    why = _SAID if settings.stream == "pubsub" else f"{endpoint_of(settings)} answers"
    _log.info("stream_chosen", protocol="cometd" if why_not else "pubsub", why=why_not or why)
    return _opened(settings, wired, pubsub=not why_not, load=load, notices=notices, from_now=False)


def try_stream(settings: Settings, wired: Wired) -> Finding:
    """Subscribe as a router would, to new events alone and storing nothing, and leave again."""
    check_stream(settings)
    why_not = _why_not_pubsub(settings, wired)
    protocol = "CometD" if why_not else "Pub/Sub API"
    chosen = f"{settings.stream_channel} over {protocol}" + (f" ({why_not})" if why_not else "")
    source = _opened(settings, wired, pubsub=not why_not, load=lambda _name: None, notices=(), from_now=True)
    try:
        fault = source.attempt(TRIED_S)
    finally:
        source.close()
    return Finding(
        "stream",
        ok=not fault,
        detail=f"{chosen}: {fault or 'subscribed'}",
        remedy=_remedy(settings, pubsub=not why_not) if fault else "",
    )


def _remedy(settings: Settings, *, pubsub: bool) -> str:
    usual = f"{PREFIX}STREAM_CHANNEL, the way there, and the integration user's permissions"
    if pubsub:
        return f"check {PREFIX}PUBSUB_ENDPOINT ({endpoint_of(settings)}), {usual}; or set {PREFIX}STREAM=cometd"
    return f"check {PREFIX}STREAM, {usual}"


def _why_not_pubsub(settings: Settings, wired: Wired) -> str:
    """Why CometD is taken instead; empty where it is not."""
    if settings.stream == "cometd":
        return _SAID
    if settings.stream == "pubsub":
        return ""
    if fault := lack():
        return fault
    endpoint = endpoint_of(settings)
    if not endpoint:
        return f"an org on this machine, and {PREFIX}PUBSUB_ENDPOINT is empty"
    from lead_router.salesforce.pubsub import unreachable  # noqa: PLC0415 - it needs what may not be installed

    token = wired.tokens.token()
    return unreachable(
        endpoint, settings.stream_channel, tenant=token.org_id, token=token, authority=_authority(settings)
    )


def _opened(
    settings: Settings,
    wired: Wired,
    *,
    pubsub: bool,
    load: Callable[[str], Position | None],
    notices: Sequence[str],
    from_now: bool,
) -> Subscription:
    channel, dice = settings.stream_channel, random.Random()  # noqa: S311 - jitter
    retained = settings.stream_start == "retained" and not from_now
    if not pubsub:
        return CometdSource(
            channel=channel,
            token=wired.tokens.token,
            load_position=lambda: load(channel),
            dice=dice,
            default_start=_RETAINED if retained else _NEW_ONLY,
            notices=notices,
            ca_file=settings.ca_file,
        )
    from lead_router.salesforce.pubsub import PubSubSource, position_name  # noqa: PLC0415 - as above

    return PubSubSource(
        topic=channel,
        tenant=wired.tokens.token().org_id,
        endpoint=endpoint_of(settings),
        token=wired.tokens.token,
        load_position=lambda: load(position_name(channel)),
        dice=dice,
        from_start=retained,
        notices=notices,
        authority=_authority(settings),
    )


def _found(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def _authority(settings: Settings) -> bytes | None:
    file: Path | None = settings.ca_file
    return None if file is None else file.read_bytes()
