"""The day by architecture as a table, as bars of a chart, and as a section of REPORT.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.chart import Bars
from benchmarks.decay_models import Touched
from benchmarks.decay_trace import (
    ANSWER_LOST,
    CALL_S,
    CALLER_AGAIN_S,
    CALLER_S,
    ENRICH_LIMIT_S,
    ENRICH_S,
    ENRICH_SPREAD,
    EVENT_LOST,
    EVENT_S,
    MAIL_SHARE,
    OUTAGES_MIN,
    Trace,
)
from benchmarks.figures import percentile
from lead_router.core.decay import WITHIN_FIVE, qualified

HEADS = (
    "architecture",
    "touched",
    "lost",
    "doubles",
    "p50 min",
    "p95 min",
    "max min",
    "after 5 min",
    "qualified",
    "against at once",
)


@dataclass(frozen=True, slots=True)
class Day:
    """One architecture's day; minutes are until the first call by a rep."""

    requests: int
    minutes: tuple[float, ...]
    doubles: int

    @property
    def lost(self) -> int:
        """Requests that nobody was ever given."""
        return self.requests - len(self.minutes)

    @property
    def qualified(self) -> float:
        """Leads expected to be qualified; a lost one never is."""
        return qualified(self.minutes)

    @property
    def best(self) -> float:
        """The same if every request were answered at once."""
        return qualified([0.0] * self.requests)


def day_of(touched: Touched, trace: Trace, reaction_min: float) -> Day:
    """The first call comes `reaction_min` minutes after the owner."""
    minutes = sorted(wait / 60 + reaction_min for wait in touched.waits.values())
    return Day(len(trace.arrivals), tuple(minutes), touched.doubles)


def table(days: Mapping[str, Day]) -> str:
    """A Markdown table that can be read as plain text."""
    rows = [HEADS, *(_row(name, day) for name, day in days.items())]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [f"| {row[0].ljust(widths[0])} | {' | '.join(map(str.rjust, row[1:], widths[1:]))} |" for row in rows]
    lines.insert(1, f"| {'-' * widths[0]} | " + " | ".join("-" * (width - 1) + ":" for width in widths[1:]) + " |")
    return "\n".join(lines)


def _row(name: str, day: Day) -> tuple[str, ...]:
    late = sum(minutes > 5 for minutes in day.minutes)
    waits = [f"{percentile(day.minutes, part):,.1f}" for part in (50, 95, 100)]
    share = f"{100 * day.qualified / day.best:.1f} %"
    counts = (f"{len(day.minutes):,}", f"{day.lost:,}", f"{day.doubles:,}")
    return (name, *counts, *waits, f"{late:,}", f"{day.qualified:.1f}", share)


def groups(days: Mapping[str, Day]) -> list[Bars]:
    """How late, and what it costs."""
    late = {name: percentile(day.minutes, 95) for name, day in days.items()}
    kept = {name: day.qualified for name, day in days.items()}
    return [
        Bars("minutes to the first call, p95", [(name, most, f"{most:.1f}") for name, most in late.items()]),
        Bars("leads expected to be qualified", [(name, count, f"{count:.1f}") for name, count in kept.items()]),
        Bars("given to two reps", [(name, float(day.doubles), f"{day.doubles}") for name, day in days.items()]),
    ]


def section(days: Mapping[str, Day], trace: Trace, reaction_min: float, machine: str) -> str:
    """Its part of REPORT.md."""
    away = {part: ", ".join(f"{minutes:g}" for minutes in lengths) for part, lengths in OUTAGES_MIN.items()}
    return SECTION.format(
        table=table(days),
        machine=machine,
        seed=trace.seed,
        requests=len(trace.arrivals),
        mail=f"{MAIL_SHARE:.0%}",
        reaction=f"{reaction_min:g}",
        best=f"{next(iter(days.values())).best:.0f}",
        within=f"{WITHIN_FIVE:.0%}",
        caller=f"{CALLER_S:g}",
        again=", ".join(f"{pause / 60:g}" for pause in CALLER_AGAIN_S),
        call=f"{CALL_S:g}",
        enrich=f"{ENRICH_S:g}",
        spread=f"{ENRICH_SPREAD:g}",
        limit=f"{ENRICH_LIMIT_S:g}",
        answer=f"{ANSWER_LOST:.1%}",
        event=f"{EVENT_LOST:.1%}",
        heard=f"{EVENT_S:g}",
        **away,
    )


