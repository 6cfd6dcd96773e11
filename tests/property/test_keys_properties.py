"""Keys: the shape of time buckets, for any two fills."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from lead_router.core.backoff import backoff_s
from lead_router.core.keys import submission

START = datetime(2026, 1, 1, tzinfo=UTC)


@given(st.integers(0, 10**7), st.integers(0, 5000), st.integers(1, 3600))
def test_two_fills_share_a_key_exactly_in_the_same_or_neighbouring_buckets(offset, apart, window_s):
    """Within one bucket both keys, between neighbours one in its column, further apart none."""
    first, second = START + timedelta(seconds=offset), START + timedelta(seconds=offset + apart)
    a, b = (submission(email="a@b.c", phone=None, form="", created_at=at, window_s=window_s) for at in (first, second))
    buckets = int(second.timestamp()) // window_s - int(first.timestamp()) // window_s
    assert (a.even == b.even) + (a.odd == b.odd) == max(2 - buckets, 0)
    assert {a.even, a.odd}.isdisjoint({b.even, b.odd}) is (buckets > 1)


@given(st.integers(-3, 10**6), st.text(max_size=40), st.floats(0.001, 100), st.floats(0.001, 10_000))
def test_a_wait_is_positive_capped_and_the_same_again(attempt, key, first_s, cap_s):
    """For any attempt and key: at most the cap, never nothing, and no dice."""
    wait = backoff_s(attempt, key, first_s=first_s, cap_s=cap_s)
    assert 0 < wait <= cap_s
    assert wait == backoff_s(attempt, key, first_s=first_s, cap_s=cap_s)
