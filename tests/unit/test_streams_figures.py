"""The benchmark of the two streams: which figure is told, and when it is reached."""

from __future__ import annotations

import pytest

from benchmarks.streams_report import PEER, named, ratio_table, section, table

SEEN = {"CometD, SQLite": [4_000.0, 9_000.0, 5_000.0], "Pub/Sub API, SQLite": [3_000.0, 3_600.0, 3_500.0]}


@pytest.mark.parametrize(("faster", "ratio", "reached"), [(1.0, 0.7, True), (0.9, 0.63, False)])
def test_each_run_is_compared_with_the_run_beside_it(faster, ratio, reached):
    """The machine may be busier in one run than in another: the median is one of ratios."""
    seen = SEEN | {"Pub/Sub API, SQLite": [rate * faster for rate in SEEN["Pub/Sub API, SQLite"]]}
    figure = named(seen)["pubsub_vs_cometd"]
    assert (figure.value, figure.reached) == (ratio, reached)


def test_a_row_has_the_median_and_the_spread():
    """One row each way, in the order in which they were run."""
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in table(SEEN)[2:]]
    assert rows == [
        ["CometD, SQLite", "5,000", "4,000 to 9,000"],
        ["Pub/Sub API, SQLite", "3,500", "3,000 to 3,600"],
    ]


def test_each_engine_has_a_figure_and_a_row_with_its_verdict():
    """One that is reached on SQLite hides none that is missed on PostgreSQL; an engine that was left out has none."""
    both = SEEN | {"CometD, PostgreSQL": [10_000.0] * 3, "Pub/Sub API, PostgreSQL": [5_500.0, 5_600.0, 5_700.0]}
    figures = named(both)
    assert {name: (one.value, one.reached) for name, one in figures.items()} == {
        "pubsub_vs_cometd": (0.7, True),
        "pubsub_vs_cometd_postgresql": (0.56, False),
    }
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in ratio_table(both)[2:]]
    assert rows == [
        ["SQLite", "0.70", "0.40 to 0.75", ">=0.7", "reached"],
        ["PostgreSQL", "0.56", "0.55 to 0.57", ">=0.7", "MISSED"],
    ]
    assert [*named(SEEN)] == ["pubsub_vs_cometd"]


def test_a_section_says_what_a_hundred_events_take_more():
    """100 at 5,000 and 10,000 a second over Pub/Sub API, at half of that time over CometD; all from the figures."""
    rates = {"CometD, SQLite": 20_000.0, "CometD, PostgreSQL": 10_000.0, PEER: 1.0}
    rates |= {"Pub/Sub API, SQLite": 10_000.0, "Pub/Sub API, PostgreSQL": 5_000.0}
    written = {"events": 5_000, "machine": "two cores", "events_per_s": {way: [rate] for way, rate in rates.items()}}

    told = section(written)
    assert "10.0 ms more on PostgreSQL than on SQLite (over CometD 5.0 ms)" in told
    assert "1 runs of each way" in told
