"""`/services/oauth2`: tokens by signed JWT, by client credentials and by refresh token; revocation; who am I.

Errors are 400 with `error` and `error_description`. Descriptions that no document confirms are marked; clients should
look at `error` alone for those.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl

import jwt
from cryptography import x509
from cryptography.exceptions import InvalidSignature

from org_simulator.changes import Row
from org_simulator.wire.exchange import Request, Response, answer
from org_simulator.wire.world import World

AUDIENCES = frozenset({"https://login.salesforce.com", "https://test.salesforce.com"})
LOGIN_URL = "https://login.salesforce.com"
SCOPE = "api id"
REFRESH_TOKEN = "5Aep861.simulated-refresh-token"  # noqa: S105 - the simulated org's
"""Belongs to the integration user: stands for a web-server flow that happened before the org was started."""


class Refused(Exception):
    """A token request that gets no token."""

    def __init__(self, error: str, description: str) -> None:
        super().__init__(description)
        self.error = error
        self.description = description


def serve(world: World, request: Request) -> Response:
    """Answer a request below /services/oauth2."""
    resource = request.segments[2] if len(request.segments) == 3 else ""  # noqa: PLR2004
    try:
        match resource, request.method:
            case "token", "POST":
                return _token(world, request)
            case "revoke", "POST" | "GET":
                return _revoke(world, request)
            case "userinfo", "GET" | "POST":
                return _userinfo(world, request)
            case _:
                return answer(404, {"error": "not_found", "error_description": "no such endpoint"})
    except Refused as refused:
        return answer(400, {"error": refused.error, "error_description": refused.description})


def bearer(request: Request) -> str:
    """The access token of the Authorization header, or an empty text; `OAuth` is an older word for `Bearer`."""
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() in {"bearer", "oauth"} else ""


def _token(world: World, request: Request) -> Response:
    form = {**request.query, **dict(parse_qsl(request.body.decode("utf-8", "replace")))}
    flows: dict[str, Callable[[World, Request, Mapping[str, str]], str]] = {
        "urn:ietf:params:oauth:grant-type:jwt-bearer": _jwt_bearer,
        "client_credentials": _client_credentials,
        "refresh_token": _refresh,
    }
    flow = flows.get(form.get("grant_type", ""))
    if flow is None:
        raise Refused("unsupported_grant_type", "grant type not supported")  # unconfirmed
    user_id = flow(world, request, form)
    return answer(200, _granted(world, user_id), {"Cache-Control": "no-store", "Pragma": "no-cache"})


def _granted(world: World, user_id: str) -> dict[str, Any]:
    org = world.org
    row = _user(world, "Id", user_id)
    if row is None or not row.get("IsActive"):
        raise Refused("invalid_grant", "inactive user")
    token = org.sessions.issue(user_id)
    if org.sessions.user(token) is None:  # frozen
        org.sessions.revoke(token)
        raise Refused("invalid_grant", "authentication failure")  # unconfirmed
    identity = f"{LOGIN_URL}/id/{org.org_id}/{user_id}"
    issued_at = str(int(org.clock.now().timestamp() * 1000))
    digest = hmac.new(world.app.client_secret.encode(), (identity + issued_at).encode(), hashlib.sha256).digest()
    return {
        "access_token": token,
        "signature": base64.b64encode(digest).decode(),
        "scope": SCOPE,
        "instance_url": world.base_url,
        "id": identity,
        "token_type": "Bearer",
        "issued_at": issued_at,
        "api_instance_url": world.base_url,
    }


def _jwt_bearer(world: World, _request: Request, form: Mapping[str, str]) -> str:
    claims = _claims(world, form.get("assertion", ""))
    if claims.get("iss") != world.app.client_id:
        raise Refused("invalid_client_id", "client identifier invalid")  # unconfirmed
    if str(claims.get("aud", "")).rstrip("/") not in AUDIENCES | {world.base_url}:
        raise Refused("invalid_grant", "Audience validation failed")
    expires = claims.get("exp")
    if not isinstance(expires, int | float) or expires <= world.org.clock.now().timestamp():
        raise Refused("invalid_grant", "invalid assertion")  # unconfirmed for an expired one
    row = _user(world, "Username", str(claims.get("sub", "")))
    approved = world.app.approved or {world.org.integration_user_id, world.org.admin_user_id}
    if row is None or row["Id"] not in approved:
        raise Refused("invalid_grant", "user hasn't approved this consumer")
    return str(row["Id"])


def _claims(world: World, assertion: str) -> dict[str, Any]:
    """The claims of an assertion that the app's certificate verifies; time and audience are looked at later."""
    if world.app.certificate is None:
        raise Refused("invalid_grant", "invalid assertion")  # unconfirmed
    key = x509.load_pem_x509_certificate(world.app.certificate).public_key()
    unchecked = {
        "verify_exp": False,
        "verify_aud": False,
        "verify_iat": False,
        "verify_nbf": False,
        "verify_iss": False,
    }
    try:
        claims: dict[str, Any] = jwt.decode(assertion, key, algorithms=["RS256"], options=unchecked)  # type: ignore[arg-type]
    except (jwt.PyJWTError, InvalidSignature) as fault:
        raise Refused("invalid_grant", "invalid assertion") from fault  # unconfirmed
    return claims


