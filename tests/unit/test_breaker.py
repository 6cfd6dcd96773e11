"""The breaker keeps workers from claiming while the service is at fault, and no longer."""

from __future__ import annotations

from lead_router.loops.breaker import CAP_S, TOLD_S, Breaker


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


def test_after_its_time_one_worker_tries():
    """C28: half open, one worker finds out whether the service is back; the others wait for that."""
    watch = _Watch()
    breaker = Breaker(watch)
    closed = [breaker.admits(), breaker.admits()]
    breaker.trip()
    shut = breaker.admits()
    watch.now += 1
    tried = [breaker.admits() for _ in range(3)]
    breaker.trip()
    watch.now += 2
    again = [breaker.admits(), breaker.admits()]
    breaker.close()

    assert (closed, shut) == ([True, True], False)
    assert (tried, again) == ([True, False, False], [True, False])
    assert [breaker.admits(), breaker.admits()] == [True, True]


def test_who_finds_nothing_to_try_lets_the_next_one_try():
    """An empty queue, or a worker whose database went away, does not leave it half open for ever."""
    watch = _Watch()
    breaker = Breaker(watch)
    breaker.trip()
    watch.now += 1
    breaker.admits()
    breaker.pass_on()

    assert (breaker.admits(), breaker.admits()) == (True, False)


def test_it_says_why_until_a_routing_goes_well_or_there_is_nothing_to_try():
    """Health shows the last routing's fault; one that nobody tried again for long is no news any more."""
    watch = _Watch()
    breaker = Breaker(watch)
    untroubled = breaker.why()
    breaker.trip(at_least_s=30, why="RateLimited: all used")
    watch.now += 30 + TOLD_S - 1
    told = breaker.why()
    watch.now += 1
    old = breaker.why()
    breaker.doubt("KeyError on every lead")
    doubted, admitted = breaker.why(), breaker.admits()
    breaker.close()

    assert (untroubled, told, old) == (None, "RateLimited: all used", None)
    assert (doubted, admitted, breaker.why()) == ("KeyError on every lead", True, None)
