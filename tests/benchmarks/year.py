"""`python -m benchmarks.year` (with tests on the path): a company's year, and whether every promise was kept in it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from benchmarks.report import machine
from benchmarks.year_play import Played, play
from benchmarks.year_world import ZONES, World, world

SEED = 5
REPS, DAYS, LEADS = 40, 365, 200_000
PROMISES = (
    "nobody off duty gets a lead",
    "nobody gets a lead that they do not accept",
    "nobody gets ahead of the bound",
    "caps are exact",
    "the oldest is routed first",
    "nobody waits in vain",
    "every lead is given once",
    "every lead is given or held",
    "turns go on without a hole",
    "every turn is charged once",
    "outcomes are told",
)
SHOWN_MAX = 3


def main(words: Sequence[str] | None = None) -> int:
    """Print the table; 1 if a promise was broken."""
    parser = argparse.ArgumentParser("python -m benchmarks.year", description="A year of a company, by seed.")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--reps", type=int, default=REPS)
    parser.add_argument("--days", type=int, default=DAYS)
    parser.add_argument("--leads", type=int, default=LEADS)
    options = parser.parse_args(words)
    company = world(options.seed, reps=options.reps, days=options.days, leads=options.leads)
    played = play(company, options.seed)
    sys.stdout.write("\n".join((*table(company, played, options.seed), machine())) + "\n")
    return 1 if played.checks.broken else 0


JUDGED = {
    "nobody off duty gets a lead": "turns",
    "caps are exact": "days at the cap",
    "nobody gets ahead of the bound": "pairs judged",
    "the oldest is routed first": "held leads given",
    "nobody waits in vain": "holds",
    "every turn is charged once": "turns",
}


def table(company: World, played: Played, seed: int) -> list[str]:
    """What there was, what came of it, and each promise with how often it was judged and broken."""
    counts, broken = played.checks.counts, played.checks.broken
    lines = [
        *_told(company, played, seed),
        "",
        f"| {'promise':<42} | {'judged':>9} | {'broken':>6} |",
        f"| {'-' * 42} | {'-' * 8}: | {'-' * 5}: |",
    ]
    for promise in PROMISES:
        judged = counts[JUDGED.get(promise, "leads")]
        lines.append(f"| {promise:<42} | {judged:>9,} | {len(broken.get(promise, ())):>6,} |")
    return lines + [f"broken: {promise}: {what}" for promise, found in broken.items() for what in found[:SHOWN_MAX]]


def _told(company: World, played: Played, seed: int) -> list[str]:
    checks, counts = played.checks, played.checks.counts
    hours = checks.waited.total_seconds() / 3600
    changes = ", ".join(f"{count} {what}" for what, count in sorted(played.changes.items()))
    size = f"{company.reps} reps in {len(ZONES)} zones, {len(company.groups)} groups, {counts['leads']:,} leads"
    turns = f"{counts['turns']:,} turns, {counts['by fallback group']:,} of them by a fallback group"
    held = f"{counts['held leads given']:,} leads held first, for {hours:.1f} h at most"
    cut = f"{counts['beyond after a cut']:,} of {counts['pairs after a cut']:,}"
    core_ms = 1000 * played.core_s / max(1, played.decisions)
    return [
        f"Seed {seed}: {size} until {company.end:%d %b %Y}.",
        f"Members: {changes}.",
        f"{turns}; {counts['to a fallback queue']:,} leads to a fallback queue.",
        f"{held}; {counts['stood back']:,} times a newer one stood back; {counts['still waiting']:,} wait at the end.",
        f"Nearest that two on duty together came to the bound 1/w + 1/w: {checks.closest:.2f} of it.",
        f"The same by leads alone, without what one was owed on coming: {checks.apart:.2f}.",
        f"Where more than two owed turns were cut to two: {cut} beyond it, {checks.furthest:.2f} of it at most.",
        f"{played.decisions:,} decisions in {played.rounds:,} rounds, {core_ms:.3f} ms each.",
        f"{played.core_s:.1f} s in the core, {played.all_s:.1f} s with all checks.",
    ]


if __name__ == "__main__":
    sys.exit(main())
