"""The charts of an audit, each a figure with its caption."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from html import escape
from itertools import pairwise

from lead_router.audit.judging.answers import Audit
from lead_router.audit.judging.evidence import PART_MIN
from lead_router.audit.judging.polling import LATE_PART, Poll
from lead_router.audit.judging.resets import Reset
from lead_router.audit.judging.waits import EDGES_S, Spread
from lead_router.audit.judging.words import given_by, said, when
from lead_router.audit.report.drawing import NARROW, Line, Row, bars, columns, dots
from lead_router.core.counted import counted
from lead_router.core.decay import odds
from lead_router.core.zones import local_date

REPS_MAX = 24
BINS = 20


def figure(drawing: str, caption: str) -> str:
    """A drawing with what it shows."""
    return f"<figure>{drawing}<figcaption>{escape(caption)}</figcaption></figure>"


def waiting(audit: Audit) -> Iterator[str]:
    """How long leads waited, with what a wait is worth over it; and when and where they waited."""
    spread = audit.waits
    names = [f"<{said(edge)}" for edge in EDGES_S[1:]] + ["more"]
    middles = [(a + b) / 2 for a, b in pairwise(EDGES_S)] + [EDGES_S[-1]]
    curve = Line("curve", [odds(middle / 60) for middle in middles], "odds of qualifying")
    late = [edge >= 300 for edge in EDGES_S]  # noqa: PLR2004 - five minutes
    title = f"Leads by their wait for the first rep; half waited up to {said(spread.elapsed.p50)}"
    drawing = columns(title, names, spread.histogram, bad=late, line=curve, axis="leads")
    yield figure(
        drawing,
        "Leads by the time from creation to the first rep, nights included. The line is the published decay of the "
        "odds of qualifying, from 1 at five minutes to 1/21 at thirty; red columns lie behind the five minutes.",
    )
    hours = "".join(
        _late(title, each, audit.zone)
        for title, each in (("hour of creation", spread.by_hour), ("weekday", spread.by_day))
    )
    yield f'<div class="two">{hours}</div>'


def _late(by: str, spreads: Sequence[Spread], zone: str) -> str:
    shares = [100 * one.late / one.leads if one.leads >= PART_MIN else 0.0 for one in spreads]
    names = [one.name[:3] for one in spreads]
    every = 3 if len(names) > 7 else 1  # noqa: PLR2004 - days of the week
    title = f"Share of leads that waited over five minutes, by {by}"
    drawing = columns(title, names, shares, width=NARROW, height=180, every=every, axis="% over five minutes")
    return figure(drawing, f"{title}, in the time of {zone}; of fewer than {PART_MIN} leads nothing is drawn.")


def sharing(audit: Audit) -> Iterator[str]:
    """What each rep of a pool got beside the even share."""
    for one in audit.shares:
        rows = [Row(audit.name(rep.rep), rep.got, rep.even) for rep in one.reps[:REPS_MAX]]
        sources = ", ".join(source or "(none)" for source in one.sources)
        title = f"Leads per rep {given_by(audit, one.writer)}, sources {sources}"
        odds_said = "more than chance" if one.skewed else "no more than chance, or too little to matter"
        yield figure(
            bars(title, rows),
            f"{title}: {counted(one.leads, 'lead')}. The upright mark is the even share of the leads that came while "
            f"the rep was there. The difference is {odds_said} (chance {one.chance:.2g}); the longest run is "
            f"{one.run}.",
        )


def breaking(audit: Audit) -> Iterator[str]:
    """The leads around each reset."""
    for reset in audit.resets[:3]:
        yield _break(audit, reset)


def _break(audit: Audit, reset: Reset) -> str:
    order = list(reset.order)
    places = [order.index(owner) if owner in order else None for owner in reset.around]
    came, due = audit.name(reset.rep), audit.name(reset.due)
    title = f"The rotation around {when(audit, reset.at)}: {came} came where {due} was due"
    drawing = dots(title, [audit.name(rep) for rep in order], places, reset.cut)
    return figure(drawing, f"{title}. Each dot is a lead, from left to right in order of time.")


def polled(audit: Audit) -> Iterator[str]:
    """Where in the period leads were given out, and how long they waited."""
    for poll in audit.polls:
        name = audit.name(poll.writer)
        phases = _binned(poll.phases, 1.0)
        bins = [f"{said(place * poll.period_s / BINS)}" for place in range(BINS)]
        waits = _binned([wait for wait in poll.waits if wait <= LATE_PART * poll.period_s], LATE_PART * poll.period_s)
        ends = [said((place + 1) * LATE_PART * poll.period_s / BINS) for place in range(BINS)]
        yield f'<div class="two">{_phases(poll, name, bins, phases)}{_spread(poll, name, ends, waits)}</div>'


def _phases(poll: Poll, name: str, bins: Sequence[str], phases: Sequence[int]) -> str:
    title = f"Rounds of {name} by their time within {said(poll.period_s)}, in the busiest six hours"
    drawing = columns(title, bins, phases, width=NARROW, height=180, every=5, axis="rounds")
    return figure(drawing, f"{title}. Of a machine that gives leads out when they come, all columns are alike.")


def _spread(poll: Poll, name: str, ends: Sequence[str], waits: Sequence[int]) -> str:
    even = sum(waits) / (BINS / LATE_PART)
    title = f"Waits of the leads of {name}, and an even spread from 0 to {said(poll.period_s)}"
    drawing = columns(title, ends, waits, width=NARROW, height=180, every=5, even=even, axis="leads")
    return figure(drawing, f"{title} (dashed).")


def _binned(values: Sequence[float], top: float) -> list[int]:
    counts = Counter(min(BINS - 1, int(value / top * BINS)) for value in values)
    return [counts[place] for place in range(BINS)]


def doubled(audit: Audit) -> Iterator[str]:
    """Doubles by week."""
    if not audit.doubles:
        return

    def week(at: float) -> str:
        day = local_date(audit.zone, datetime.fromtimestamp(at, UTC))
        return (day - timedelta(days=day.weekday())).isoformat()

    counts = Counter(week(one.at) for one in audit.doubles)
    first, last = datetime.fromisoformat(week(audit.since)), datetime.fromisoformat(week(audit.until))
    weeks = [(first + timedelta(weeks=place)).date().isoformat() for place in range((last - first).days // 7 + 1)]
    title = "Leads given to two reps, by week"
    drawing = columns(
        title, [one[5:] for one in weeks], [counts[one] for one in weeks], height=160, every=max(1, len(weeks) // 12)
    )
    yield figure(drawing, f"{title}; weeks begin on Monday.")


def off(audit: Audit) -> Iterator[str]:
    """Leads given out off hours, by hour."""
    if any(one.kind == "off" for one in audit.findings):
        title = "Leads that came to a rep outside the business hours, by local hour"
        yield figure(
            columns(title, [f"{hour:02}" for hour in range(24)], audit.off.by_hour, height=160, every=2), f"{title}."
        )
