"""`python -m benchmarks.apex_limits` (tests on the path): what 200 leads, routed by the trigger, take of the limits."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from org_simulator.apex import parser
from org_simulator.apex.faults import ParserMissing
from support.limits_play import LEADS, LIMITS, Seen, saved

GROUPS = (5, 10)
SKIPPED = 3


def main() -> int:
    """Print the table; 3 where Apex does not run."""
    try:
        parser.binary()
    except ParserMissing as absent:
        sys.stderr.write(f"SKIPPED: {absent}\n")
        return SKIPPED
    found = []
    for groups in GROUPS:
        with tempfile.TemporaryDirectory(prefix="lead-router-limits-") as folder:
            found.append(saved(Path(folder), groups))
    sys.stdout.write(table(found) + "\n")
    return 0


def table(found: Sequence[Seen]) -> str:
    """A Markdown table: by limit what was used with each number of groups, and the most of a transaction."""
    heads = [f"{LEADS} leads, {len(seen.shares)} groups" for seen in found]
    rows = [("limit of a transaction", *heads, "most")]
    for name, words in LIMITS.items():
        rows.append((words, *(f"{seen.used[name]:,}" for seen in found), f"{found[0].most[name]:,}"))
    rows.append(("leads of a rep, within a group", *map(_shares, found), ""))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [f"| {row[0].ljust(widths[0])} | {' | '.join(map(str.rjust, row[1:], widths[1:]))} |" for row in rows]
    lines.insert(1, f"|{'-' * (widths[0] + 2)}|" + "".join(f"{'-' * (width + 1)}:|" for width in widths[1:]))
    return "\n".join([*lines, "CPU time and heap are not claimed: the simulated org does not measure them."])


def _shares(seen: Seen) -> str:
    counts = [count for shares in seen.shares.values() for count in shares.values()]
    return f"{min(counts)} to {max(counts)}"


if __name__ == "__main__":
    sys.exit(main())
