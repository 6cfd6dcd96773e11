"""How long a failed job waits: exponential, capped, with jitter that depends on the job and the attempt alone."""

from __future__ import annotations

from hashlib import sha256

DOUBLINGS_MAX = 62  # beyond any cap in seconds; keeps the power from growing without end


def backoff_s(attempt: int, key: str, *, first_s: float, cap_s: float) -> float:
    """Seconds to wait after attempt number `attempt` (from 1): between half and all of `first_s` doubled each time.

    Never more than `cap_s`. The same key and attempt give the same wait; different keys spread over the half.
    """
    doubled = first_s * 2.0 ** min(max(attempt, 1) - 1, DOUBLINGS_MAX)
    spread = int.from_bytes(sha256(f"{key} {attempt}".encode()).digest()[:8]) / 2**64
    return min(doubled, cap_s) * (0.5 + spread / 2)
