"""The answers that are findings: what each cost by the published curve, and the smallest change that would help."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from lead_router.audit.judging.answers import Audit, Finding
from lead_router.audit.judging.doubles import WITHIN_S, pairs
from lead_router.audit.judging.polling import LATE_PART
from lead_router.audit.judging.shares import EVEN_MIN, Shares
from lead_router.audit.judging.words import given_by, listed, said, when
from lead_router.audit.past import Past
from lead_router.core import decay
from lead_router.core.counted import counted

LATE_PART_MIN, LATE_MIN = 0.05, 20
OFF_PART_MIN, OFF_MIN = 0.05, 20
NEVER_MIN = 5
LEFT_MIN = 3
NEVER_CALLED_MIN = 30.0  # minutes; the curve tells of no more loss behind it
FAST_POLL_S = 60.0

CURVE = (
    "Costs are an estimate, not a measure: the expected number of leads that are qualified less than if each had been "
    "called within five minutes. The odds of qualifying fall to a quarter from five minutes to ten and to a 21st at "
    "thirty (Lead Response Management study, J. Oldroyd with InsideSales.com, 2007); the wait counted is the one to "
    "the owner, plus {reaction} until the call, and {within:.0%} of the leads called within five minutes "
    "are taken to qualify. A lead may stand in several findings: their costs do not add up."
)


def found(audit: Audit, past: Past) -> tuple[Finding, ...]:
    """The findings, those first whose change wins the most back, then the costliest, then the most leads."""
    asked: tuple[Callable[[Audit, Past], Iterable[Finding]], ...] = (
        _doubles,
        _twins,
        _late,
        _never,
        _polls,
        _resets,
        _restarts,
        _shares,
        _rivals,
        _left,
        _off,
    )
    each = [one for ask in asked for one in ask(audit, past)]
    return tuple(
        sorted(each, key=lambda one: (-round(one.gain, 2), -round(one.lost or 0.0, 2), -len(one.leads), one.kind))
    )


def _lost(audit: Audit, waits_s: Iterable[float]) -> float:
    taken = audit.assumed
    return decay.lost((wait / 60 + taken.reaction_min for wait in waits_s), taken.within_five)


def _doubles(audit: Audit, past: Past) -> Iterator[Finding]:
    if not audit.doubles:
        return
    created = {story.id: story.created for story in past.stories}
    late = _lost(audit, (one.at - created[one.lead] for one in audit.doubles))
    early = _lost(audit, (one.at - one.apart_s - created[one.lead] for one in audit.doubles))
    ((one, other), most), *more = pairs(audit.doubles)
    name = audit.name
    who = f"{name(one)} wrote twice" if one == other else f"{name(one)} wrote first and {name(other)} wrote over it"
    told = (
        f"{counted(len(audit.doubles), 'lead')} came to two reps within {WITHIN_S / 60:.0f} minutes, "
        + (f"{most:,} of them because {who}" if more else f"because {who}")
        + (f"; {counted(len(more), 'other pair')} of writers did the rest" if more else "")
        + ". Two reps call one buyer, or each waits for the other."
    )
    change = (
        f"Let only one of them write Lead owners: take the owner out of what {name(other)} writes for leads that "
        f"{name(one)} gives out."
        if one != other
        else f"Let {name(one)} look at the owner before it writes, and write only if the lead still has none: it "
        "repeats what it has already done."
    )
    ids = tuple(one.lead for one in audit.doubles)
    yield Finding(
        "doubles",
        "Leads given to two reps",
        told,
        ids,
        audit.owned,
        change,
        max(0.0, late - early),
        max(0.0, late - early),
    )


def _twins(audit: Audit, _past: Past) -> Iterator[Finding]:
    if not audit.twins:
        return
    mails = sum(one.by == "e-mail" for one in audit.twins)
    records = "1 lead record is" if len(audit.twins) == 1 else f"{len(audit.twins):,} lead records are"
    told = (
        f"{records} of a buyer who had come within a day before, and went to another rep "
        f"({mails:,} by e-mail address, {len(audit.twins) - mails:,} by telephone number)."
    )
    change = (
        "Before a lead is given out, look for one with the same address of the last day, and let it follow its owner."
    )
    ids = tuple(one.twin for one in audit.twins)
    yield Finding("twins", "One buyer, two records, two reps", told, ids, audit.leads, change)


def _late(audit: Audit, _past: Past) -> Iterator[Finding]:
    polled = {lead for poll in audit.polls for lead in poll.leads}
    late = [one for one in audit.waits.late if one.lead not in polled]
    if len(late) < max(LATE_MIN, LATE_PART_MIN * audit.owned):
        return
    cost = _lost(audit, (one.working_s for one in late))
    ((worst, _),) = Counter(one.source for one in late).most_common(1)
    working = audit.waits.working
    told = (
        f"{len(late):,} leads ({len(late) / audit.owned:.0%}) waited more than five minutes of working time for their "
        f"first rep; half of all leads waited up to {said(working.p50)}, the slowest twentieth {said(working.p95)} or "
        f"more. Most of them came from {worst or '(no source)'}."
    )
    change = (
        f"Begin with {worst or 'leads without a source'}: give them out by the event of their creation, not by someone "
        "who looks into the queue."
    )
    leads = tuple(one.lead for one in late)
    yield Finding("waited", "Leads that waited", told, leads, audit.owned, change, cost, cost)


def _never(audit: Audit, _past: Past) -> Iterator[Finding]:
    never = audit.waits.never
    if len(never) < NEVER_MIN:
        return
    cost = _lost(audit, [NEVER_CALLED_MIN * 60] * len(never))
    lie = "lies" if audit.waits.queued == 1 else "lie"
    told = (
        f"{len(never):,} leads that are a day old or more were never given to anybody who works on leads; "
        f"{audit.waits.queued:,} of them {lie} in a queue now."
    )
    change = "Give these out today, and let an alarm tell of any lead without a rep after ten minutes."
    yield Finding("never", "Leads that nobody ever had", told, never, audit.leads, change, cost, cost)


def _polls(audit: Audit, _past: Past) -> Iterator[Finding]:
    for poll in audit.polls:
        near = [wait for wait in poll.waits if wait <= LATE_PART * poll.period_s]
        cost, fast = _lost(audit, near), _lost(audit, (wait * FAST_POLL_S / poll.period_s for wait in near))
        told = (
            f"{audit.name(poll.writer)} gives out {len(poll.leads):,} leads of {listed(poll.sources)} every "
            f"{said(poll.period_s)} and not when they come: their waits are spread evenly from 0 to "
            f"{said(poll.period_s)}, {said(poll.period_s / 2)} on average (R² {poll.strength:.2f}, {poll.sigma:.0f} "
            "standard deviations)."
        )
        change = (
            f"Let {audit.name(poll.writer)} look every minute instead, which takes {said(poll.period_s / 2 - 30)} off "
            "the average lead; or give leads out by the event of their creation, which takes off all of it."
            if poll.period_s > FAST_POLL_S
            else "Give leads out by the event of their creation."
        )
        yield Finding("poll", "A poller's interval", told, poll.leads, audit.owned, change, cost, max(0.0, cost - fast))


def _resets(audit: Audit, _past: Past) -> Iterator[Finding]:
    if not audit.resets:
        return
    lines = [
        f"on {when(audit, one.at)} at lead {one.lead}, where {audit.name(one.rep)} was next though "
        f"{audit.name(one.due)} was due"
        for one in audit.resets[:3]
    ]
    again = {one.rep for one in audit.resets}
    same = f", each time from {audit.name(next(iter(again)))}" if len(audit.resets) > 1 and len(again) == 1 else ""
    many = len(audit.resets)
    told = (
        f"The rotation lost its place {'once' if many == 1 else f'{many} times'}{same}: {'; '.join(lines)}. Who "
        "stands early in the list got more than the others."
    )
    change = (
        f"Keep whose turn it is in a record that {audit.name(audit.resets[0].writer)} changes in the same transaction "
        "as the owner, not in memory or in a file: a restart or a change of the list then cannot lose it."
    )
    yield Finding(
        "reset", "A rotation that began anew", told, tuple(one.lead for one in audit.resets), audit.owned, change
    )


def _restarts(audit: Audit, _past: Past) -> Iterator[Finding]:
    for one in audit.restarts:
        rep, writer = audit.name(one.rep), audit.name(one.writer)
        told = (
            f"The rotation of {writer} broke off {one.breaks:,} times, and {one.times:,} times it went on from {rep}, "
            f"as though each run began at the top of a list. {rep} gets a lead more each time."
        )
        change = f"Let {writer} keep whose turn it is from one run to the next, and change it together with the owner."
        yield Finding("restarts", "A rotation that begins anew with each run", told, one.leads, audit.owned, change)


def _shares(audit: Audit, _past: Past) -> Iterator[Finding]:
    for one in audit.shares:
        if one.skewed:
            yield _skew(audit, one)
        if one.runs:
            told = (
                f"{audit.name(one.run_rep)} got {one.run:,} leads of {listed(one.sources)} in a row from "
                f"{when(audit, one.run_at)} on; even draws bring that about with a chance of {one.run_chance:.1g}, a "
                "rotation never."
            )
            change = "Look at who else was on duty then: if anybody was, the order is not a rotation."
            yield Finding("run", "Many leads in a row to one rep", told, (), one.leads, change)


def _skew(audit: Audit, one: Shares) -> Finding:
    reps = [rep for rep in one.reps if rep.even >= EVEN_MIN]
    over, under = reps[0], reps[-1]
    told = (
        f"Of {one.leads:,} leads of {listed(one.sources)} {given_by(audit, one.writer)}, "
        f"{audit.name(over.rep)} got {over.got:,} where an even share is {over.even:.0f}, and {audit.name(under.rep)} "
        f"{under.got:,} where it is {under.even:.0f}; chance alone would do that with {one.chance:.1g}. One even "
        "rotation over all of them is assumed: if groups or weights are meant, judge each group by itself, from an "
        "export of its leads alone (--csv), and its shares by its weights."
    )
    both = f"{audit.name(over.rep)} and {audit.name(under.rep)}"
    change = f"Compare the weights, hours and caps of {both} with what was agreed."
    return Finding("skew", "Uneven shares", told, (), one.leads, change)


def _rivals(audit: Audit, _past: Past) -> Iterator[Finding]:
    for one in audit.rivals:
        told = (
            f"Leads of {one.source or '(no source)'} are given out by {audit.name(one.one)} ({one.one_leads:,}) and "
            f"by {audit.name(one.other)} ({one.other_leads:,}). Neither knows of the other's turns."
        )
        change = f"Let one of the two give out {one.source or 'these leads'}, and switch the other off for it."
        yield Finding("rivals", "Two machines for one source", told, (), one.one_leads + one.other_leads, change)


def _left(audit: Audit, _past: Past) -> Iterator[Finding]:
    leads = tuple(lead for one in audit.left for lead in one.leads)
    if len(leads) < LEFT_MIN:
        return
    unseen = sum(one.unseen for one in audit.left)
    cost = _lost(audit, [NEVER_CALLED_MIN * 60] * unseen) if unseen else None
    who = listed([f"{audit.name(one.owner)} ({len(one.leads):,})" for one in audit.left])
    came = f"; {unseen:,} of these came after the user's last log-in" if unseen else ""
    told = (
        f"{len(leads):,} open leads belong to users who are inactive: {who}{came}. The curve tells nothing of leads "
        "that nobody works on: they are lost one and all."
    )
    change = "Give these leads to others today, and move a user's open leads before the user is deactivated."
    yield Finding("left", "Leads with users who are gone", told, leads, audit.leads, change, cost, cost or 0.0)


def _off(audit: Audit, _past: Past) -> Iterator[Finding]:
    off = audit.off
    if not audit.placed or len(off.leads) < max(OFF_MIN, OFF_PART_MIN * audit.owned):
        return
    told = (
        f"{len(off.leads):,} leads ({len(off.leads) / audit.owned:.0%}) came to a rep outside the business hours "
        f"({audit.hours}, {audit.zone}), and wait there until the next morning whoever is awake."
    )
    change = "Hold these until somebody is on duty, and give them to whoever opens first; or have somebody on duty."
    yield Finding("off", "Leads given out off hours", told, off.leads, audit.owned, change, _lost(audit, off.waits))
