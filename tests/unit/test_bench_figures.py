"""The end-to-end and core benchmarks: what counts as a wait, a call and an overhead, and which figures are reached."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks import core, core_report, end_to_end, end_to_end_report, queues_report, race, stock_report
from benchmarks.bare import bare
from benchmarks.figures import Burst, Lone, Play, Seen, burst, floor_calls, middle
from benchmarks.queues_ways import WAYS
from benchmarks.stock_jobs import Cost
from support.company import scenario
from support.simulator import simulator

USER, QUEUE = "005000000000001AAA", "00G000000000001AAA"


@pytest.fixture
def served():
    """A company's org, as a process."""
    with simulator(scenario=scenario()) as org:
        yield org


def change(kind: str, at: int, *ids: str, owner: str | None = None) -> dict[str, Any]:
    header = {"changeType": kind, "recordIds": list(ids), "commitTimestamp": at}
    return {"ChangeEventHeader": header, **({"OwnerId": owner} if owner else {})}


def spread(leads: int, span_ms: int, calls: int, **more: Any) -> Burst:
    owned = tuple(span_ms * (place + 1) // leads for place in range(leads))
    return Burst(calls, owned, owned, **more)


def seen(router: Burst, lone: Lone) -> Seen:
    ms = end_to_end.MANY.latency_ms
    loop, careful, fast = spread(20, 10_000, 60), spread(100, 10_000, 300, lost=1), spread(150, 10_000, 450, lost=90)
    return Seen((lone,), {end_to_end.MANY: (router,)}, {ms: (loop,)}, {ms: {10: (careful,), 50: (fast,)}})


def test_a_wait_is_from_creation_to_the_first_user():
    """The queue that a lead comes to is no owner, nor is a later user the first one."""
    told = burst(
        [
            change("CREATE", 1_000, "a", "b", owner=QUEUE),
            change("UPDATE", 1_050, "a", owner=QUEUE),
            change("UPDATE", 1_100, "a", owner=USER),
            change("UPDATE", 1_400, "a", "b", owner=USER),
        ],
        leads=2,
        api_calls=4,
    )

    assert (told.owned_ms, told.waits_ms, told.rate, told.calls) == ((100, 400), (100, 400), 5.0, 2_000.0)


def test_a_burst_with_a_lead_that_nobody_owns_is_no_figure():
    """What was not done cannot have been fast."""
    with pytest.raises(ValueError, match="2 leads were sent, 2 created, 1 have an owner"):
        burst([change("CREATE", 1, "a", "b"), change("UPDATE", 2, "a", owner=USER)], leads=2, api_calls=1)


@pytest.mark.parametrize(("leads", "calls"), [(1, 2), (200, 2), (201, 4), (10_000, 100)])
def test_the_floor_is_a_read_and_a_write_for_each_full_commit(leads, calls):
    assert floor_calls(leads) == calls


def test_the_overhead_of_a_lone_lead_is_what_is_beyond_two_round_trips():
    """At each part of the leads by itself; the named figure is that of the worst latency."""
    lone = Lone(50, (104.0, 110.0, 190.0), 100.0, 80.0)
    assert (lone.overhead_ms(50), lone.overhead_ms(99)) == (10.0, 90.0)

    told = end_to_end.named(Seen((lone, Lone(0, (7.0,), 0.0, 90.0)), {}, {}, {}))
    assert {name: (one.value, one.reached) for name, one in told.items()} == {
        "lone_lead_overhead_p50_ms": (10.0, True),
        "lone_lead_overhead_p99_ms": (90.0, False),
        "memory_at_rest_mb": (90.0, True),
    }


@pytest.mark.parametrize(
    ("router", "reached"),
    [
        (spread(10_000, 100_000, 110, peak_mb=100.0), [True, True, True, True]),
        (spread(10_000, 100_000, 560, peak_mb=260.0), [False, True, True, False]),
        (spread(10_000, 300_000, 110, peak_mb=100.0), [True, False, False, True]),
    ],
)
def test_the_figures_of_the_burst_can_be_missed(router, reached):
    """A router that is slow, greedy or chatty is told apart from one that is not."""
    told = end_to_end.named(seen(router, Lone(0, (7.0,), 0.0, 90.0)))
    names = ("burst_calls_per_1000", "burst_10000_vs_loop", "burst_10000_vs_threaded", "memory_in_burst_mb")

    assert [told[name].reached for name in names] == reached


def test_the_section_bears_all_ways_and_the_chart_all_lines():
    one = seen(spread(10_000, 100_000, 110), Lone(150, (310.0,), 304.0, 90.0))
    section = end_to_end_report.section(one, "a machine")

    assert all(
        text in section
        for text in ("loop in 10 threads", "| loop ", "11.0 (floor 10)", "1 of 100 in 10 threads at 150")
    )
    assert end_to_end_report.chart(one, end_to_end.MANY).count("<polyline") == 4


def test_the_words_about_lone_leads_bear_the_figures_of_their_tables():
    """What was tried by hand stands beside p99 of the run that is told of, at each latency."""
    lone = (Lone(0, (7.0, 62.4), 5.0, 90.0), Lone(150, (310.0, 361.0), 308.0, 90.0))
    section = " ".join(end_to_end_report.section(Seen(lone, {}, {}, {}), "a machine").split())

    assert "p99 was 62 at 0 ms and 361 at 150 ms, and beyond two bare trips 57 at 0 ms and 53 at 150 ms." in section


def test_the_threaded_form_is_the_fastest_and_the_fastest_in_rotation():
    """Both are named, and what the fastest one lost is told with it."""
    told = end_to_end.named(seen(spread(10_000, 100_000, 110), Lone(0, (7.0,), 0.0, 0.0)))
    fast, kept = told["burst_10000_vs_threaded_losing_turns"], told["burst_10000_vs_threaded"]

    assert (round(fast.value, 1), round(kept.value, 1)) == (6.7, 10.0)
    assert "50 threads" in fast.baseline
    assert "90 of 150 leads lost" in fast.baseline
    assert "10 threads" in kept.baseline


def test_memory_that_the_system_does_not_tell_reaches_no_target():
    """0 MB would be under any."""
    told = end_to_end.named(seen(spread(10_000, 100_000, 110), Lone(0, (7.0,), 0.0, 0.0)))

    assert not [name for name in told if name.startswith("memory")]


def test_every_figure_that_has_a_target_is_named():
    """Whoever reads report.json finds one figure for each thing promised, two where there are two baselines."""
    rates = {(way, figure): [1.0] for way in WAYS for figure in queues_report.FIGURES}
    costs = [Cost("SQLite", rows, 1.0, 1.0, 1.0, 1, {}) for rows in (0, stock_report.MILLION)]
    found = {
        **end_to_end.named(seen(spread(10_000, 100_000, 110, peak_mb=1.0), Lone(0, (7.0,), 0.0, 90.0))),
        **core.named([core.Matched(core.ASKED, (0.1,), (0.1,), (1.0,))]),
        **queues_report.named(rates),
        **stock_report.named(costs),
        race.FIGURE: race.measured([], {}),
    }

    assert {name: one.target for name, one in found.items()} == {
        "lone_lead_overhead_p50_ms": "<=10",
        "lone_lead_overhead_p99_ms": "<=30",
        "burst_10000_vs_loop": ">=40",
        "burst_10000_vs_threaded": ">=5",
        "burst_10000_vs_threaded_losing_turns": ">=5",
        "burst_calls_per_1000": "<=12",
        "queue_drain_ordered_vs_procrastinate": ">=10",
        "queue_drain_unordered_vs_pgqueuer_batched": ">=1.5",
        "queue_enqueue_single_vs_procrastinate": ">=3",
        "queue_enqueue_single_vs_pgqueuer": ">=3",
        "queue_enqueue_single_sqlite_vs_procrastinate": ">=3",
        "queue_enqueue_single_sqlite_vs_pgqueuer": ">=3",
        "race_100_on_10_even_runs": ">=200",
        "match_200_rules_ms": "<=0.15",
        "claim_cost_at_1m_vs_empty": "<=1.3",
        "memory_at_rest_mb": "<=120",
        "memory_in_burst_mb": "<=250",
    }


def test_a_loop_has_its_leads_before_its_time_begins():
    """What it took to make them is not the loop's."""
    told = burst([change("CREATE", 1_000, "a"), change("UPDATE", 5_500, "a", owner=USER)], 1, 3, began_ms=5_000)

    assert (told.span_s, told.waits_ms) == (0.5, (4_500,))


def test_a_quick_run_is_not_recorded(capsys):
    """The figures of a few leads would stand beside their targets as if they were the ones asked for."""
    with pytest.raises(SystemExit):
        end_to_end.main(["--quick", "--record"])

    assert "nothing to record" in capsys.readouterr().err


def test_of_two_runs_neither_is_hidden():
    """The middle of three is the second, whatever their order."""
    runs = [spread(10, span, 30) for span in (3_000, 1_000, 2_000)]
    assert middle(runs).span_s == 2.0


def test_the_core_is_measured_at_its_smallest():
    """Every figure is one of work that was done; the table has a row for each."""
    matched, rotated = core.matching(10, 5), core.rotating(5, 10)

    assert (matched.rules, len(matched.none), rotated.members) == (10, 5, 5)
    told = core.timed([matched], [rotated])
    assert all(min(*one.samples, *(one.beside or (1.0,))) > 0 for one in told)
    assert core_report.table(told).count("\n") == len(told) + 1 == 8


def test_a_figure_of_the_core_has_its_spread_its_baseline_and_its_bound():
    """Of a time p95 is a long one, of a rate a small one; the verdict is by the median."""
    samples = [float(n) for n in range(1, 101)]
    slow = core_report.Timed("a match", "ms", samples, "a function", (5.0,), "<=50", target=True)
    fast = core_report.Timed("turns", "a second", samples, "", (), ">=50")
    rows = [[cell.strip() for cell in row.split("|")] for row in core_report.table([slow, fast]).splitlines()[2:]]

    assert rows[0][1:-1] == [
        *("a match, ms", "50.5", "95", "1 to 100", "100"),
        *("a function", "5", "10.1", "target <=50", "BEYOND"),
    ]
    assert rows[1][1:-1] == ["turns, a second", "50.5", "5", "1 to 100", "100", "", "", "", ">=50", "within"]


def test_two_bare_trips_bear_what_the_router_sends(served):
    """The read asks for the lead, the write gives it away; the org then shows its owner, as after the router."""
    buyers = [{"LastName": f"Buyer {n}", "Company": "Buyers", "Email": f"b{n}@x.example"} for n in range(2)]
    trips = bare(served, buyers)

    owners = {row["OwnerId"][:3] for row in served.rows("Lead")}
    assert (len(trips), min(min(one) for one in trips) > 0, owners) == (2, True, {"005"})
    assert len(served.rows("Lead_Assignment__c")) == 2


def test_a_slow_match_misses_its_target():
    """The median counts, and it is of the rules that were asked for."""
    slow, fast = (core.Matched(core.ASKED, (one,) * 3, (one,), (1.0,)) for one in (0.2, 0.1))
    others = core.Matched(10, (9.0,), (9.0,), (1.0,))

    assert [core.named([others, one])["match_200_rules_ms"].reached for one in (slow, fast)] == [False, True]


def test_plays_of_the_default_run_hold_the_one_that_is_named():
    assert end_to_end.MANY in end_to_end.USUAL
    assert set(end_to_end.USUAL) <= set(end_to_end.EVERY)
    assert Play(10_000, 10, 150) == end_to_end.MANY
