"""Which mutants are tried: all that can be made, a sample of them by seed, and those made by hand."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mutation.edits import edits
from mutation.suite import Sources, parsed
from mutation.trial import Mutant

HERE = Path(__file__).parent
BY_HAND = HERE / "by_hand.toml"
EQUIVALENT = HERE / "equivalent.toml"


@dataclass(frozen=True, slots=True)
class ByHand:
    """`old` becomes `new` in the class; `promise` is what no longer holds then."""

    cls: str
    old: str
    new: str
    promise: str


@dataclass(frozen=True, slots=True)
class Equivalent:
    """An edit after which nothing can be told apart, and why."""

    cls: str
    text: str
    said: str
    reason: str


def every(sources: Sources) -> list[Mutant]:
    """All mutants of the shipped files."""
    return [
        Mutant(file, edit.line, edit.reached, edit.said, _line(sources.texts[file], edit.line), edit.made)
        for file in sources.shipped()
        for edit in edits(sources.units[file])
    ]


def sample(mutants: Sequence[Mutant], size: int, seed: int) -> list[Mutant]:
    """As many of them, the same for the same seed."""
    if size >= len(mutants):
        return list(mutants)
    return random.Random(seed).sample(mutants, size)


def by_hand() -> list[ByHand]:
    """The list of what matters."""
    return [ByHand(**each) for each in tomllib.loads(BY_HAND.read_text(encoding="utf-8"))["mutant"]]


def made(each: ByHand, sources: Sources, parser: Path) -> Mutant:
    """The mutant; ValueError unless its text stands once in the class."""
    file = next(name for name in sources.texts if name.rpartition("/")[2].rpartition(".")[0] == each.cls)
    text = sources.texts[file]
    if text.count(each.old) != 1:
        raise ValueError(f"{each.cls} has {text.count(each.old)} times, not once: {each.old}")
    line = text[: text.index(each.old)].count("\n") + 1
    unit = parsed(text.replace(each.old, each.new), parser, file)
    return Mutant(file, line, line, each.promise, _line(text, line), unit, named=True)


def equivalents() -> list[Equivalent]:
    """Edits that change nothing, by hand, each with its reason."""
    return [Equivalent(**each) for each in tomllib.loads(EQUIVALENT.read_text(encoding="utf-8")).get("edit", [])]


def is_equivalent(mutant: Mutant, listed: Sequence[Equivalent]) -> bool:
    """Whether the list has it: by class, text of its line, and edit."""
    told = (mutant.cls, mutant.text, mutant.said)
    return any((each.cls, each.text, each.said) == told for each in listed)


def _line(text: str, line: int) -> str:
    return text.splitlines()[line - 1].strip() if line else ""
