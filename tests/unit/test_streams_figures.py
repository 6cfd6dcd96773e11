"""The benchmark of the two streams: which figure is told, and when it is reached."""

from __future__ import annotations

import pytest

from benchmarks.streams import named, table

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
