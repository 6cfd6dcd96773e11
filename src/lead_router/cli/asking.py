"""`status --live` and `status --ready`: one question to the router that runs with the same settings."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException
from typing import Any

from lead_router.cli.given import settings_of
from lead_router.cli.show import as_json
from lead_router.errors import Misconfigured
from lead_router.settings import PREFIX, host_and_port

PATHS = {"live": "/healthz", "ready": "/readyz"}
YES = 200
REQUEST_S = 5.0
ANSWER_MAX_BYTES = 1_000_000
_EVERY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - asked on the loopback address
_SETTING = f"{PREFIX}HEALTH_ADDRESS"


def ask(words: argparse.Namespace) -> int:
    """0 for yes, 1 for no, with each reason in a line; no answer is a no.

    Raises Misconfigured where the router is told to answer nowhere, or at a port that nobody can know.
    """
    address = settings_of(words).health_address
    if not address or host_and_port(address)[1] == 0:
        raise Misconfigured(f"set {_SETTING} to a port, as 9466, for the router and here: it answers there how it is")
    yes, answer = asked(*host_and_port(address), PATHS[words.asked])
    if words.json:
        print(as_json(answer))
        return 0 if yes else 1
    print(f"{'' if yes else 'not '}{words.asked}" + (f", {answer['state']}" if "state" in answer else ""))
    if "stream" in answer:
        print(f"stream: {answer['stream']}")
    for fault in answer.get("faults", ()):
        print(f"{fault['part']}: {fault['reason']}")
    return 0 if yes else 1


def why_not_ready(address: str) -> tuple[str, ...]:
    """What the router that answers there lacks; empty where nothing is lacking, or where none can be asked."""
    if not address or host_and_port(address)[1] == 0:
        return ()
    _, answer = asked(*host_and_port(address), PATHS["ready"])
    return tuple(f"{fault['part']}: {fault['reason']}" for fault in answer.get("faults", ()) if "state" in answer)


def asked(host: str, port: int, path: str) -> tuple[bool, Mapping[str, Any]]:
    """Whether the router says yes, and its answer; where there is none, one of our own with the reason."""
    connection = HTTPConnection(_EVERY_ADDRESS.get(host, host), port, timeout=REQUEST_S)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        told = json.loads(answer.read(ANSWER_MAX_BYTES))
    except OSError as fault:
        return _no(f"nothing answers at {host}:{port} ({_SETTING}): {fault.strerror or type(fault).__name__}")
    except (HTTPException, ValueError):
        told = None
    finally:
        connection.close()
    if not isinstance(told, dict) or "state" not in told:
        return _no(f"what answers at {host}:{port} is no lead-router: give {_SETTING} a port of its own")
    return answer.status == YES, told


def _no(reason: str) -> tuple[bool, Mapping[str, Any]]:
    return False, {"faults": [{"part": "router", "reason": reason}]}
