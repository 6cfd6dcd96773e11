"""What 200 leads take of a transaction's limits, saved through the REST API in an org that runs the shipped Apex."""

from __future__ import annotations

import pytest

from support.limits_play import LEADS, REPS, saved

pytestmark = pytest.mark.apex

USED = {
    5: {"queries": 15, "query_rows": 433, "dml_statements": 5, "dml_rows": 200 + 200 + 5 * (1 + REPS)},
    10: {"queries": 20, "query_rows": 463, "dml_statements": 5, "dml_rows": 200 + 200 + 10 * (1 + REPS)},
}
"""By number of groups: one query for each rule; a savepoint and four statements; leads, ledger, groups and members."""


@pytest.mark.parametrize("groups", USED)
def test_two_hundred_leads_take_this_of_the_limits(tmp_path, groups):
    """Each rep's share is within one of every other's, each turn is given once, and the figures are these, far from
    what a transaction may take. CPU time is not claimed.
    """
    seen = saved(tmp_path, groups)
    assert seen.used == USED[groups]
    assert all(4 * seen.used[name] < seen.most[name] for name in seen.used)
    each = LEADS // groups
    assert all(turns == list(range(1, each + 1)) for turns in seen.turns.values())
    assert all(len(shares) == REPS for shares in seen.shares.values())
    assert all(max(shares.values()) - min(shares.values()) <= 1 for shares in seen.shares.values())
