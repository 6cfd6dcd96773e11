"""Tokens for a stream: a blocking login off the event loop, its end as a `Lost`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from lead_router.errors import LeadRouterError, LoginRefused, Permanent, RateLimited
from lead_router.salesforce.losses import Broken, Lost, Refused


class Token(Protocol):
    """What a login gives; `instance_url` is scheme and host."""

    @property
    def access_token(self) -> str:
        """The bearer token."""
        ...

    @property
    def instance_url(self) -> str:
        """Where the org is."""
        ...


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds and bytes. Pauses between failures grow from `pause_s` to `pause_max_s`; a refusal waits `refused_s`,
    one of the login `login_s`.

    A long poll may last what the server advises plus `slack_s`; every other request `request_s`. A replay id counts as
    complete after `settle_s` of silence (several events may bear one).
    """

    pause_s: float = 0.5
    pause_max_s: float = 60.0
    refused_s: float = 300.0
    login_s: float = 60.0
    request_s: float = 30.0
    slack_s: float = 20.0
    settle_s: float = 1.0
    answer_max_bytes: int = 32 * 1024 * 1024


class StreamLogin:
    """`token_of(refused)` gives a token other than the refused one; it is called in a thread of its own."""

    def __init__(self, token_of: Callable[[str | None], Token], *, within_s: float) -> None:
        self._token_of = token_of
        self._within_s = within_s
        self._token: Token | None = None
        self._refused: str | None = None

    def refused(self) -> None:
        """The next login gives another token than the present one."""
        self._refused = self._token.access_token if self._token is not None else None

    async def log_in(self) -> Token:
        """A token that was not refused; raises Lost."""
        try:
            # In a thread, as the login is a blocking call and must not outlast the time-out.
            async with asyncio.timeout(self._within_s):
                self._token = await asyncio.to_thread(self._token_of, self._refused)
        except RateLimited as fault:
            raise Lost(Refused(str(fault)), wait_s=fault.retry_after) from None
        except LoginRefused as fault:
            raise Lost(Refused(str(fault), login=True)) from None
        except Permanent as fault:
            raise Lost(Refused(str(fault))) from None
        except LeadRouterError as fault:
            raise Lost(Broken(f"no token: {fault}")) from None
        except TimeoutError:
            raise Lost(Broken(f"no token within {self._within_s:.0f} s")) from None
        self._refused = None
        return self._token
