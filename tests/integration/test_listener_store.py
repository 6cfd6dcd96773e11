"""One holder per channel, by the database's time, and a fence behind it: one suite for SQLite and PostgreSQL."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from lead_router.errors import Superseded
from lead_router.ports import Held, Hold, ListenerView, Position, Release, Unreadable
from support.databases import CHANNEL, ORG, lead_id, new_job

LEASE_S = 6.0
OTHER_ORG = "00D000000000002AAA"


def take(store, holder, *, lease_s=LEASE_S):
    return store.hold(CHANNEL, holder, lease_s=lease_s)


@pytest.fixture
def stores(database):
    """Two routers on one database."""
    return database.open(), database.open()


def test_one_holds_and_the_other_is_told_who(stores):
    """Whoever comes second waits, and so does the holder that asks again."""
    one, two = stores
    hold = take(one, "one")
    assert hold == Hold(CHANNEL, "one", 1, LEASE_S)
    assert take(two, "two") == Held("one", 0)
    assert take(one, "one") == Held("one", 0)
    assert one.keep(hold)


def test_of_ten_who_ask_at_once_one_holds(database):
    """The row decides, not who looked first."""
    stores = [database.open() for _ in range(10)]
    together = threading.Barrier(10)

    def ask(number):
        together.wait()
        return take(stores[number], str(number))

    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(ask, range(10)))
    (hold,) = [answer for answer in answers if isinstance(answer, Hold)]
    assert [answer for answer in answers if isinstance(answer, Held)] == [Held(hold.holder, 0)] * 9


def test_a_lease_that_is_kept_lasts_and_one_that_is_not_is_another_s(database, stores):
    """Time is the database's; a recording under the hold keeps it too."""
    one, two = stores
    hold = take(one, "one")
    database.wait(5)
    assert one.keep(hold)
    database.wait(5)
    one.record([], hold=hold)
    database.wait(5)
    assert take(two, "two") == Held("one", 0)
    database.wait(2)
    assert take(two, "two") == Hold(CHANNEL, "two", 2, LEASE_S)


@pytest.mark.parametrize(("back_s", "taken"), [(50, False), (70, True), (3600, True)])
def test_a_clock_set_back_leaves_the_channel_to_no_dead_holder(database, stores, back_s, taken):
    """C17: a lease that ends later than any lease lasts is another clock's; the fence shuts as at any taking."""
    one, two = stores
    lost = take(one, "one")
    database.wait(-back_s)
    answer = take(two, "two")

    assert isinstance(answer, Hold) is taken
    assert (one.keep(lost) is None) is taken


def test_a_generation_that_an_older_copy_of_the_database_gives_again_is_one_holder_s(database, stores):
    """A failover to a copy that lagged behind forgot who took the channel: whoever takes it then holds it alone."""
    one, two = stores
    lost = take(one, "one")
    one.record([new_job(1)], position=Position(CHANNEL, b"10"), hold=lost)
    database.execute("DELETE FROM listener")
    hold = take(two, "two")
    with pytest.raises(Superseded):
        one.record([new_job(2)], position=Position(CHANNEL, b"11"), hold=lost)
    one.announce_reload(lost)
    one.give_up(lost)

    assert (lost.generation, hold.generation, one.keep(lost)) == (1, 1, None)
    assert two.keep(hold)
    assert (two.position(CHANNEL), len(two.jobs())) == (Position(CHANNEL, b"10"), 1)
    assert take(one, "one") == Held("two", 0)


def test_what_an_overtaken_holder_records_is_refused_whole(database, stores):
    """It stalled, another one took over and is further: nothing that it brings is kept (A28)."""
    one, two = stores
    former = take(one, "one")
    one.record([new_job(1)], position=Position(CHANNEL, b"10"), hold=former)
    one.end([(job, Release(900, "held: no rule matches")) for job in one.claim("w", limit=1, lease_s=60)])
    database.wait(7)
    later = take(two, "two")
    two.record([new_job(2)], position=Position(CHANNEL, b"20"), hold=later)
    with pytest.raises(Superseded):
        one.record(
            [new_job(3)],
            position=Position(CHANNEL, b"11"),
            unreadable=[Unreadable(CHANNEL, b"?", "strange")],
            sweep="gap",
            changed=[lead_id(1)],
            hold=former,
        )
    seen = two.queue()
    assert (seen.queued, seen.due, seen.quarantined, seen.sweep_requested) == (2, 1, 0, None)
    assert two.position(CHANNEL) == Position(CHANNEL, b"20")
    assert not one.keep(former)
    assert two.keep(later)


