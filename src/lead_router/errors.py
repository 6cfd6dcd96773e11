"""Surprises, named after their remedy. Outcomes that a caller expects are values, not exceptions.

LeadRouterError
├── Transient              the same request may succeed later
│   ├── Unreachable        nothing reached the server: send it again
│   ├── OutcomeUnknown     it may have been carried out: look before sending it again
│   ├── RowLocked          someone else holds a record: again, with jitter
│   ├── RateLimited        wait `retry_after` seconds
│   ├── SessionExpired     the token was refused twice: log in anew
│   ├── StoreUnavailable   the job database did not answer
│   ├── Superseded         another process listens now: leave the stream
│   └── Ending             this process was told to end: another one, or its next start, goes on
└── Permanent              the same request will fail again
    ├── Rejected           Salesforce refuses this record or request
    ├── Misconfigured      a setting or record must be changed by a person
    │   ├── BadCriteria    a criteria clause cannot be read
    │   ├── BadRules       rule files cannot be used; their author's own words are shown
    │   └── BadSetup       the org lacks room or the like; Salesforce's own words are shown
    ├── ContractMismatch   the org or the answer is not what the code was written for
    └── LoginRefused       Salesforce refuses these credentials; while a router runs, an outage that a person ends
"""

from __future__ import annotations

from typing import Final


class LeadRouterError(Exception):
    """Any fault that this program names; its text is for a person and holds no secret."""


class Transient(LeadRouterError):
    """The same request may succeed later."""


class Unreachable(Transient):
    """The server was not reached, so nothing was carried out."""


class OutcomeUnknown(Transient):
    """The request was sent and no answer came: it may or may not have been carried out."""


class RowLocked(Transient):
    """Another transaction held a record for longer than Salesforce waits; `lead_ids` where it is known to be a lead."""

    def __init__(self, text: str, *, lead_ids: frozenset[str] = frozenset()) -> None:
        super().__init__(text)
        self.lead_ids = lead_ids


class RateLimited(Transient):
    """An allowance is used up; `retry_after` is in seconds, `daily` tells a day's allowance from a burst limit."""

    def __init__(self, text: str, *, retry_after: float, daily: bool) -> None:
        super().__init__(text)
        self.retry_after = retry_after
        self.daily = daily


class SessionExpired(Transient):
    """A freshly obtained access token was refused."""


class StoreUnavailable(Transient):
    """The job database did not carry out a statement; nothing of the transaction was kept."""


class Superseded(Transient):
    """Another process holds the subscription now; nothing of what was to be recorded was kept."""


class Ending(Transient):
    """This process was told to end and asks nothing more; what it was about to do waits for the next one."""


class Permanent(LeadRouterError):
    """The same request will fail again until someone changes something."""


class Rejected(Permanent):
    """Salesforce refused; `codes` are its status codes, all of them."""

    def __init__(self, text: str, *, codes: tuple[str, ...] = ()) -> None:
        super().__init__(text)
        self.codes = codes


class Misconfigured(Permanent):
    """A setting or a record is wrong; the text names it and the remedy."""


class BadCriteria(Misconfigured):
    """A criteria clause cannot be read; `at` is the character offset of the fault in the clause."""

    def __init__(self, text: str, *, at: int = 0) -> None:
        super().__init__(text)
        self.at = at


class BadRules(Misconfigured):
    """Rule files cannot be used; the text quotes them, usernames too, so a terminal may show it and no log."""


class BadSetup(Misconfigured):
    """Salesforce refuses for what a person must change in the org; the text is its own."""


class ContractMismatch(Permanent):
    """The org lacks what the router needs, or answered in a shape that the router does not know."""


class LoginRefused(Permanent):
    """Salesforce refused the credentials, or they lead to another org; the text names settings, never their values."""


OUTAGES: Final = (Transient, LoginRefused)
"""What a running program waits out: faults that pass by themselves, or that a person ends in the org."""

OWN_WORDS: Final = frozenset({Misconfigured})
"""Faults, not their subclasses, whose text is this program's own beside names of settings, files and the org's records.

It says what to do, and may be told to whoever asks how the program is; the texts of others may quote customers.
"""
