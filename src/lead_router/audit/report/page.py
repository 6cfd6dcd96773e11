"""The report as one HTML file: no script, nothing fetched, readable on paper."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from html import escape

from lead_router.audit.judging import doubles, evidence, keeping, polling, resets, roles, shares, waits, writers
from lead_router.audit.judging.answers import Audit, Finding
from lead_router.audit.judging.evidence import DAY_S, PART_MIN, RATE_DAYS_MIN, RATE_LEADS_MIN, WAITS_MIN
from lead_router.audit.judging.findings import CURVE
from lead_router.audit.judging.waits import Spread
from lead_router.audit.judging.words import said, when
from lead_router.audit.report import charts
from lead_router.audit.report.style import STYLE
from lead_router.core.counted import counted

IDS_MAX = 200
FEW = "too few"
NO_HOURS = "leads given out off hours: too little to say, as nobody told in which time zone people work (--zone)"
YEAR_S = 365 * 86_400
RULES = (
    ("Who counts as a machine", roles.RULE),
    ("Waits", waits.RULE),
    ("Doubles", doubles.RULE),
    ("Shares and runs", shares.RULE),
    ("Rotation resets", resets.RULE),
    ("Poll intervals", polling.RULE),
    ("Rival machines", writers.RULE),
    ("Gone owners and off hours", keeping.RULE),
)
_HEAD = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8">'
    '<meta name="viewport" content="width=device-width,initial-scale=1">'
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
)


def page(audit: Audit) -> str:
    """The whole file."""
    title = f"Lead audit, {_day(audit, audit.since)} to {_day(audit, audit.until)}"
    parts = (
        _HEAD,
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body>",
        f"<header><h1>{escape(title)}</h1>{_lead(audit)}</header><main>",
        *_cards(audit),
        *_findings(audit),
        *_thin(audit),
        *_charts(audit),
        *_who(audit),
        *_how(audit),
        "</main><footer><p>Made by lead-router audit. Nothing was written to the org.</p></footer></body></html>\n",
    )
    return "\n".join(parts)


def _day(audit: Audit, at: float) -> str:
    return when(audit, at)[:11]


def _lead(audit: Audit) -> str:
    reads = "API call, a read", "API calls, all of them reads"
    calls = counted(audit.calls, *reads) if audit.calls else "exported files"
    text = (
        f"{counted(audit.leads, 'lead')} and {counted(audit.changes, 'change')} of owner, from {calls}. Times are "
        f"{audit.zone}; business hours: {audit.hours}."
    )
    return f'<p class="dim">{escape(text)}</p>'


def _cards(audit: Audit) -> Iterator[str]:
    spread = audit.waits
    late = spread.elapsed.late / spread.elapsed.leads if spread.elapsed.leads else 0
    machines = sum(one.machine for one in audit.writers)
    few = f"too little to say ({spread.elapsed.leads:,} of {WAITS_MIN} leads needed)"
    enough = spread.elapsed.leads >= WAITS_MIN
    doubled, never, people = len(audit.doubles), len(spread.never), len(audit.writers) - machines
    lie = f"{spread.queued:,} {'lies' if spread.queued == 1 else 'lie'} in a queue"
    within = f"95 of 100 within {said(spread.elapsed.p95)}"
    over = f"{counted(spread.elapsed.late, 'lead')}, nights included"
    cards = [
        ("Median wait for a rep", said(spread.elapsed.p50) if enough else FEW, within if enough else few),
        ("Waited over five minutes", f"{late:.0%}" if enough else f"{spread.elapsed.late:,}", over if enough else few),
        ("Given to two reps", f"{doubled:,}", f"{'lead' if doubled == 1 else 'leads'}, within ten minutes"),
        ("Never given to anybody", f"{never:,}", f"{'lead' if never == 1 else 'leads'}, {lie}"),
        ("Machines that write owners", f"{machines}", f"{counted(people, 'person', 'people')} wrote some too"),
    ]
    shown = cards if audit.history else cards[2:4]
    yield '<dl class="cards">'
    for name, figure, more in shown:
        yield f"<div><dt>{escape(name)}</dt><dd>{escape(figure)} <small>{escape(more)}</small></dd></div>"
    yield "</dl>"


def _thin(audit: Audit) -> Iterator[str]:
    """What cannot be judged: too little is known, or something was not there to be read."""
    told = [*map(evidence.said, audit.thin), *([] if audit.placed else [NO_HOURS]), *audit.told]
    if told:
        yield "<h2>What this cannot tell</h2>"
        yield "<ul>" + "".join(f"<li>{escape(one)}</li>" for one in told) + "</ul>"


def _findings(audit: Audit) -> Iterator[str]:
    yield "<h2>What was found, and the smallest change that would help</h2>"
    if not audit.findings:
        yield f'<p class="none">{escape(nothing(audit))}</p>'
        return
    yield '<p class="dim">First those whose change wins the most leads back. Costs are estimates.</p>'
    yield '<ol class="findings">'
    for one in audit.findings:
        yield f"<li><h3>{escape(one.title)}</h3>{_cost(audit, one)}<p>{escape(one.told)}</p>"
        yield f'<p class="change"><b>Smallest change:</b> {escape(one.change)}</p>{_ids(one.leads)}</li>'
    yield "</ol>"


def nothing(audit: Audit) -> str:
    """What is said where nothing was found."""
    if not audit.leads:
        return "There were no leads to measure."
    if audit.thin:
        return "Nothing was found, and on some questions there was too little to say anything."
    if not audit.history:
        return "Nothing was found in what leads alone tell; who waited and who had two owners stands in their history."
    what = "no doubles, no resets, no poller, no uneven shares, nobody who waited"
    return f"Of what an audit looks for, it found {what}. Whoever built this has done well: change nothing."


def cost(audit: Audit, one: Finding) -> str:
    """What the finding cost, in words; "" where the curve tells nothing."""
    if one.lost is None or one.lost < 0.05:  # noqa: PLR2004 - less than a twentieth of a lead is nothing
        return ""
    gain = f"; the change would win back {one.gain:.1f}" if one.gain >= 0.05 else ""  # noqa: PLR2004 - as above
    return f"about {one.lost:.1f} qualified leads lost{_yearly(audit, one)}{gain}"


def _yearly(audit: Audit, one: Finding) -> str:
    """What that is by the year; "" where days or leads are too few to tell."""
    span_s = audit.until - audit.since
    if one.lost is None or span_s < RATE_DAYS_MIN * DAY_S or len(one.leads) < RATE_LEADS_MIN:
        return ""
    return f", {_few(one.lost * YEAR_S / span_s)} a year at this rate"


def _few(many: float) -> str:
    return f"{many:.0f}" if many >= 10 else f"{many:.1f}"  # noqa: PLR2004 - two digits


def _cost(audit: Audit, one: Finding) -> str:
    many = f"{len(one.leads):,} of {counted(one.of, 'lead')}" if one.leads else f"{counted(one.of, 'lead')} looked at"
    told = cost(audit, one)
    return f'<p><span class="dim">{many}</span>' + (
        f' · <span class="cost">{escape(told)}</span></p>' if told else "</p>"
    )


def _ids(leads: Sequence[str]) -> str:
    if not leads:
        return ""
    more = f" … and {len(leads) - IDS_MAX:,} more, all of them in the JSON" if len(leads) > IDS_MAX else ""
    listed = " ".join(map(escape, leads[:IDS_MAX]))
    return f"<details><summary>The leads</summary><p><code>{listed}{more}</code></p></details>"


def _charts(audit: Audit) -> Iterator[str]:
    sections = [("How long leads waited", charts.waiting(audit) if audit.history else ())]
    sections += [
        ("The signature of a poller", charts.polled(audit)),
        ("Where the rotation lost its place", charts.breaking(audit)),
        ("Two owners", charts.doubled(audit)),
        ("Who got how many", charts.sharing(audit)),
        ("Off hours", charts.off(audit)),
    ]
    for title, figures in sections:
        drawn = list(figures)
        if drawn:
            yield f"<h2>{escape(title)}</h2>"
            yield from drawn
        if title == "How long leads waited" and audit.history:
            yield _sources(audit)


def _sources(audit: Audit) -> str:
    heads = ("Source", "Leads", "Half within", "90 of 100 within", "95 of 100 within", "Over five minutes")
    rows = [
        (
            one.name,
            f"{one.leads:,}",
            *(said(wait) if one.leads >= least else FEW for wait, least in _parts(one)),
            f"{one.late / one.leads:.0%}" if one.leads >= PART_MIN else f"{one.late} of {one.leads}",
        )
        for one in audit.waits.by_source
    ]
    caption = (
        f"Waits by source; {FEW} where fewer than {PART_MIN} leads, or {WAITS_MIN} for the slowest, are too few to say"
    )
    return table(caption, heads, rows)


def _parts(one: Spread) -> tuple[tuple[float, int], ...]:
    return (one.p50, PART_MIN), (one.p90, WAITS_MIN), (one.p95, WAITS_MIN)


def _who(audit: Audit) -> Iterator[str]:
    yield "<h2>Who writes owners</h2>"
    if not audit.history:
        yield "<p>That is not known without LeadHistory: a lead tells who created it, not who gave it its owner.</p>"
        return
    heads = ("Who", "Kind", "Leads", "First owner", "At creation", "Took", "Handed on", "Moved between others")
    rows = [
        (
            audit.name(one.writer),
            "machine" if one.machine else "person",
            *(f"{many:,}" for many in (one.leads, one.first, one.at_creation, one.took, one.handed, one.moved)),
        )
        for one in audit.writers[:25]
    ]
    caption = "First owner: leads nobody had had. Took: for oneself. Moved: from somebody to somebody else."
    yield table(caption, heads, rows)


def _minutes(many: float) -> str:
    return counted(int(many), "minute") if many.is_integer() else f"{many:g} minutes"


def _how(audit: Audit) -> Iterator[str]:
    taken = audit.assumed
    yield "<h2>How this was measured</h2>"
    yield f"<p>{escape(CURVE.format(reaction=_minutes(taken.reaction_min), within=taken.within_five))}</p>"
    yield "<dl>"
    for name, rule in RULES:
        yield f"<dt>{escape(name)}</dt><dd>{escape(rule)}</dd>"
    yield "</dl>"
    made = f"{datetime.fromtimestamp(audit.until, UTC):%Y-%m-%d %H:%M} UTC"
    yield f'<p class="dim">The last instant that was looked at is {made}.</p>'


def table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose first column names its rows."""
    top = "".join(f'<th scope="col">{escape(head)}</th>' for head in heads)
    body = "".join(
        f'<tr><th scope="row">{escape(row[0])}</th>{"".join(f"<td>{escape(cell)}</td>" for cell in row[1:])}</tr>'
        for row in rows
    )
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{escape(caption, quote=True)}"><table>'
        f"<caption>{escape(caption)}</caption><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>"
    )
