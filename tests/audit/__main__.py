"""`make audit`: known vulnerabilities of the packages that are installed here. What cannot be told is told as such."""

from __future__ import annotations

import subprocess
import sys

from audit.verdict import verdict

WITHIN_S = 120
ASK = ("--local", "--skip-editable", "--format", "json", "--progress-spinner", "off", "--timeout", "15")


def main() -> int:
    """Exit code 1 for a finding, else 0."""
    try:
        ended = subprocess.run(
            [sys.executable, "-m", "pip_audit", *ASK], capture_output=True, text=True, check=False, timeout=WITHIN_S
        )
        code, lines = verdict(ended.stdout, (ended.stderr.strip().splitlines() or [""])[-1][:120])
    except subprocess.TimeoutExpired:
        code, lines = verdict("", f"none within {WITHIN_S} s")
    print("\n".join(lines))  # noqa: T201
    return code


if __name__ == "__main__":
    sys.exit(main())
