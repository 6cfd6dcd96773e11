"""How far each member is from the fair share, as monitoring is told it."""

from __future__ import annotations

import pytest

from lead_router.core.rotation import gaps, take_turn
from support.rotation_play import member, of_weights

NAMES = "ABC"


@pytest.mark.parametrize("weights", [(1, 1, 1), (5, 1, 1), (3, 2, 1), (18, 50, 32)])
def test_a_gap_is_what_was_given_less_what_the_weight_is_due(weights):
    """P10: after each turn, with all on duty all the time; so none is ever off by a whole lead."""
    group, given = of_weights(*weights), dict.fromkeys(NAMES, 0)
    for turns in range(1, 101):
        turn = take_turn(group, NAMES, NAMES)
        assert turn is not None
        group = turn.group
        given[turn.member.id] += 1
        found = gaps(group.clock, group.members)

        assert found == {
            name: pytest.approx(given[name] - turns * weight / sum(weights), abs=1e-6)
            for name, weight in zip(NAMES, weights, strict=True)
        }
        assert max(map(abs, found.values())) < 1


def test_a_place_that_was_edited_is_seen_from_both_sides():
    """One is far ahead, so the other is far behind; and nobody is off where nobody is on duty."""
    found = gaps(0, [member("A", next_turn=0), member("B", next_turn=50_000_000_000)])

    assert found["B"] == -found["A"] > 5
    assert gaps(0, []) == {}
