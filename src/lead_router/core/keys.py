"""Keys: the names under which the job store and the ledger refuse to do a thing twice (DESIGN section 7).

All are plain ASCII and computed alike in Apex. Salesforce ids are written with 18 characters.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

from lead_router.core.ids import to18
from lead_router.core.model import Configuration, Submission, Switch
from lead_router.core.soql.values import instant

IDEMPOTENCY_KEY_MAX_CHARS = 120
SUBMISSION_KEY_CHARS = 32  # of SHA-256's 64 hex digits: 200 leads' keys fit one query's URL
SUBMISSION_VERSION = "s1"
PHONE_DIGITS_MIN = 7  # fewer, or one digit over and over, is what people type who give no number
EMAIL, PHONE, CREATED, CHANGED = "Email", "Phone", "CreatedDate", "SystemModstamp"

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
_BLANKS = "".join(map(chr, range(ord(" ") + 1)))  # what Apex's trim() removes
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")
_NO_DIGIT = re.compile(r"[^0-9]")
_UNTOUCHED = re.compile(r"\.untouched\.([0-9]{1,9})\Z")


def create_key(org_id: str, lead_id: str) -> str:
    """The idempotency key of a lead's creation, however often and by whichever way it is told."""
    return f"{to18(org_id)}.{to18(lead_id)}.create"


def change_key(org_id: str, lead_id: str, identity: str) -> str:
    """The idempotency key of a later change; `identity` is the event's transaction key and sequence number.

    An identity with other characters than letters, digits, dot, hyphen and underscore, or too long, is replaced by its
    hash.
    """
    prefix = f"{to18(org_id)}.{to18(lead_id)}."
    if _UNSAFE.search(identity) or len(prefix) + len(identity) > IDEMPOTENCY_KEY_MAX_CHARS:
        identity = sha256(identity.encode(errors="replace")).hexdigest()[:SUBMISSION_KEY_CHARS]
    return prefix + identity


def sweep_key(org_id: str, lead_id: str, round_: int, fields: Mapping[str, Any]) -> str:
    """The idempotency key of a lead that a sweep found before its round `round_`, as it was last changed.

    The second of the change belongs to it: a lead that was taken and given back without being routed is found again.
    """
    changed = instant(fields.get(CHANGED))
    seconds = 0 if changed is None else (changed - _EPOCH) // timedelta(seconds=1)
    return f"{to18(org_id)}.{to18(lead_id)}.sweep.{round_}.{seconds}"


def untouched_key(org_id: str, lead_id: str, round_: int) -> str:
    """The idempotency key of a lead whose owner let it lie in its round `round_`: the clock runs out once a round."""
    return f"{to18(org_id)}.{to18(lead_id)}.untouched.{round_}"


def untouched_round(key: str) -> int | None:
    """The round that such a key is of; None for any other key."""
    found = _UNTOUCHED.search(key)
    return None if found is None else int(found[1])


def turn_key(group_key: str, epoch: int, turn: int) -> str:
    """One lead per turn of a group's epoch."""
    return f"{group_key}.{epoch}.{turn}"


def lead_key(lead_id: str, round_: int) -> str:
    """One rep per round of a lead."""
    return f"{to18(lead_id)}.{round_}"


def expected_turn(epoch: int, turn: int) -> str:
    """What a commit says the group's epoch and turn were when it was read."""
    return f"{epoch}.{turn}"


def submission_of(fields: Mapping[str, Any], configuration: Configuration) -> Submission | None:
    """The submission keys of a lead's fields, as an event or a query tells them.

    None where duplicates or the window are off, the creation time is not told, or there is neither e-mail nor phone.
    """
    if configuration.rollout.duplicates is Switch.OFF:
        return None
    created = fields.get(CREATED)
    if isinstance(created, int) and not isinstance(created, bool):  # milliseconds since 1970
        created = _EPOCH + timedelta(milliseconds=created)
    form = fields.get(configuration.form_field) if configuration.form_field else None
    return submission(
        email=fields.get(EMAIL),
        phone=fields.get(PHONE),
        form="" if form is None else str(form),
        created_at=instant(created),
        window_s=configuration.submission_window_s,
    )


def submission(
    *, email: str | None, phone: str | None, form: str, created_at: datetime | None, window_s: int
) -> Submission | None:
    """The keys of the time bucket in which a buyer's form fill fell, and of the next bucket.

    Two fills by one buyer in the same or in neighbouring buckets of `window_s` seconds share at least one key, in the
    same column. The buyer is the e-mail (trimmed, ASCII lower case, nothing else folded), else the phone's digits where
    they can be a number; with neither there is no submission.
    """
    buyer = _buyer(email, phone)
    if window_s <= 0 or created_at is None or not buyer:
        return None
    bucket = (created_at - _EPOCH) // timedelta(seconds=window_s)
    own, following = (_submission_key(buyer, form, number) for number in (bucket, bucket + 1))
    return Submission(even=own, odd=following) if bucket % 2 == 0 else Submission(even=following, odd=own)


def _buyer(email: str | None, phone: str | None) -> str:
    address = email.strip(_BLANKS).translate(_LOWER) if isinstance(email, str) else ""
    if address:
        return f"email:{address}"
    digits = _NO_DIGIT.sub("", phone) if isinstance(phone, str) else ""
    placeholder = len(digits) < PHONE_DIGITS_MIN or len(set(digits)) == 1
    return "" if placeholder else f"phone:{digits}"


def _submission_key(buyer: str, form: str, bucket: int) -> str:
    """`e` or `o` for an even or odd bucket, and 31 hex digits of SHA-256 over version, buyer, bucket and form.

    These stand one to a line, in UTF-8; half a surrogate pair, as a text cut within an emoji has it, counts as a
    question mark. The key's first letter tells the column in which it stands.
    """
    text = f"{SUBMISSION_VERSION}\n{buyer}\n{bucket}\n{form}"
    return "eo"[bucket % 2] + sha256(text.encode(errors="replace")).hexdigest()[: SUBMISSION_KEY_CHARS - 1]
