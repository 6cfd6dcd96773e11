"""Keys: vectors that any other implementation must reproduce, and what must not be folded together."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from lead_router.core.ids import is_id, is_user, to18
from lead_router.core.keys import (
    change_key,
    create_key,
    expected_turn,
    lead_key,
    submission,
    submission_of,
    sweep_key,
    turn_key,
)
from lead_router.core.model import Submission
from support.decide_scene import configuration

ORG, LEAD = "00D5f000005bwLF", "00Q5f000005bwLF"
BUCKET = datetime(2026, 3, 1, 21, 20, tzinfo=UTC)  # begins bucket 2,954,000 of ten minutes, an even one
ANN_EVEN, ANN_ODD = "e40b68d94417c03dedfea74926c2e8c4", "o12eb6d494859ed9007c049032639a0b"
PHONE_EVEN, PHONE_ODD = "eac07e8bbd9d580edb2cc4168f0ffe33", "o66851463b09f4db4970ccf4bdcd9860"


def _keys(email=None, phone=None, form="", at=BUCKET, window_s=600):
    return submission(email=email, phone=phone, form=form, created_at=at, window_s=window_s)


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ("00Q5f000005bwLF", "00Q5f000005bwLFEAY"),
        ("0055f000005mc66", "0055f000005mc66AAA"),
        ("001RM000003oCpr", "001RM000003oCprYAE"),
    ],
)
def test_an_id_has_one_form(short, long):
    """E5: 15 and 18 characters, also with the checksum in lower case, are one id; the letter case of the 15 counts."""
    assert to18(short) == to18(long) == to18(short + long[15:].lower()) == long
    assert to18(short.swapcase()) != long


@pytest.mark.parametrize("text", ["", "00Q", "00Q5f000005bwLFAAA", "00Q5f000005bw-F", "00Q5f000005bwLF ", "x" * 19])
def test_what_is_no_id_is_refused(text):
    assert not is_id(text)
    with pytest.raises(ValueError, match="not a Salesforce id"):
        to18(text)


def test_persons_are_not_queues():
    """P55, E4: an owner that begins with 005 is a person, 00G is a queue."""
    assert is_user("0055f000005mc66AAA")
    assert not is_user("00G5f000005mc66AAA")


def test_idempotency_keys_say_org_lead_and_event():
    """The same event has the same key with ids of either length, and the key fits its field."""
    both = "00D5f000005bwLFEAY.00Q5f000005bwLFEAY"
    identity = "0002343d-9d90-e395-ed20-cf416ba652ad.17"
    assert create_key(ORG, LEAD) == create_key(to18(ORG), to18(LEAD)) == f"{both}.create"
    assert change_key(ORG, LEAD, identity) == f"{both}.{identity}"
    assert sweep_key(ORG, LEAD, 3, {"SystemModstamp": "1970-01-01T00:01:40.700+0000"}) == f"{both}.sweep.3.100"
    assert sweep_key(ORG, LEAD, 3, {}) == f"{both}.sweep.3.0"


@pytest.mark.parametrize("identity", ["a/b.1", "ä.1", "x" * 200])
def test_an_odd_identity_is_hashed_into_the_key_alphabet(identity):
    """Keys go into URLs and queries: other characters and lengths never reach them, and stay distinct."""
    key = change_key(ORG, LEAD, identity)
    assert len(key) <= 120
    assert key.isascii()
    assert key != change_key(ORG, LEAD, identity + "2")


def test_ledger_keys():
    assert turn_key("emea", 2, 42) == "emea.2.42"
    assert lead_key(LEAD, 3) == "00Q5f000005bwLFEAY.3"
    assert expected_turn(2, 41) == "2.41"


def test_submission_vectors():
    """SHA-256 over version, buyer, bucket and form, computed apart with sha256sum; the parity in front."""
    assert _keys(email="ann@example.com", form="web") == Submission(even=ANN_EVEN, odd=ANN_ODD)
    assert _keys(phone="+49 (30) 123-456") == Submission(even=PHONE_EVEN, odd=PHONE_ODD)


@pytest.mark.parametrize("email", ["ann@example.com", " Ann@EXAMPLE.com ", "\tann@example.com\r\n"])
def test_an_email_is_trimmed_and_lowered_in_ascii(email):
    assert _keys(email=email, phone="123", form="web") == Submission(even=ANN_EVEN, odd=ANN_ODD)


def test_nothing_else_of_an_email_is_folded():
    """E7, E8: plus tags, dots, non-ASCII letters and Unicode forms make other buyers."""
    mails = [
        "a.b+x@gmail.com",
        "ab@gmail.com",
        "a.b@gmail.com",
        "Ä@x.de",
        "ä@x.de",
        "a\u0308@x.de",
        "+@x.com",
        '"a+b"@x.de',
    ]
    assert len({_keys(email=mail).even for mail in mails}) == len(mails)


def test_no_buyer_no_window_or_no_time_is_no_submission():
    """A lead without e-mail and phone is never a duplicate of another; a window of 0 turns submissions off."""
    assert _keys() is None
    assert _keys(email="  ", phone="n/a") is None
    assert _keys(email="ann@example.com", window_s=0) is None
    assert _keys(email="ann@example.com", at=None) is None


def test_forms_and_kinds_of_buyer_are_apart():
    keys = {_keys(email="5550102").even, _keys(phone="5550102").even, _keys(email="5550102", form="a").even}
    assert len(keys) == 3


def test_submissions_next_to_a_bucket_boundary_share_one_key_in_one_column():
    """One second before and one second after a boundary: the same value in the same column, so the index refuses."""
    for boundary in (BUCKET, BUCKET + timedelta(minutes=10)):
        before = _keys(email="ann@example.com", at=boundary - timedelta(seconds=1))
        after = _keys(email="ann@example.com", at=boundary)
        assert (before.even == after.even) is not (before.odd == after.odd)


def test_a_submission_is_read_alike_from_an_event_and_from_a_query():
    """Created as a query writes it, as an event writes it, and in milliseconds: one submission."""
    settings = configuration(form_field="Form__c")
    told = ["2026-03-01T21:20:00.000+0000", "2026-03-01T21:20:00Z", 1_772_400_000_000]
    fields = {"Email": "ann@example.com", "Phone": None, "Form__c": "web"}
    found = {submission_of(fields | {"CreatedDate": at}, settings) for at in told}
    assert found == {Submission(even=ANN_EVEN, odd=ANN_ODD)}
    assert submission_of(fields, settings) is None
    assert submission_of({"CreatedDate": told[0], "Email": 7}, settings) is None


@pytest.mark.parametrize("phone", ["0000000000", "000-000", "n/a", "12345", "+", "1111111"])
def test_a_placeholder_phone_makes_no_submission(phone):
    """E7: what people type who give no number must not make one buyer of them all."""
    made = submission(email=None, phone=phone, form="", created_at=datetime(2026, 11, 29, tzinfo=UTC), window_s=600)

    assert made is None


def test_a_text_cut_in_the_middle_of_a_character_has_a_key():
    """E8: half a surrogate pair is what a cut emoji leaves behind; it must not stop the intake."""
    at = datetime(2026, 11, 29, tzinfo=UTC)

    assert submission(email="a\ud83d@x.example", phone=None, form="\ud83d", created_at=at, window_s=600) is not None
