"""Access tokens: one holder for all threads, one login at a time, JWT bearer or client credentials (OAuth 2.0).

A token is never revoked: other routers of the same integration user may be using it. A login that was refused is not
repeated before a pause is over, whoever asks: Salesforce allows so many an hour, and only a person changes its answer.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

import jwt
import requests
import structlog
import tenacity

from lead_router.core.ids import to18
from lead_router.errors import ContractMismatch, LoginRefused, Misconfigured, Transient, Unreachable
from lead_router.salesforce.codes import hushed
from lead_router.salesforce.moved import led_to, login_redirected, still_there
from lead_router.salesforce.signing import check, pem
from lead_router.salesforce.wire import LOGIN_URL, base_url, why_unanswered

_log = structlog.get_logger(__name__)

ATTEMPTS_MAX = 3
PAUSE_S = 0.5
PAUSE_MAX_S = 4.0
REFUSED_S = 5.0
REFUSED_MAX_S = 60.0
ASSERTION_LIFE = timedelta(minutes=3)
SKEW_MAX_S = 60.0
OK, BAD_REQUEST, UNAUTHORISED = 200, 400, 401

_JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_SHARED_HOSTS = frozenset({"login.salesforce.com", "test.salesforce.com"})
_REMEDY = (
    "mend what the error names: no job is lost, and once the org accepts the login routing goes on by itself within "
    "minutes; a setting that is changed, or another org that is meant, needs a restart; a login that is refused at the "
    "start ends it"
)


@dataclass(frozen=True, slots=True)
class Login:
    """How to log in: `private_key` (PEM) and `username` for JWT bearer, else `client_secret` for client credentials.

    An empty `audience` means login.salesforce.com, or test.salesforce.com for a sandbox. `key_setting` is the setting
    that the key comes from.
    """

    login_url: str
    client_id: str
    client_secret: str | None = field(default=None, repr=False)
    private_key: str | None = field(default=None, repr=False)
    username: str = ""
    audience: str = ""
    key_setting: str = "LEAD_ROUTER_PRIVATE_KEY_FILE"


@dataclass(frozen=True, slots=True)
class Token:
    """A session with an org. `instance_url` is scheme and host; ids have 18 characters."""

    access_token: str = field(repr=False)
    instance_url: str
    org_id: str
    user_id: str


class TokenHolder:
    """The token that all threads share. Threads that were refused together cause one login and share its outcome."""

    def __init__(
        self,
        login: Login,
        session: requests.Session,
        *,
        now: Callable[[], datetime],
        sleep: Callable[[float], None],
        dice: random.Random,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._login = checked(login)
        self._session = session
        self._now = now
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._token: Token | None = None
        self._logins = 0
        self._failure: Exception | None = None
        self._refusals = 0
        self._again_at = float("-inf")
        self.skew_s: float | None = None
        self._retrying = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(ATTEMPTS_MAX),
            wait=lambda state: dice.uniform(0.5, 1) * min(PAUSE_MAX_S, PAUSE_S * 2**state.attempt_number),
            retry=tenacity.retry_if_exception_type(Unreachable),
            sleep=sleep,
            reraise=True,
        )

    def token(self, refused: str | None = None, *, moved: str | None = None) -> Token:
        """A token other than `refused`, from memory or by logging in; one of another host where that one `moved`.

        Raises LoginRefused, Misconfigured or Unreachable; whoever waited for the failing login gets the same. So does
        who asks soon after one that was refused: within REFUSED_S, doubled with each refusal up to REFUSED_MAX_S.
        """
        seen = self._logins
        with self._lock:
            if self._token is not None and self._token.access_token != refused:
                return self._token
            if self._failure is not None and (self._logins != seen or self._monotonic() < self._again_at):
                raise type(self._failure)(str(self._failure)) from None
            self._failure = None
            try:
                self._token = self._elsewhere(self._same_org(self._retrying.copy()(self._log_in)), moved)
            except (Transient, LoginRefused, Misconfigured, ContractMismatch) as failure:
                self._failure = failure
                if isinstance(failure, LoginRefused):
                    self._refused(failure)
                raise
            finally:
                self._logins += 1
            self._end_refusals()
            return self._token

    def accepted(self) -> None:
        """The org answered to a token: also one that it refused before, as a user who is not frozen any more has it."""
        if self._refusals:
            with self._lock:
                self._end_refusals()

    def _refused(self, failure: LoginRefused) -> None:
        self._again_at = self._monotonic() + min(REFUSED_MAX_S, REFUSED_S * 2.0**self._refusals)
        self._refusals = min(self._refusals + 1, 16)
        if self._refusals == 1 and self._token is not None:
            _log.error("login_refused", error=str(failure), remedy=_REMEDY)

    def _end_refusals(self) -> None:
        if self._refusals:
            _log.info("login_accepted")
        self._refusals, self._again_at = 0, float("-inf")

    def _same_org(self, token: Token) -> Token:
        """Jobs and keys bear the org's id, and only a person knows whether another one is meant."""
        if self._token is not None and self._token.org_id != token.org_id:
            raise LoginRefused(
                f"LEAD_ROUTER_LOGIN_URL and LEAD_ROUTER_CLIENT_ID led to org {self._token.org_id} when this router "
                f"started and lead to org {token.org_id} now: nothing is read or written there. If leads are to be "
                "routed in that org from now on, as after a sandbox was refreshed, restart this router; else set the "
                "two to the former org and restart it"
            )
        return token

    def _elsewhere(self, token: Token, moved: str | None) -> Token:
        if moved and self._token is not None and self._token.instance_url == token.instance_url:
            raise LoginRefused(still_there(moved, token.instance_url))
        return token

    def _log_in(self) -> Token:
        answer = self._send("POST", base_url(self._login.login_url, LOGIN_URL) + "/services/oauth2/token", self._form())
        if (to := led_to(answer)) is not None:
            raise LoginRefused(login_redirected(self._login.login_url, to))
        self.skew_s = skew(answer, self._now())
        body = _json(answer)
        if answer.status_code in {BAD_REQUEST, UNAUTHORISED} and body is not None:
            raise LoginRefused(self._refusal(body))
        if answer.status_code != OK or body is None:
            text = hushed(answer.text)
            raise Unreachable(f"the login was answered with status {answer.status_code}: {text}")
        return self._read(body)

    def _form(self) -> dict[str, str]:
        login = self._login
        if login.private_key is None:
            return {
                "grant_type": "client_credentials",
                "client_id": login.client_id,
                "client_secret": login.client_secret or "",
            }
        claims = {
            "iss": login.client_id,
            "sub": login.username,
            "aud": login.audience or audience(login.login_url),
            "exp": int((self._now() + ASSERTION_LIFE).timestamp()),
        }
        return {"grant_type": _JWT_BEARER, "assertion": jwt.encode(claims, login.private_key, algorithm="RS256")}

    def _send(self, method: str, url: str, form: Mapping[str, str] | None = None, token: str = "") -> requests.Response:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        try:
            return self._session.request(method, url, data=form, headers=headers, allow_redirects=False)
        except requests.RequestException as fault:
            host = urlsplit(url).netloc
            raise Unreachable(f"the login to {host} had no answer: {why_unanswered(fault)}") from None

    def _read(self, body: Mapping[str, Any]) -> Token:
        access_token, instance = body.get("access_token"), body.get("instance_url")
        if not isinstance(access_token, str) or not isinstance(instance, str):
            raise ContractMismatch("the login's answer lacks access_token or instance_url")
        instance_url = base_url(instance, "the instance URL in the login's answer")
        parts = str(body.get("id") or "").split("/")[-2:]
        if len(parts) == 1 or not all(parts):
            user = _json(self._send("GET", instance_url + "/services/oauth2/userinfo", token=access_token)) or {}
            parts = [str(user.get("organization_id") or ""), str(user.get("user_id") or "")]
        try:
            org_id, user_id = (to18(part) for part in parts)
        except ValueError:
            raise ContractMismatch("the login's answer names no org and user") from None
        return Token(access_token, instance_url, org_id, user_id)

    def _refusal(self, body: Mapping[str, Any]) -> str:
        why = hushed(f"{body.get('error')}: {body.get('error_description')}")
        if self._login.private_key is None:
            look_at = (
                "LEAD_ROUTER_CLIENT_ID, LEAD_ROUTER_CLIENT_SECRET, "
                "and that the app has a 'Run As' user, neither inactive nor frozen, and the scope api"
            )
        else:
            look_at = (
                f"LEAD_ROUTER_CLIENT_ID, LEAD_ROUTER_USERNAME, {self._login.key_setting}, LEAD_ROUTER_AUDIENCE, "
                "this machine's clock, and that the app is approved for the user, who is neither inactive nor frozen"
            )
        return f"Salesforce refused the login ({why}); check {look_at}" + clock_text(self.skew_s)


