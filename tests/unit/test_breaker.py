"""The breaker keeps workers from claiming while the service is at fault, and no longer."""

from __future__ import annotations

from lead_router.loops.breaker import CAP_S, Breaker


class _Watch:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_delays_double_up_to_the_cap_and_a_success_resets_them():
    """C28: a broken service is asked ever more rarely, at most once a minute."""
    watch = _Watch()
    breaker = Breaker(watch)

    delays = [breaker.trip() for _ in range(8)]
    breaker.close()

    assert delays == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, CAP_S, CAP_S]
    assert (breaker.open_s(), breaker.trip()) == (0.0, 1.0)


def test_it_opens_for_as_long_as_the_service_asked():
    """B7: a Retry-After is obeyed even where our own delay is shorter."""
    watch = _Watch()
    breaker = Breaker(watch)
    breaker.trip(at_least_s=45)

    assert breaker.open_s() == 45
    watch.now += 44.5
    assert breaker.open_s() == 0.5
    watch.now += 0.5
    assert breaker.open_s() == 0


def test_a_shorter_trip_never_ends_a_longer_one():
    """Two workers trip it: the later hour counts."""
    watch = _Watch()
    breaker = Breaker(watch)
    breaker.trip(at_least_s=60)
    breaker.trip()

    assert breaker.open_s() == 60