SECTION = """# Architectures over a day, by what a late call costs

Written by `PYTHONPATH=tests python -m benchmarks.decay --record`. Seed {seed}. Machine: {machine}; time is simulated.

{table}

![minutes to the first call, leads expected to be qualified, doubles](decay.svg)

*The day.* {requests:,} requests, {mail} of them in the ten minutes after a mail to all customers; the same for every
row, with the same fate of each attempt. Away in the busy hours: the CRM for {crm} minutes, enrichment for
{enrichment}, the program that assigns for {own}. A caller waits {caller} s for its answer, tries again {again}
minutes after the attempt before, then gives up: what was not committed by then is *lost*. {answer} of answers are
lost after the commit. A rep calls {reaction} min after getting the lead, in every row.

*Doubles* are requests that two reps were given.

*The chain is a model*: enrich (log-normal, median {enrich} s, sigma {spread}, given up after {limit} s), write the
record, give it away ({call} s a call), then answer; a step that fails fails the request. It is the only row that
waits for enrichment, since that is what a chain does. *The poller is a model*: callers write the record into the CRM
themselves; every so often all records without an owner are given away, one after the other with two calls each. Both
are kind: turns are always right, no lead fails by itself, nothing is short of processes.

*The queued subscriber is the router itself*, on a simulated clock: production worker, job store (SQLite), upkeep and
client against the simulated org, through a line that takes {call} s a call, is cut while the CRM is down and loses
{answer} of all answers (30 s until that is noticed, which the models are spared). The stream alone is played: an
event comes {heard} s after its commit or when the program is back; {event} of them never come, and wait for the
sweep. Callers write the record as with the poller, so a CRM that is down longer than they try loses the same
requests.

*Qualified* is what the published odds make of the minutes. The Lead Response Management study of J. Oldroyd (MIT)
with InsideSales.com (16 October 2007; six companies, three years, over 15,000 leads and 100,000 calls;
https://id.scribd.com/document/16586416/MIT-Lead-Response-Management-Report-11-1-07, of which the first pages were
read here; the figure as told by https://blog.marketo.com/2011/06/how-does-lead-response-time-impact-sales.html) has
the odds of qualifying a lead 21 times lower for a call after 30 minutes than after 5; its authors' summary (*The Best
Practices for Lead Response Management*,
https://paperzz.com/doc/7077922/the-best-practices-for-lead-response-management) has "400 %" from 5 to 10 minutes,
taken here as four times. In between the logarithms are joined by lines; within five minutes nothing is gained and
after thirty no more is lost. That within five minutes {within} of leads qualify is an assumption ({best} of all, if
each were called at once): the study tells ratios only. *The Short Life of Online Sales Leads* (Oldroyd, McElheran,
Elkington, Harvard Business Review, March 2011, https://hbr.org/2011/03/the-short-life-of-online-sales-leads, read at
https://www.researchgate.net/publication/298137032; 1.25 million leads of 42 companies) has firms that called within
the hour nearly seven times as likely to qualify a lead as those that tried an hour later; it tells nothing of minutes
and is not used. *Limits*: both studies compare leads that were called early with others that were called late, no
experiment; a firm that calls at once may be better in more than that. The first is by a firm that sells software for
fast calls, and from 2007. The curve orders the rows; its figures are no forecast.

*What it says.* A chain loses requests while any of its parts is away, and makes doubles wherever a slow part outlasts
its caller. A poller is as good as its interval. Between one that looks every minute and the router the curve sees
next to no difference, as it tells nothing below five minutes; what the router adds there is that a second record of a
request goes to the first one's rep. Minutes that the CRM itself is away cost all alike.
"""
