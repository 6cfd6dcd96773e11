"""The tools that are not ours: where they are, and how they get there."""

from __future__ import annotations

import fcntl
import hashlib
import json
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias

HERE = Path(__file__).parent
Kind: TypeAlias = Literal["VALUE", "PARENT", "PARENTS", "CHILDREN"]
INSTALL_S = 300
TOOL_S = 120
# Short runs: the second compiler of the machine never pays for itself, nor does a parallel collector.
JAVA_OPTIONS = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto")


class ToolFailed(Exception):
    """A tool ended in a way that says nothing about the project."""


@dataclass(frozen=True)
class Ran:
    """What a program wrote, and its exit code."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Toolbox:
    """Programs of this machine by name (`node`, `npm`, `java`, `javac`) and the packages of the lock file."""

    programs: dict[str, str]
    folder: Path = HERE

    @classmethod
    def found(cls) -> Toolbox:
        """The toolbox of this machine; what is not on the PATH is left out."""
        places = {name: shutil.which(name) for name in ("node", "npm", "java", "javac")}
        return cls({name: place for name, place in places.items() if place is not None})

    def lacks(self, needs: Sequence[str]) -> str | None:
        """Which of the needed programs are not there, as a sentence; None where all are."""
        names = [name for name in needs if name not in self.programs]
        return f"{' and '.join(names)} not found on the PATH" if names else None

    @cached_property
    def packages(self) -> Path:
        """The folder of the installed packages."""
        return self.folder / "node_modules"

    @cached_property
    def built(self) -> Path:
        """The folder of what is made at run and never committed."""
        return self.folder / "build"

    @cached_property
    def front_end(self) -> Path:
        """Salesforce's own parser and validator, as the formatter brings it."""
        return self.packages / "prettier-plugin-apex/vendor/apex-ast-serializer/lib/apex-jorje-lsp.jar"

    @cached_property
    def jars(self) -> Path:
        """The folder of apex-ls, PMD and the descriptions of standard objects."""
        return self.packages / "@salesforce/code-analyzer-pmd-engine/dist/java-lib"

    @cached_property
    def parser(self) -> list[str]:
        """The command that reads Apex from its input and writes its syntax tree as JSON."""
        native = sorted(self.packages.glob("@prettier-apex/apex-ast-serializer-*/apex-ast-serializer-*"))
        if native:
            return [str(native[0])]
        raise ToolFailed("no native Apex parser for this machine among the installed packages")

    def install(self) -> None:
        """Bring packages and compiled checks up to date; several processes may ask at once. Raises `ToolFailed`."""
        self.built.mkdir(exist_ok=True)
        with (self.built / "install.lock").open("w") as door:
            fcntl.flock(door, fcntl.LOCK_EX)
            if self.lacks(("node", "npm")) is None:
                self._install_packages()
                if self.lacks(("java", "javac")) is None:
                    self._compile()

    def node(self, script: str, *words: str, given: str = "") -> Ran:
        """Run a script of this folder or of a package."""
        return self._run([self.programs["node"], script, *words], given=given)

    def java(self, classes: Sequence[str], main: str, *words: str) -> Ran:
        """Run a class from the given class path."""
        path = ":".join(classes)
        return self._run([self.programs["java"], *JAVA_OPTIONS, "-cp", path, main, *words])

    def parse(self, apex: str) -> dict[str, Any]:
        """The syntax tree of a class, trigger or anonymous block; faults of syntax are in it."""
        ran = self._run(self.parser, given=apex)
        try:
            whole: dict[str, Any]
            (whole,) = json.loads(ran.out).values()
        except ValueError as error:
            raise ToolFailed(ran.err.strip()[-300:] or "the parser wrote nothing") from error
        return whole

    @cached_property
    def standard_objects(self) -> dict[str, dict[str, tuple[Kind, str]]]:
        """Salesforce's own objects: kind and type of each field by object and name."""
        whole = json.loads((self.built / "schema.json").read_text(encoding="utf-8"))
        return {name: {field: (kind, of) for field, (kind, of) in fields.items()} for name, fields in whole.items()}

    def _install_packages(self) -> None:
        lock = self.folder / "package-lock.json"
        done = self.packages / ".installed-lock.json"
        if done.exists() and done.read_bytes() == lock.read_bytes():
            return
        ran = self._run([self.programs["npm"], "ci", "--loglevel=error"], limit_s=INSTALL_S)
        if ran.code != 0:
            raise ToolFailed(f"npm ci failed: {ran.err.strip()[-300:]}")
        done.write_bytes(lock.read_bytes())

    def _compile(self) -> None:
        sources = sorted((self.folder / "java").glob("*.java"))
        versions = [(self.folder / "package-lock.json").read_bytes(), *(path.read_bytes() for path in sources)]
        mark, done = hashlib.sha256(b"".join(versions)).hexdigest(), self.built / "compiled.sha256"
        if done.exists() and done.read_text(encoding="utf-8") == mark:
            return
        words = ["-nowarn", "-cp", f"{self.front_end}:{self.jars}/*", "-d", str(self.built), *map(str, sources)]
        ran = self._run([self.programs["javac"], *words])
        if ran.code != 0:
            raise ToolFailed(f"javac failed: {ran.err.strip()[-300:]}")
        schema = self.java([str(self.built)], "DumpSchema", str(self.jars))
        if schema.code != 0:
            raise ToolFailed(f"the standard objects cannot be read: {schema.err.strip()[-300:]}")
        (self.built / "schema.json").write_text(schema.out, encoding="utf-8")
        done.write_text(mark, encoding="utf-8")

    def _run(self, command: list[str], *, given: str = "", limit_s: float = TOOL_S) -> Ran:
        try:
            ran = subprocess.run(
                command, cwd=self.folder, input=given, capture_output=True, text=True, timeout=limit_s, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise ToolFailed(f"{Path(command[0]).name} did not end within {limit_s} s") from error
        return Ran(ran.returncode, ran.stdout, ran.stderr)
