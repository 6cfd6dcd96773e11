"""Letters by apprise, which knows some hundred services by an address: one call, to its end in time.

apprise answers True or False, and tells what happened to its log alone; the log is read here, and none of it is passed
on: its addresses hold tokens. What it does not tell clearly is taken for unclear, so that no letter is sent twice.
"""

from __future__ import annotations

import logging
import re
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from lead_router.errors import Misconfigured
from lead_router.hops.deadline import unlogged
from lead_router.ports.extras import install
from lead_router.ports.notices import Declined, Delivered, Delivery, Down, Letter, Unclear

INSTALL: Final = install("operations")
HUNG_MAX: Final = 3
"""Calls that may hang beyond their deadline at a time; with more the channel counts as away."""

REST_S: Final = 30.0
"""How long a channel rests that says that there were too many letters."""

CONNECT_SHARE: Final = 0.4
"""Of the deadline, for the connection alone."""

_STATUS = re.compile(r"\berror=(\d{3})\b")
_MAIL = re.compile(r"\((\d{3}), b['\"]")
_NEVER_LEFT = re.compile(
    r"NewConnectionError|ConnectTimeout|NameResolutionError|CERTIFICATE_VERIFY_FAILED|ProxyError|gaierror"
    r"|Connection refused|Name or service not known|Temporary failure in name resolution|No route to host"
    r"|Network is unreachable"
)
_TOO_MANY, _GATEWAYS = 429, frozenset({502, 504})
_OF_THE_LETTER = frozenset({400, 406, 409, 411, 413, 414, 415, 422, 431})
_SERVER, _MAIL_FOR_GOOD, _MAIL_LOGIN = 500, 550, range(530, 540)


class Apprised:
    """See Messenger. One address, one recipient; `deadline_s` bounds a call, whatever the other side does.

    Misconfigured: apprise is not installed, or does not know the address, or it names several recipients, of whom some
    might get a letter twice. No text repeats the address.
    """

    def __init__(self, name: str, address: str, *, deadline_s: float) -> None:
        self._deadline_s = deadline_s
        self._service = _service(name, address)
        # The pace is the loop's; a call must not rest within its own deadline.
        self._service.request_rate_per_sec = 0
        self._service.socket_connect_timeout = deadline_s * CONNECT_SHARE
        self._service.socket_read_timeout = deadline_s * (1 - CONNECT_SHARE)
        self._hung: list[threading.Thread] = []

    def send(self, letter: Letter) -> Delivery:
        """One call on a thread of its own, which is left behind should it not end in time."""
        self._hung = [thread for thread in self._hung if thread.is_alive()]
        if len(self._hung) >= HUNG_MAX:
            return Down(f"{len(self._hung)} calls hang", REST_S)
        answers: list[Delivery] = []
        thread = threading.Thread(target=self._call, args=(letter, answers), name="apprise", daemon=True)
        thread.start()
        thread.join(self._deadline_s)
        if thread.is_alive():
            self._hung.append(thread)
            return Unclear(f"no answer within {self._deadline_s:g} s")
        return answers[0] if answers else Unclear("the call ended without an answer")

    def _call(self, letter: Letter, answers: list[Delivery]) -> None:
        body = "\n".join((*letter.lines, letter.link))
        with unlogged(), _overheard() as told:
            try:
                done = self._service.notify(body=body, title=letter.title)
            except Exception as fault:  # noqa: BLE001 - its text may hold the address
                answers.append(Unclear(f"{type(fault).__name__} amid the call"))
            else:
                answers.append(Delivered() if done else judged(told))


def judged(told: Sequence[str]) -> Delivery:
    """What a failed call came to, by what apprise told its log of it."""
    text = "\n".join(told)
    statuses = {int(found) for found in _STATUS.findall(text)}
    if statuses:
        return _by_status(max(statuses))
    if _NEVER_LEFT.search(text):
        return Down("no connection")
    mail = [int(found) for found in _MAIL.findall(text)]
    return _by_mail(max(mail)) if mail else Unclear("no answer that tells whether it was sent")


def _by_status(status: int) -> Delivery:
    told = f"status {status}"
    if status in _GATEWAYS or status < 300:  # noqa: PLR2004 - a good status and yet no success
        return Unclear(told)
    if status == _TOO_MANY:
        return Down(told, REST_S)
    if status in _OF_THE_LETTER:
        return Declined(told)
    return Down(told if status >= _SERVER else f"{told}: look at the channel's address")


def _by_mail(code: int) -> Delivery:
    """RFC 5321, section 4.2.1: a reply in 4 is for now, one in 5 for good; neither has taken the mail."""
    told = f"mail server answered {code}"
    return Declined(told) if code >= _MAIL_FOR_GOOD and code not in _MAIL_LOGIN else Down(told)


class _Ear(logging.Handler):
    """Keeps what apprise tells on one thread."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.told: list[str] = []
        self._thread = threading.get_ident()

    def emit(self, record: logging.LogRecord) -> None:
        if record.thread == self._thread:
            self.told.append(record.getMessage())


@contextmanager
def _overheard() -> Iterator[list[str]]:
    """What apprise tells its log on this thread while the block lasts, and nobody else hears."""
    logger, ear = logging.getLogger("apprise"), _Ear()
    logger.propagate = False
    logger.setLevel(logging.DEBUG)
    logger.addHandler(ear)
    try:
        yield ear.told
    finally:
        logger.removeHandler(ear)


def _service(name: str, address: str) -> Any:
    try:
        import apprise  # noqa: PLC0415 - an extra, and half a second to import
    except ImportError:
        raise Misconfigured(f"the channel '{name}' needs apprise: {INSTALL}") from None
    with unlogged(), _overheard(), warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of what apprise itself imports
        asset = apprise.AppriseAsset(app_id="lead-router", app_desc="lead-router", async_mode=False)
        try:
            service = apprise.Apprise.instantiate(address, asset=asset)
        except Exception as fault:  # noqa: BLE001 - its text may hold the address
            raise Misconfigured(f"the address of channel '{name}' cannot be read: {type(fault).__name__}") from None
    if service is None:
        kind = re.match(r"[a-z0-9]{1,20}(?=://)", address)
        told = f"one of {kind[0]}://" if kind else "no address with its kind before ://"
        raise Misconfigured(f"the address of channel '{name}' is none that apprise can use: {told}")
    if len(service) > 1:
        raise Misconfigured(f"the address of channel '{name}' names {len(service)} recipients: one channel for each")
    return service