def _client_credentials(world: World, request: Request, form: Mapping[str, str]) -> str:
    _check_client(world, request, form)
    run_as = world.app.run_as or world.org.integration_user_id
    if _user(world, "Id", run_as) is None:
        raise Refused("invalid_grant", "no client credentials user enabled")
    return run_as


def _refresh(world: World, request: Request, form: Mapping[str, str]) -> str:
    _check_client(world, request, form)
    user_id = world.refresh_tokens.get(form.get("refresh_token", ""))
    if user_id is None:
        raise Refused("invalid_grant", "expired access/refresh token")
    return user_id


def _check_client(world: World, request: Request, form: Mapping[str, str]) -> None:
    client_id, secret = form.get("client_id", ""), form.get("client_secret", "")
    kind, _, encoded = request.headers.get("authorization", "").partition(" ")
    if kind.lower() == "basic":
        try:
            client_id, _, secret = base64.b64decode(encoded, validate=True).decode().partition(":")
        except ValueError as fault:
            raise Refused("invalid_client", "invalid client credentials") from fault  # unconfirmed
    if client_id != world.app.client_id:
        raise Refused("invalid_client_id", "client identifier invalid")  # unconfirmed
    if not hmac.compare_digest(secret.encode(), world.app.client_secret.encode()):
        raise Refused("invalid_client", "invalid client credentials")  # unconfirmed


def _user(world: World, field: str, value: str) -> Row | None:
    with world.org.transaction(world.org.admin_user_id) as opened:
        if field == "Id":
            return opened.row("User", value)
        found = opened.find("User", field, value) if value else None
        return opened.row("User", found) if found else None


def _revoke(world: World, request: Request) -> Response:
    form = {**request.query, **dict(parse_qsl(request.body.decode("utf-8", "replace")))}
    token = form.get("token", "")
    if world.refresh_tokens.pop(token, None) is not None:
        return Response(200)
    if world.org.sessions.user(token) is None:
        raise Refused("invalid_token", "invalid token")  # unconfirmed
    world.org.sessions.revoke(token)
    return Response(200)


def _userinfo(world: World, request: Request) -> Response:
    token = bearer(request)
    user_id = world.org.sessions.user(token)
    row = _user(world, "Id", user_id) if user_id else None
    if row is None:
        text = b"Bad_OAuth_Token" if token else b"Missing_OAuth_Token"  # unconfirmed
        return Response(403, text, {"Content-Type": "text/html;charset=UTF-8"})
    content = {
        "sub": f"{LOGIN_URL}/id/{world.org.org_id}/{user_id}",
        "user_id": user_id,
        "organization_id": world.org.org_id,
        "preferred_username": row.get("Username"),
        "nickname": row.get("Alias"),
        "name": row.get("Name"),
        "email": row.get("Email"),
        "zoneinfo": row.get("TimeZoneSidKey"),
        "active": row.get("IsActive"),
        "user_type": "STANDARD",
        "urls": {"rest": f"{world.base_url}/services/data/v{{version}}/"},
    }
    return answer(200, content)