def checked(login: Login) -> Login:
    """The login with stray line ends removed; raises Misconfigured naming the setting, never its value."""
    base = base_url(login.login_url, "LEAD_ROUTER_LOGIN_URL")
    secret = login.client_secret.strip() if login.client_secret else None
    key = pem(login.private_key) if login.private_key else None
    if not login.client_id.strip():
        raise Misconfigured(
            "LEAD_ROUTER_CLIENT_ID is not set: it is the consumer key of the external client app. `lead-router init` "
            "writes a settings file for it; one that is elsewhere is named by --env-file"
        )
    if key is None and not secret:
        raise Misconfigured(
            "set LEAD_ROUTER_PRIVATE_KEY_FILE or LEAD_ROUTER_CLIENT_SECRET: without one no login is possible"
        )
    if key is not None:
        check(key, login.key_setting)
        if not login.username.strip():
            raise Misconfigured("LEAD_ROUTER_USERNAME is not set: the JWT bearer login needs it")
    elif urlsplit(base).hostname in _SHARED_HOSTS:
        raise Misconfigured("LEAD_ROUTER_LOGIN_URL must be your My Domain address for the client-credentials login")
    if secret is not None and not secret.isprintable():
        raise Misconfigured("LEAD_ROUTER_CLIENT_SECRET holds a line break or control character: remove it")
    return replace(
        login,
        login_url=base,
        client_id=login.client_id.strip(),
        client_secret=secret,
        private_key=key,
        username=login.username.strip(),
        audience=login.audience.strip(),
    )


def audience(login_url: str) -> str:
    """The JWT audience: Salesforce wants the shared login host, not the My Domain."""
    host = urlsplit(login_url).hostname or ""
    shared = "test" if host == "test.salesforce.com" or ".sandbox." in host else "login"
    return f"https://{shared}.salesforce.com"


def skew(answer: requests.Response, now: datetime) -> float | None:
    """Seconds by which `now` is ahead of the answer's Date header, None without a readable one."""
    try:
        there = parsedate_to_datetime(answer.headers["Date"])
    except (KeyError, ValueError):
        return None
    return (now - (there if there.tzinfo else there.replace(tzinfo=UTC))).total_seconds()


def clock_text(skew_s: float | None) -> str:
    """A sentence on the clock where it is off by more than SKEW_MAX_S, else empty."""
    if skew_s is None or abs(skew_s) <= SKEW_MAX_S:
        return ""
    return f"; this machine's clock is {abs(skew_s):.0f} s {'ahead of' if skew_s > 0 else 'behind'} Salesforce's"


def _json(answer: requests.Response) -> Mapping[str, Any] | None:
    try:
        body = answer.json()
    except (requests.JSONDecodeError, RecursionError):
        return None
    return body if isinstance(body, dict) else None
