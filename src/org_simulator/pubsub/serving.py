"""The gRPC endpoint beside the org's HTTP one, on the same event loop."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import grpc

from org_simulator.pubsub.server import PubSub
from org_simulator.pubsub.terms import Terms

if TYPE_CHECKING:
    from org_simulator.org import Org


class Endpoint:
    """Pub/Sub API of one org at `host:port`; port 0 picks a free one. TLS with `certificate` and `key`, else plain."""

    def __init__(
        self, org: Org, *, host: str, port: int = 0, tls: tuple[Path, Path] | None = None, terms: Terms | None = None
    ) -> None:
        self._org = org
        self._host, self._port, self._tls = host, port, tls
        self.service = PubSub(org, terms or Terms())
        self._server: grpc.aio.Server | None = None
        self._ring = _nothing
        self.address = ""

    async def start(self) -> str:
        """Serve; the answer is `host:port`. Raises OSError where the port is another's."""
        server = grpc.aio.server(options=[("grpc.so_reuseport", 0), ("grpc.max_send_message_length", -1)])
        server.add_generic_rpc_handlers((self.service.handlers(),))
        wanted = f"{self._host}:{self._port}"
        try:
            port = self._bind(server, wanted)
        except RuntimeError:
            raise OSError(98, "the Pub/Sub address is in use", wanted) from None
        await server.start()
        self._server = server
        loop = asyncio.get_running_loop()

        def ring(*_told: object) -> None:
            with suppress(RuntimeError):  # the loop may be closed between our look and our call
                loop.call_soon_threadsafe(self.service.wake)

        self._ring = ring
        self.service.log.wakers.append(ring)
        self._org.sessions.on_revoke.append(ring)
        self.address = f"{self._host}:{port}"
        return self.address

    async def stop(self) -> None:
        """End every stream."""
        if self._server is not None:
            server, self._server = self._server, None
            self.service.log.wakers.remove(self._ring)
            self._org.sessions.on_revoke.remove(self._ring)
            await server.stop(grace=None)

    def _bind(self, server: grpc.aio.Server, wanted: str) -> int:
        if self._tls is None:
            return server.add_insecure_port(wanted)
        certificate, key = self._tls
        pairs = [(key.read_bytes(), certificate.read_bytes())]
        return server.add_secure_port(wanted, grpc.ssl_server_credentials(pairs))


def _nothing(*_told: object) -> None:
    pass
