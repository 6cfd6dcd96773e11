"""The encore: org and router stay up, leads keep coming, and the console is opened on them, until Ctrl-C."""

from __future__ import annotations

import contextlib
import os
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import cycle
from typing import TextIO

from lead_router.console import lack
from lead_router.demo.form import ANSWER_S, REST, Form, local_session
from lead_router.demo.stage import STOP_S, Stage
from lead_router.demo.story import tell
from lead_router.demo.witness import Witness
from lead_router.errors import ContractMismatch, Misconfigured, Rejected

PORT = 9467
LEADS = 500  # of the story that goes on; then it is told again, with other addresses
BETWEEN_S = 2.0
AWAY = timedelta(hours=2)


def refuse_without(*, as_json: bool) -> None:
    """Raises Misconfigured where the console cannot be opened after the play; before it, so that nobody waits."""
    if as_json:
        raise Misconfigured("--console is for people: leave --json out")
    if missing := lack():
        raise Misconfigured(f"--console: {missing}")


def hold(stage: Stage, witness: Witness, form: Form, seed: int, out: TextIO) -> None:
    """Until Ctrl-C; then the console is stopped, and whoever raised the stage stops the rest.

    Raises ContractMismatch where the router or the console ends by itself.
    """
    stage.opened()
    stage.start_router()
    stage.await_subscription()
    _one_is_away(stage, witness)
    with _console(stage) as console:
        print("the org and the router go on, with a lead every two seconds; Ctrl-C ends all", file=out)
        program = f"{shlex.quote(sys.executable)} -m lead_router"
        print(f"other commands: {program} --env-file {stage.settings_file()} status", file=out)
        print(f"health and metrics: http://{stage.health}/readyz, http://{stage.health}/metrics", file=out, flush=True)
        try:
            for number, post in enumerate(cycle(tell(seed + 1, LEADS).posts)):
                stage.check_router()
                if (code := console.poll()) is not None:
                    raise ContractMismatch(f"the console ended by itself with exit code {code}")
                with contextlib.suppress(Rejected):
                    form.send({**post.fields, "Email": f"later.{number}@buyer.example"}).result()
                time.sleep(BETWEEN_S)
        except KeyboardInterrupt:
            print("\nthe console, the router and the org are stopped", file=out, flush=True)


def _one_is_away(stage: Stage, witness: Witness) -> None:
    """So that the groups show somebody off duty, and when they are back."""
    (hana,) = (user["Id"] for user in witness.rows("User") if user.get("LastName") == "Hana")
    now = datetime.now(UTC)
    absence = {"User__c": hana, "Start__c": now.isoformat(), "End__c": (now + AWAY).isoformat(), "Reason__c": "Dentist"}
    with local_session() as session:
        heads = {"Authorization": f"Bearer {witness.token()}"}
        url = f"{stage.org.url}{REST}/sobjects/Member_Absence__c"
        answer = session.post(url, json=absence, headers=heads, timeout=ANSWER_S)
    if not answer.ok:
        raise ContractMismatch(f"the simulated org took no absence: HTTP {answer.status_code}")


@contextlib.contextmanager
def _console(stage: Stage) -> Iterator[subprocess.Popen[bytes]]:
    """The console as a process of its own; it prints its address. At its usual port, if that is free."""
    with (stage.folder / "console.log").open("ab") as log:
        console = subprocess.Popen(
            [sys.executable, "-m", "lead_router", "console", "--address", f"127.0.0.1:{PORT if _is_free(PORT) else 0}"],
            cwd=stage.folder,
            env=stage.environment(os.environ),
            stdin=subprocess.DEVNULL,
            stderr=log,
            start_new_session=True,
        )
    try:
        yield console
    finally:
        console.terminate()
        try:
            console.wait(STOP_S)
        except subprocess.TimeoutExpired:
            console.kill()
            console.wait()


def _is_free(port: int) -> bool:
    with socket.socket() as asked:
        asked.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            asked.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
