"""The image's recipe: its words, and its steps done in a folder that stands for the image's root."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCKERFILE = ROOT / "deploy/Dockerfile"
STEP_S = 400.0
PLACES = re.compile(r"(?<![\w./-])/(?:opt|src|var)\b")
MAKES_USERS = ("groupadd", "useradd", "install")
NOT_COPIED = ("__pycache__", "*.egg-info")

Stage = list[tuple[str, str]]


def stages(path: Path = DOCKERFILE) -> list[Stage]:
    """The image's stages, each a list of (word, text); a step that goes on over lines is one."""
    text = re.sub(r"\\\n", " ", path.read_text(encoding="utf-8"))
    lines = [line.split(None, 1) for line in text.splitlines() if line and not line.startswith("#")]
    starts = [at for at, (word, _) in enumerate(lines) if word == "FROM"]
    return [[(w, t) for w, t in lines[at:end]] for at, end in zip(starts, [*starts[1:], len(lines)], strict=True)]


class Image:
    """A Dockerfile's steps, done one by one in `folder`, by which an image's `/opt`, `/src` and `/var` lie in `root`.

    A stage begins with an environment of `python`, which stands for the image that it is FROM. What has no place in a
    folder is kept and not done: VOLUME, STOPSIGNAL, HEALTHCHECK, USER, ENTRYPOINT and CMD. Only root can make users.
    """

    def __init__(self, folder: Path, python: str) -> None:
        self.root = folder / "root"
        self._folder = folder
        self._python = python
        self._work = self.root
        self.kept: dict[str, str] = {}
        self.environment: dict[str, str] = {}

    def build(self, recipe: Sequence[Stage]) -> Image:
        """Do all stages; AssertionError with the output of the step that failed."""
        for stage in recipe:
            for word, text in stage:
                getattr(self, f"_{word.lower()}", lambda _, word=word: None)(text)
                self.kept[word] = text
        return self

    def command(self, word: str) -> list[str]:
        """What ENTRYPOINT, CMD or HEALTHCHECK would start, its first word found in the image."""
        words: list[str] = json.loads(self.kept[word].partition("CMD ")[2] or self.kept[word])
        return words

    @property
    def user(self) -> tuple[int, int]:
        """USER, by number."""
        number, _, group = self.kept["USER"].partition(":")
        return int(number), int(group)

    def start(self, words: Sequence[str], user: int, group: int, settings: Mapping[str, str]) -> subprocess.Popen[str]:
        """`words` in the image: its environment and WORKDIR, `settings` beside; of that user where this is root."""
        who = {"user": user, "group": group, "extra_groups": ()} if os.geteuid() == 0 else {}
        found = shutil.which(words[0], path=self.environment["PATH"])
        assert found is not None, words[0]
        return subprocess.Popen(
            [found, *words[1:]],
            cwd=self._work,
            env={**self.environment, **settings},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            **who,  # type: ignore[call-overload]
        )

    def _from(self, text: str) -> None:
        name = self.kept.get("FROM", "").partition(" AS ")[2]
        if self.root.exists():
            self.root.rename(self._folder / name)
        for place in ("etc", "opt", "src", "var/lib"):
            (self.root / place).mkdir(parents=True)
        for table in ("passwd", "group", "shadow", "gshadow"):
            (self.root / "etc" / table).touch()
        own = {k: v for k, v in os.environ.items() if not k.startswith(("LEAD_ROUTER_", "PYTHON", "VIRTUAL_ENV"))}
        base = self.root / "base"
        self._done([self._python, "-m", "venv", str(base)], own)
        self._work = self.root
        self.environment = {
            **own,
            "PATH": f"{base / 'bin'}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        }

    def _workdir(self, text: str) -> None:
        self._work = Path(self._placed(text))
        self._work.mkdir(parents=True, exist_ok=True)

    def _env(self, text: str) -> None:
        for word in shlex.split(self._placed(text)):
            name, _, value = word.partition("=")
            self.environment[name] = value.replace("$PATH", self.environment["PATH"])

    def _copy(self, text: str) -> None:
        stage, sources = "", shlex.split(text)
        if sources[0].startswith("--from="):
            stage = sources.pop(0).removeprefix("--from=")
        target = sources.pop()
        for source in sources:
            found = self._folder / stage / source.lstrip("/") if stage else ROOT / source
            place = Path(self._placed(target)) if target.startswith("/") else self._work / target
            if found.is_dir():
                ignore = None if stage else shutil.ignore_patterns(*NOT_COPIED)
                shutil.copytree(found, place, symlinks=True, dirs_exist_ok=True, ignore=ignore)
            else:
                shutil.copy(found, place)

    def _run(self, text: str) -> None:
        steps = [step.strip() for step in text.split("&&")]
        if os.geteuid() != 0:
            steps = [step for step in steps if not step.startswith(MAKES_USERS)]
            Path(self._placed("/var/lib/lead-router")).mkdir(exist_ok=True)
        for step in steps:
            own = re.sub(r"^(groupadd|useradd)\b", rf"\1 --prefix {self.root}", self._placed(step))
            self._done(["/bin/sh", "-c", own], self.environment)

    def _placed(self, text: str) -> str:
        return PLACES.sub(lambda found: str(self.root) + found.group(), text)

    def _done(self, words: Sequence[str], environment: Mapping[str, str]) -> None:
        ended = subprocess.run(
            words, cwd=self._work if self._work.exists() else self._folder, env=dict(environment), check=False,
            capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=STEP_S,
        )  # fmt: skip
        assert ended.returncode == 0, f"{' '.join(words)}\n{ended.stdout}{ended.stderr}"


def interpreter(user: int, group: int) -> str | None:
    """A Python 3.11 or newer with `venv`, that this user may start, too; None where there is none."""
    who = {"user": user, "group": group, "extra_groups": ()} if os.geteuid() == 0 else {}
    asked = "import ensurepip, venv, sys; sys.exit(sys.version_info < (3, 11))"
    for found in filter(None, (getattr(sys, "_base_executable", None), *map(shutil.which, ("python3.12", "python3")),
                               "/usr/local/bin/python3", "/usr/bin/python3")):  # fmt: skip
        try:
            if subprocess.run([found, "-c", asked], check=False, capture_output=True, cwd="/", **who).returncode == 0:  # type: ignore[call-overload]
                return found
        except OSError:
            continue
    return None
