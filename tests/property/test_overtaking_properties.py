"""Nobody is overtaken: whatever waits and whatever is asked, against the rule said in the plainest way."""

from __future__ import annotations

import re
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as some

from lead_router.core.decide import decide
from lead_router.core.model import Ask, Assign, Hold, ToGroup
from support.decide_scene import NOW, configuration, lead, lead_id, pool, rep, row, rule, snapshot, user

COUNTRIES = "DFJ"
CHAINS = {"D": ("g1", "g2"), "F": ("g1", "g2"), "J": ("g2",)}
ACCEPTS = {"A": "D", "B": "F", "C": "DFJ", "D": "DJ", "E": "F"}  # by member, A to C of the first group
GROUPS = {"A": "g1", "B": "g1", "C": "g1", "D": "g2", "E": "g2"}
SETTINGS = configuration(
    rule("asia", 1, "Country = 'J'", ToGroup("g2")), rule("all", 2), fallbacks={"g1": "g2"}, submission_window_s=0
)
TOLD = re.compile(r"waits behind an older lead that (\w) of group '\w+' could take")
LEADS = some.lists(
    some.tuples(some.sampled_from(COUNTRIES), some.booleans(), some.none() | some.sampled_from("ABCDE")), max_size=14
)


def _groups(caps: dict[str, int]):
    members = {
        name: rep(
            name,
            accepts=f"Country IN ({', '.join(map(repr, countries))})",
            daily_cap=caps[name],
            sort_order=number,
        )
        for number, (name, countries) in enumerate(ACCEPTS.items())
    }
    first, second = ([members[name] for name in names] for names in ("ABC", "DE"))
    return [pool("emea", first, fallback_group="g2"), pool("apac", second)]


def _could_have(member: str, country: str, former: str | None) -> bool:
    """Whether the member's group may give it such a lead; it is not alone where another one takes such leads."""
    group = GROUPS[member]
    if group not in CHAINS[country] or country not in ACCEPTS[member]:
        return False
    others = {name for name in ACCEPTS if GROUPS[name] == group and country in ACCEPTS[name]} - {member}
    return member != former or not others


@given(
    leads=LEADS,
    ages=some.permutations(range(14)),
    caps=some.fixed_dictionaries({name: some.integers(1, 3) for name in ACCEPTS}),
)
def test_no_member_goes_to_a_newer_lead_that_an_older_one_could_have(leads, ages, caps):
    """P68: of those in line before, and those that join in the batch, the oldest that could have it is named."""
    numbers = range(len(leads))
    asks = [Ask(number, f"job-{number}", lead_id(number), NOW + timedelta(seconds=ages[number])) for number in numbers]
    rows = [row(number, user(had), assigned_to=user(had)) for number, (_, _, had) in enumerate(leads) if had]
    seen = snapshot(
        [lead(number, Country=country, round=1 if had else 0) for number, (country, _, had) in enumerate(leads)],
        _groups(caps),
        rows,
        waiting=tuple(asks[number] for number in numbers if leads[number][1]),
    )
    asked = [asks[number] for number in numbers if not leads[number][1]]
    line = {number for number in numbers if leads[number][1]}
    for decision in sorted(decide(SETTINGS, seen, asked), key=lambda one: one.ask.event_at):
        older = [
            number for number in sorted(line, key=lambda one: ages[one]) if ages[number] < ages[decision.ask.job_id]
        ]
        match decision:
            case Assign(turn=turn):
                member, first = turn.member.name, None
            case Hold(behind=first, reason=reason):
                told = TOLD.fullmatch(reason)
                assert (told is None) == (first is None)
                line.add(decision.ask.job_id)
                if told is None:
                    continue
                member = told[1]
        could = [number for number in older if _could_have(member, leads[number][0], leads[number][2])]
        assert first == (lead_id(could[0]) if could else None)
