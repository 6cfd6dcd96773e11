"""`python -m org_simulator`: a Salesforce org on this machine, until SIGTERM."""

from __future__ import annotations

import argparse
import asyncio
import importlib
import json
import logging
import secrets
import signal
import ssl
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from aiohttp import web

from org_simulator.apex.faults import Unparsable, Unsupported
from org_simulator.clock import ManualClock, SystemClock
from org_simulator.failures import Failure
from org_simulator.metadata import MetadataFault
from org_simulator.switches import Switches
from org_simulator.wire import scenario, start, tls
from org_simulator.wire.app import build
from org_simulator.wire.oauth import REFRESH_TOKEN
from org_simulator.wire.world import ConnectedApp, World

if TYPE_CHECKING:
    from collections.abc import Sequence

    from org_simulator.pubsub.serving import Endpoint

INSTALL = ".venv/bin/pip install --editable '.[pubsub]'"
SWITCH_S = 0.0005  # a request's thread and the streams' hand over at once, as in an org they are different machines
SEEDS = 2**32
SHUTDOWN_S = 2.0  # for requests under way when the end is asked for


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the org; the answer is the exit code: 0 after SIGTERM or SIGINT, 2 for bad options or files."""
    options = _options(arguments)
    if options.pubsub_port is not None and not _speaks_grpc():
        print(f"org_simulator: --pubsub-port needs the extra 'pubsub': {INSTALL}", file=sys.stderr)  # noqa: T201
        return 2
    sys.setswitchinterval(SWITCH_S)
    logging.basicConfig(level=logging.INFO if options.access_log else logging.WARNING, stream=sys.stderr)
    try:
        world = _world(options)
    except (OSError, ValueError, MetadataFault, Failure, Unparsable, Unsupported) as fault:
        print(f"org_simulator: {fault}", file=sys.stderr)  # noqa: T201
        return 2
    try:
        asyncio.run(_serve(world, options))
    except OSError as fault:  # the port is another's, the host is not this machine, no certificate can be written
        print(f"org_simulator: cannot serve at {options.host}:{options.port}: {fault.strerror}", file=sys.stderr)  # noqa: T201
        return 2
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("org_simulator", description="A Salesforce org on this machine.")
    add = parser.add_argument
    add("--host", default="localhost")
    add("--port", type=int, default=8500, help="0 picks a free one; the ready line says which")
    add("--pubsub-port", type=int, help="serve Pub/Sub API there too, beside CometD; 0 picks a free one")
    add("--public-url", metavar="URL", help="where clients are told the org is; default: where it listens")
    add("--tls", type=Path, metavar="DIR", help="speak TLS with DIR/cert.pem and DIR/key.pem, made there if absent")
    add("--seed", type=int, help="of ids, tokens, orders and faults; default: another at each start")
    add("--latency-ms", type=float, default=0.0, help="added to every REST request")
    add("--scenario", type=Path, metavar="FILE", help="the org's first records")
    add("--metadata", type=Path, metavar="DIR", help="default: salesforce_metadata/ of this checkout")
    add("--switches", choices=("default", "pessimistic"), default="default", help="how disputed behaviours are settled")
    add("--client-id", default="lead-router")
    add("--client-secret", default="simulator")
    add("--jwt-certificate", type=Path, metavar="FILE", help="PEM certificate that verifies the client's JWTs")
    add("--apex", action="store_true", help="run the triggers and classes of the metadata")
    add("--lead-history", action="store_true", help="keep the field history of lead owners (LeadHistory)")
    add("--manual-clock", action="store_true", help="time moves only by POST /simulator/clock")
    add("--access-log", action="store_true")
    return parser.parse_args(arguments)


def _world(options: argparse.Namespace) -> World:
    certificate = options.jwt_certificate.read_bytes() if options.jwt_certificate else None
    world = start.world(
        metadata=options.metadata,
        clock=ManualClock(datetime.now(UTC)) if options.manual_clock else SystemClock(),
        switches=Switches.pessimistic() if options.switches == "pessimistic" else Switches(),
        seed=secrets.randbelow(SEEDS) if options.seed is None else options.seed,
        app=ConnectedApp(options.client_id, options.client_secret, certificate),
        apex=options.apex,
        lead_history=options.lead_history,
    )
    if world.apex:
        print(f"org_simulator: {world.apex}", file=sys.stderr)  # noqa: T201
    if world.org.automation is not None:
        world.org.automation.start()
    if options.scenario:
        scenario.load(world.org, json.loads(options.scenario.read_text()))
    return world


async def _serve(world: World, options: argparse.Namespace) -> None:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    context: ssl.SSLContext | None = None
    certificate: Path | None = None
    if options.tls:
        certificate, key = tls.ensure(options.tls, options.host)
        context = tls.context(certificate, key)
    log = logging.getLogger("org_simulator.access") if options.access_log else None
    runner = web.AppRunner(build(world, options.latency_ms), access_log=log, shutdown_timeout=SHUTDOWN_S)
    await runner.setup()
    endpoint: Endpoint | None = None
    try:
        await web.TCPSite(runner, options.host, options.port, ssl_context=context, backlog=512).start()
        port = runner.addresses[0][1]
        world.base_url = options.public_url or f"{'https' if context else 'http'}://{options.host}:{port}"
        if options.pubsub_port is not None:
            endpoint = await _pubsub(world, options, tls.ensure(options.tls, options.host) if options.tls else None)
        print(json.dumps(_ready(world, port, certificate, endpoint)), flush=True)  # noqa: T201
        await ended.wait()
    finally:
        if endpoint is not None:
            await endpoint.stop()
        await runner.cleanup()


def _speaks_grpc() -> bool:
    """Whether Pub/Sub API can be served here: the extra is installed and can be loaded."""
    try:
        importlib.import_module("org_simulator.pubsub.serving")
    except ImportError:
        return False
    return True


async def _pubsub(world: World, options: argparse.Namespace, certified: tuple[Path, Path] | None) -> Endpoint:
    from org_simulator.pubsub.serving import Endpoint  # noqa: PLC0415 - it needs the extra 'pubsub'

    endpoint = Endpoint(world.org, host=options.host, port=options.pubsub_port, tls=certified)
    await endpoint.start()
    return endpoint


def _ready(world: World, port: int, certificate: Path | None, endpoint: Endpoint | None) -> dict[str, str | int | None]:
    """The one line on stdout: where the org is and how to get in."""
    return {
        "url": world.base_url,
        "port": port,
        "pubsub": None if endpoint is None else f"{'' if certificate else 'http://'}{endpoint.address}",
        "certificate": str(certificate) if certificate else None,
        "org_id": world.org.org_id,
        "client_id": world.app.client_id,
        "refresh_token": REFRESH_TOKEN,
        "integration_user_id": world.org.integration_user_id,
        "admin_user_id": world.org.admin_user_id,
    }


if __name__ == "__main__":
    sys.exit(main())
