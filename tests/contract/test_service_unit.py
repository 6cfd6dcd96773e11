"""The systemd units: sound, well locked in, and of one mind with the program about time."""

from __future__ import annotations

import configparser
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from lead_router.cli.arguments import parser
from lead_router.console.serving import END_S
from lead_router.loops.runner import DRAIN_S
from support.runbook import commands

DEPLOY = Path(__file__).parents[2] / "deploy"
UNIT = DEPLOY / "lead-router.service"
CONSOLE = DEPLOY / "lead-router-console.service"
LAID = [
    (UNIT, ()),
    (UNIT, ("key.conf",)),
    (UNIT, ("slower.conf",)),
    (UNIT, ("log-file.conf",)),
    (CONSOLE, ()),
    (CONSOLE, ("key.conf", "console-token.conf")),
]
EXPOSURE_MAX = 2.0
"""What systemd itself calls OK ends below this."""

STEPS_SINCE = 254
"""The first systemd that knows RestartSteps."""

needs_systemd = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd-analyze here")


def analyze(*words):
    return subprocess.run(["systemd-analyze", *words], capture_output=True, text=True, check=False, timeout=60)


def version():
    return int(re.findall(r"systemd (\d+)", analyze("--version").stdout)[0])


@pytest.fixture
def laid(tmp_path):
    """A unit in a folder of its own, its program one that is there; drop-ins are laid beside it by name."""

    def lay(shipped, *names):
        text = shipped.read_text(encoding="utf-8").replace("/opt/lead-router/bin/lead-router", "/bin/true")
        unit = tmp_path / shipped.name
        unit.write_text(text, encoding="utf-8")
        for name in names:
            folder = tmp_path / f"{shipped.name}.d"
            folder.mkdir(exist_ok=True)
            shutil.copy(DEPLOY / "drop-ins" / name, folder / name)
        return unit

    return lay


@needs_systemd
@pytest.mark.parametrize(("shipped", "names"), LAID, ids=[f"{unit.stem} {names}" for unit, names in LAID])
def test_systemd_finds_no_fault_in_the_units(laid, shipped, names):
    """Neither in one alone nor with a drop-in, but that an old systemd passes over what it does not know."""
    told = analyze("verify", str(laid(shipped, *names)))
    unknown = "slower.conf" in names and version() < STEPS_SINCE
    faults = [line for line in told.stderr.splitlines() if "Unknown key 'Restart" not in line or not unknown]

    assert (told.returncode, faults) == (0, [])


@needs_systemd
@pytest.mark.parametrize("shipped", [UNIT, CONSOLE], ids=lambda unit: unit.stem)
def test_the_units_are_well_locked_in(laid, shipped):
    """Systemd's own measure, from 0 to 10, less is better."""
    told = analyze("security", "--offline=true", str(laid(shipped, "key.conf"))).stdout
    (exposure,) = re.findall(rf"Overall exposure level for {re.escape(shipped.name)}: ([\d.]+)", told)

    assert float(exposure) < EXPOSURE_MAX


def test_a_log_file_is_opened_by_systemd_and_cut_by_logrotate_in_one_place():
    """As root's own: a folder that the router may write to would let it lead logrotate to any file of the host."""
    (written,) = re.findall(
        r"^StandardError=append:(\S+)$", (DEPLOY / "drop-ins/log-file.conf").read_text(), re.MULTILINE
    )
    rules = (DEPLOY / "logrotate.conf").read_text(encoding="utf-8")
    laid = commands("wants it in a file has systemd write it")

    assert re.findall(r"^(/\S+) \{", rules, re.MULTILINE) == [written]
    assert laid[0] == f"install -d -m 750 -o root -g root {Path(written).parent}"
    assert not re.search(r"^\s*su\s", rules, re.MULTILINE)


def service_of(unit):
    read = configparser.ConfigParser(interpolation=None, strict=False)
    read.optionxform = str  # type: ignore[assignment,method-assign]
    read.read(unit, encoding="utf-8")
    return read["Service"]


def test_a_stop_is_given_the_time_of_the_drain():
    """Systemd would kill it in mid-drain otherwise; a start that says nothing is ended as soon as a silent router."""
    service = service_of(UNIT)

    assert (service["Type"], service["NotifyAccess"]) == ("notify", "main")
    assert int(service["TimeoutStopSec"]) > DRAIN_S
    assert service["TimeoutStartSec"] == service["WatchdogSec"]


def test_the_console_is_locked_in_as_the_router_is_and_keeps_to_this_host():
    """One user, one folder, one settings file; at the default address, which is the loopback address."""
    router, console = service_of(UNIT), service_of(CONSOLE)
    own = {"Type", "ExecStart", "TimeoutStopSec"}
    asked = parser().parse_args(console["ExecStart"].split()[1:])

    assert {k: v for k, v in console.items() if k not in own} == {
        k: v for k, v in router.items() if k not in {*own, "NotifyAccess", "TimeoutStartSec", "WatchdogSec"}
    }
    assert (asked.command, asked.address.partition(":")[0]) == ("console", "127.0.0.1")
    assert int(console["TimeoutStopSec"]) > END_S
