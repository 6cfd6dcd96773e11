"""The image, built without a daemon: each step of its Dockerfile done in a fresh folder, then run as its user."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from lead_router.loops.runner import DRAIN_S
from support import company
from support.image import Image, interpreter, stages
from support.router import environment, until
from support.simulator import simulator
from support.third_program import Form
from support.verdict import all_owned

pytestmark = [pytest.mark.deployment, pytest.mark.timeout(600)]

ASKED_S = 30.0
LEADS = 20
SLACK_S = 4.0
SOMEBODY = 1_234_567


@pytest.fixture(scope="module")
def image():
    """Built once; skipped, in sight, without a package index, or where no Python may be started by the image's user."""
    python = interpreter(10001, 10001)
    if python is None:
        pytest.skip("no Python 3.11 or newer with venv that another user may start")
    # Every user must reach it, as an image's root.
    folder = Path(tempfile.mkdtemp(prefix="lead-router-image-"))
    folder.chmod(0o755)
    asked = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder / "asked"), "shtab"]
    try:
        if subprocess.run(asked, capture_output=True, check=False, timeout=120).returncode != 0:
            pytest.skip("no package index: nothing can be installed")
        yield Image(folder, python).build(stages())
    finally:
        shutil.rmtree(folder)


def ended(image, words, user, group, **settings):
    """Exit code and output of a command in the image."""
    process = image.start(words, user, group, settings)
    told, _ = process.communicate(timeout=ASKED_S)
    return process.returncode, told


def files(image):
    """What lies in the image's root outside of the router's own folder: path, size and time."""
    state = image.root / "var/lib/lead-router"
    found = (Path(folder) / name for folder, _, names in os.walk(image.root) for name in names)
    kept = [path for path in found if state not in path.parents]
    return {str(path): (path.lstat().st_size, path.lstat().st_mtime_ns) for path in kept}


def test_what_is_left_in_the_image_is_the_program_alone(image):
    """Neither pip nor sources; byte code is there, as a root that cannot be written keeps none."""
    program = image.root / "opt/lead-router"
    packages = next((program / "lib").glob("python3*/site-packages"))

    assert not list(image.root.rglob("pip/__main__.py"))
    assert not list((image.root / "src").iterdir())
    assert list((packages / "lead_router/loops/__pycache__").glob("runner.*.pyc"))
    assert (packages / "prometheus_client").is_dir()
    assert (packages / "grpc").is_dir()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make the image's user")
def test_the_image_has_its_user_and_that_one_may_write_its_own_folder_alone(image):
    """All else is root's, and nobody else may write there: to lock the root takes nothing away."""
    user, group = image.user
    state = image.root / "var/lib/lead-router"
    found = [Path(folder) / name for folder, folders, names in os.walk(image.root) for name in (*folders, *names)]
    others = [path for path in found if state not in (path, *path.parents)]
    writable = [path for path in others if not path.is_symlink() and path.stat().st_mode & 0o022]
    owned = [path for path in others if path.lstat().st_uid != 0]

    assert f":{user}:{group}::" in (image.root / "etc/passwd").read_text()
    assert (state.stat().st_uid, state.stat().st_mode & 0o007) == (user, 0)
    assert (writable, owned) == ([], [])


def test_the_entry_point_answers(image):
    """As the image's user, with nothing set."""
    code, told = ended(image, [*image.command("ENTRYPOINT"), "--version"], *image.user)

    assert (code, told.split()[0]) == (0, "lead-router")


@pytest.mark.parametrize("somebody", [False, True], ids=["its user", "any user of the root group"])
def test_it_routes_is_live_and_drains_as_it_is_started(image, somebody):
    """ENTRYPOINT and CMD, and HEALTHCHECK beside it; SIGTERM ends it in time, and no file was written but its own.

    Some clusters give each pod a user of their own making, who is of the group root and owns nothing.
    """
    user, group = (SOMEBODY, 0) if somebody else image.user
    before = files(image)
    with simulator(scenario=company.scenario()) as org:
        given = environment(org, f"sqlite:///{'any' if somebody else 'own'}.db", stream="cometd")
        settings = {name: value for name, value in given.items() if name.startswith(("LEAD_ROUTER_", "NO_PROXY"))}
        check = image.command("HEALTHCHECK")
        dead, _ = ended(image, check, user, group, **settings)
        router = image.start([*image.command("ENTRYPOINT"), *image.command("CMD")], user, group, settings)
        try:
            until(lambda: ended(image, check, user, group, **settings)[0] == 0, ASKED_S, "live")
            Form(org).post_all([company.lead(number) for number in range(LEADS)])
            until(lambda: all_owned(org, LEADS), ASKED_S, "all leads with an owner")
            router.send_signal(signal.SIGTERM)
            router.wait(DRAIN_S + SLACK_S)
        finally:
            router.kill()
            told, _ = router.communicate()
            sys.stdout.write(told)

    assert (dead, router.returncode) == (1, 0)
    assert '"exception"' not in told
    assert files(image) == before
