"""Every setting is documented where operators look."""

from __future__ import annotations

from pathlib import Path

from lead_router.settings import example

ROOT = Path(__file__).parents[2]


def test_the_example_file_is_what_init_writes():
    """`.env.example` holds every setting with its description and default, and nothing else."""
    assert (ROOT / ".env.example").read_text(encoding="utf-8") == example()
