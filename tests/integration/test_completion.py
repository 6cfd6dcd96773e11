"""Completion, asked of real shells: commands, verbs, options and their values."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from lead_router.cli import main

BASH = """
source {script}
COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
"$(complete -p lead-router | sed 's/.*-F \\([^ ]*\\).*/\\1/')" lead-router "${{COMP_WORDS[-1]}}" "${{COMP_WORDS[-2]}}"
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
ASKED = [
    (("lead-router", ""), {"run", "status", "doctor", "jobs", "rules", "completion"}),
    (("lead-router", "jobs", "re"), {"retry"}),
    (("lead-router", "jobs", "list", "--status", ""), {"queued", "working", "done", "dead"}),
    (("lead-router", "status", "--l"), {"--live"}),
    (("lead-router", "completion", ""), {"bash", "zsh", "fish"}),
]


@pytest.fixture
def script(tmp_path, capsys):
    """The file that a shell reads, by the shell's name."""

    def write(shell):
        if shutil.which(shell) is None:
            pytest.skip(f"no {shell} here")
        assert main(["completion", shell]) == 0
        path = tmp_path / f"lead-router.{shell}"
        path.write_text(capsys.readouterr().out, encoding="utf-8")
        return path

    return write


def asked(*words):
    ended = subprocess.run(words, capture_output=True, text=True, check=False, timeout=30)
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout.splitlines()


def test_bash_completes_what_the_parser_knows(script):
    """Asked as bash itself asks, after `source`."""
    path = script("bash")
    for typed, known in ASKED:
        words = " ".join(word or "''" for word in typed)
        told = set(asked("bash", "--norc", "-c", BASH.format(script=path, words=words)))
        assert known <= told, typed
        assert all(word.startswith(typed[-1]) for word in told), typed


def test_fish_completes_what_the_parser_knows(script):
    """`complete -C` answers what the tab key would, with a word on each."""
    path = script("fish")
    for typed, known in ASKED:
        line = " ".join(typed)
        told = {word.partition("\t")[0] for word in asked("fish", "-N", "-c", f"source {path}; complete -C '{line}'")}
        assert known <= told, typed


def test_zsh_finds_its_script(script, tmp_path):
    """It is sound, and its completion system takes it from a folder of functions, as the manual says to lay it."""
    folder = tmp_path / "functions"
    folder.mkdir()
    script("zsh").rename(folder / "_lead-router")
    asked("zsh", "-f", "-n", str(folder / "_lead-router"))
    find = f"fpath=({folder} $fpath); autoload -Uz compinit; compinit -u -D; echo $_comps[lead-router]"
    assert asked("zsh", "-f", "-c", find) == ["_lead-router"]


def test_an_option_with_a_path_completes_files(script, tmp_path):
    """`--csv` takes a file, `--files` a folder."""
    path = script("bash")
    (tmp_path / "leads.csv").touch()
    (tmp_path / "rules").mkdir()
    for option, found in ((("plan", "--csv"), {"leads.csv"}), (("rules", "check", "--files"), {"rules"})):
        words = " ".join(("lead-router", *option, "''"))
        text = f"cd {tmp_path}\n{BASH.format(script=path, words=words)}"
        assert found <= set(asked("bash", "--norc", "-c", text)), option
