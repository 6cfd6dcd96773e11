"""`make apex-mutation`: breaks the shipped Apex, one edit at a time, and counts which of that its tests find."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from mutation import chosen, report
from mutation.suite import Red, covered, read
from mutation.trial import Court, Mutant, Verdict, verdicts
from org_simulator.apex import parser as parsing
from org_simulator.apex.faults import ParserMissing, Unparsable, Unsupported
from org_simulator.schema import load as load_schema
from support.inside_plays import PLAYS
from support.shipped_metadata import PROJECT

SAMPLE = 150
SKIPPED = 3


def main(words: Sequence[str] | None = None) -> int:
    """0 enough are killed, and all made by hand; 1 not so; 2 the tests do not pass as it is; 3 the parser is absent."""
    options = _options(words)
    try:
        parser = parsing.binary(Path(__file__))
        sources = read(PROJECT, load_schema(PROJECT), parser)
        started = time.perf_counter()
        coverage = covered(sources)
    except ParserMissing as absent:
        sys.stderr.write(f"SKIPPED: {absent}\n")
        return SKIPPED
    except (Red, Unparsable, Unsupported) as fault:
        sys.stderr.write(f"{fault}\n")
        return 2
    court = Court(sources, coverage, PLAYS)
    listed = chosen.equivalents()
    possible = [each for each in chosen.every(sources) if options.only.lower() in each.cls.lower()]
    lasting = [each for each in possible if not chosen.is_equivalent(each, listed)]
    tried = lasting if options.all else chosen.sample(lasting, options.sample, options.seed)
    hand = [chosen.made(each, sources, parser) for each in chosen.by_hand() if options.only.lower() in each.cls.lower()]
    seen = _tried(court, [*hand, *tried], options.workers)
    told = report.Told(len(possible), len(possible) - len(lasting), options.seed, time.perf_counter() - started)
    sys.stdout.write(report.text(seen, told) + "\n")
    return 0 if report.rate(seen) * 100 >= options.minimum and not report.alive(seen, named=True) else 1


def _tried(court: Court, mutants: Sequence[Mutant], workers: int) -> list[Verdict]:
    seen = []
    for verdict in verdicts(court, mutants, workers):
        seen.append(verdict)
        if not verdict.killer:
            sys.stderr.write(f"{len(seen)} of {len(mutants)}: {report.line(verdict.mutant)}\n")
    return seen


def _options(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("make apex-mutation", description="Do the Apex tests find what is wrong?")
    parser.add_argument("--all", action="store_true", help="try every mutant; takes an hour")
    parser.add_argument("--sample", type=int, default=SAMPLE, help="how many are tried")
    parser.add_argument("--seed", type=int, default=1, help="which are tried")
    parser.add_argument("--only", default="", metavar="TEXT", help="classes whose name contains this")
    parser.add_argument("--minimum", type=float, default=90.0, metavar="PERCENT", help="that must be killed")
    parser.add_argument("--workers", type=int, default=2, metavar="N", help="processes")
    return parser.parse_args(words)


if __name__ == "__main__":
    sys.exit(main())