def test_a_holder_that_was_late_and_not_overtaken_goes_on(database, stores):
    """A pause of a minute where nobody waits costs nothing."""
    one, two = stores
    hold = take(one, "one")
    database.wait(60)
    one.record([new_job(1)], position=Position(CHANNEL, b"10"), hold=hold)
    assert one.keep(hold)
    assert take(two, "two") == Held("one", 0)


def test_whoever_gives_up_is_followed_at_once_and_fenced(stores):
    """SIGTERM waits for no lease, and what is under way behind it is refused; to give up twice harms nobody."""
    one, two = stores
    hold = take(one, "one")
    one.give_up(hold)
    with pytest.raises(Superseded):
        one.record([], position=Position(CHANNEL, b"10"), hold=hold)
    later = take(two, "two")
    assert later == Hold(CHANNEL, "two", 3, LEASE_S)
    one.give_up(hold)
    assert two.keep(later)


def test_who_listens_is_seen_beside_the_queue(database, stores):
    """`status` tells a holder from one that was."""
    one, two = stores
    assert one.queue().listeners == ()
    hold = take(one, "one")
    database.wait(5)
    (seen,) = two.queue().listeners
    assert (seen.channel, seen.holder, seen.generation, seen.listens) == (CHANNEL, "one", 1, True)
    assert (5 <= seen.age_s < 10, seen.ended_age_s) == (True, None)
    database.wait(61)
    (lost,) = two.queue().listeners
    assert (lost.holder, lost.listens) == ("one", False)
    assert lost.ended_age_s is not None
    assert 60 <= lost.ended_age_s < 65
    one.give_up(hold)
    (left,) = two.queue().listeners
    assert left == ListenerView(CHANNEL, None, 2, listens=False, age_s=left.age_s, ended_age_s=left.ended_age_s)
    assert left.ended_age_s is not None
    assert 0 <= left.ended_age_s < 5


def test_those_who_wait_are_told_of_changes(stores):
    """One hears of a changed rule for all; a former holder tells nobody."""
    one, two = stores
    hold = take(one, "one")
    one.announce_reload(hold)
    assert take(two, "two") == Held("one", 1)
    one.give_up(hold)
    later = take(two, "two")
    one.announce_reload(hold)
    assert take(one, "one") == Held("two", 1)
    assert two.keep(later)


def test_each_org_and_channel_has_its_own_holder(database):
    """Routers of two orgs share a database without a thought of each other."""
    take(database.open(org_id=ORG), "one")
    assert isinstance(take(database.open(org_id=OTHER_ORG), "two"), Hold)
    assert isinstance(database.open(org_id=ORG).hold("/event/Other__e", "three", lease_s=1), Hold)


@pytest.mark.postgres
def test_whoever_takes_over_waits_for_a_recording_under_way(shared):
    """The lease ran out in mid-recording: what that kept counts, and the channel stays its holder's."""
    one, two = shared.open(), shared.open()
    take(one, "one")
    shared.wait(7)
    with psycopg.connect(shared.url) as recording, ThreadPoolExecutor(1) as pool:
        recording.execute("UPDATE listener SET lease_until = lease_until + 60000")
        taking = pool.submit(take, two, "two")
        waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%listener%'"
        while shared.execute(waiting) == [(0,)]:
            assert not taking.done()
        recording.commit()
        assert taking.result(10) == Held("one", 0)


@pytest.mark.postgres
def test_a_router_that_vanishes_in_mid_transaction_is_broken_off(shared):
    """Its locks would hold up every recording for as long as the network takes to give it up."""
    engine = shared.engine()
    (rows,) = engine.write([("SELECT current_setting('idle_in_transaction_session_timeout') AS bound", {})])
    engine.close()
    assert rows == [{"bound": "4s"}]


def test_since_when_a_stream_stands_as_it_does_is_told(database, stores):
    """From the acknowledgement on; lost after two days, for as long as it is lost, not since listening began."""
    one, two = stores
    hold = take(one, "one")

    def turned_s():
        (seen,) = two.queue().listeners
        return seen.subscribed, pytest.approx(seen.turned_age_s, abs=2), pytest.approx(seen.age_s, abs=2)

    database.wait(3)
    assert turned_s() == (False, 3, 3)
    assert one.keep(hold, subscribed=True)
    database.wait(3)
    assert one.keep(hold, subscribed=True)
    assert turned_s() == (True, 3, 6)
    for _ in range(2):
        assert one.keep(hold, subscribed=False)
        database.wait(4)
    assert turned_s() == (False, 8, 14)
    assert one.keep(hold, subscribed=True)
    assert turned_s() == (True, 0, 14)
