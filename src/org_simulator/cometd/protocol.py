"""Bayeux as Salesforce speaks it: shapes, limits and the exact error texts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeAlias

from org_simulator.events import schema_id

if TYPE_CHECKING:
    from collections.abc import Mapping

    from org_simulator.events import Event

Json: TypeAlias = dict[str, Any]

HANDSHAKE = "/meta/handshake"
CONNECT = "/meta/connect"
SUBSCRIBE = "/meta/subscribe"
UNSUBSCRIBE = "/meta/unsubscribe"
DISCONNECT = "/meta/disconnect"

LONG_POLLING = "long-polling"
BROWSER_COOKIE = "BAYEUX_BROWSER"
REQUEST_BYTES_MAX = 32_768
OLDEST_VERSION = 37.0

VERSION_MISSING = "400::API version in the URI is mandatory. URI format: '/cometd/68.0'"
VERSION_UNSUPPORTED = "400::Unsupported API version. Only API versions '37.0' and later are supported."
CHANNEL_MISSING = "400::Channel name not specified"
CHANNEL_MALFORMED = "400::Channel subscriptions must start with a leading '/'"
OTHER_USER = "400::Authenticated user id does not match the session's user id"
AUTHENTICATION_INVALID = "401::Authentication invalid"
AUTHENTICATION_MISSING = "401::Request requires authentication"
HANDSHAKE_DENIED = "403::Handshake denied"
HANDSHAKE_MISSING = "403::Client has not completed handshake"
TOO_MANY_CLIENTS = "403::Organization concurrent user limit exceeded"
RESTRICTED_CHANNEL = "403::Restricted channel"
UNKNOWN_CLIENT = "403::Unknown client"
VIEW_ALL_MISSING = "403::User not allowed to subscribe CDC without View All Data permissions"
REQUEST_TOO_LARGE = "413::Maximum Request Size Exceeded"
TOO_BUSY = "503::Server is too busy.  Please try your request again later."

EXTENSIONS: Mapping[str, bool] = {"replay": True, "payload.format": True}
HANDSHAKE_AGAIN: Mapping[str, Any] = {"interval": 0, "reconnect": "handshake"}
STOP: Mapping[str, Any] = {"reconnect": "none", "interval": 0}


class Malformed(ValueError):
    """The request's body is not a Bayeux message or a list of them."""


def parse(content: bytes) -> list[Json]:
    """The messages of a request; raises Malformed."""
    try:
        calls = json.loads(content)
    except ValueError as fault:
        raise Malformed(str(fault)) from fault
    calls = calls if isinstance(calls, list) else [calls]
    if not calls or not all(isinstance(call, dict) and isinstance(call.get("channel"), str) for call in calls):
        raise Malformed("a request is a list of objects with a channel")
    return calls


def version_fault(version: str) -> str | None:
    """The error text for the URL's API version, or None where it is served."""
    if not version:
        return VERSION_MISSING
    try:
        return None if float(version) >= OLDEST_VERSION else VERSION_UNSUPPORTED
    except ValueError:
        return VERSION_UNSUPPORTED


def accepted(call: Json, **members: Any) -> Json:
    """The successful answer to a message."""
    return {**_echo(call), "successful": True, **members}


def refused(call: Json, error: str, *, advice: Mapping[str, Any] | None = None, **members: Any) -> Json:
    """The unsuccessful answer to a message; `error` is `code::text`."""
    advised = {} if advice is None else {"advice": dict(advice)}
    return {**_echo(call), "successful": False, "error": error, **members, **advised}


def denied(call: Json, reason: str) -> Json:
    """A refused handshake; the reason is nested."""
    ext = {"sfdc": {"failureReason": reason}, **EXTENSIONS}
    return refused(call, HANDSHAKE_DENIED, advice={"reconnect": "none"}, ext=ext)


def busy(call: Json) -> Json:
    """A connect refused for load: the outer error pretends otherwise."""
    return refused(call, AUTHENTICATION_INVALID, advice=STOP, ext={"sfdc": {"failureReason": TOO_BUSY}})


def goodbye(client_id: str) -> Json:
    """The server's own disconnect."""
    return {"channel": DISCONNECT, "clientId": client_id, "successful": True, "advice": dict(STOP)}


def channel_unknown(channel: str) -> str:
    """Error text for a subscription to a channel that does not exist."""
    return f"400::The channel you requested to subscribe to doesn't exist {{{channel}}}"


def replay_id_invalid(replay_id: object) -> str:
    """Error text for an expired or foreign replay id; both spaces after `invalid.` are Salesforce's."""
    return (
        f"400::The replayId {{{replay_id}}} you provided was invalid.  "
        "Please provide a valid ID, -2 to replay all events, or -1 to replay only new events."
    )


def connection_type_invalid(kind: object) -> str:
    """Error text for a connection type other than long-polling."""
    return f"400::Invalid connection type {kind}"


def delivery(channel: str, event: Event) -> Json:
    """An event as the subscribers of `channel` get it."""
    marks: Json = {"replayId": event.replay_id}
    if event.event_uuid is not None:
        marks["EventUuid"] = event.event_uuid
    return {"channel": channel, "data": {"schema": schema_id(event.channel), "payload": event.payload, "event": marks}}


def _echo(call: Json) -> Json:
    return {member: call[member] for member in ("channel", "id", "clientId", "subscription") if member in call}
