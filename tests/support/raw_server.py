"""A server on loopback that writes what it is told to and counts what it got rid of; with a key it speaks TLS."""

from __future__ import annotations

import contextlib
import ssl
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Chunks = Iterable[bytes]


@dataclass
class RawServer:
    """`answer` gives an answer's headers and its body in pieces, for a path and a request's body."""

    answer: Callable[[str, bytes], tuple[Mapping[str, str], Chunks]]
    url: str = ""
    sent: int = 0
    asked: list[str] = field(default_factory=list)


class _Quiet(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request, client_address):
        """A client that leaves, or that trusts nobody, is part of the game."""


@contextlib.contextmanager
def raw_server(
    answer: Callable[[str, bytes], tuple[Mapping[str, str], Chunks]],
    tls: ssl.SSLContext | None = None,
    host: str = "localhost",
) -> Iterator[RawServer]:
    """Serves while the block lasts; every connection answers one request and closes."""
    served = RawServer(answer)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            served.asked.append(self.path)
            headers, chunks = served.answer(self.path, body)
            self.send_response(200)
            for name, value in {"Content-Type": "application/json", **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            with contextlib.suppress(OSError):
                for chunk in chunks:
                    self.wfile.write(chunk)
                    served.sent += len(chunk)

        def do_GET(self):
            self.do_POST()

        def log_message(self, *told):
            """Silence on the test's output."""

    server = _Quiet((host, 0), Handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    served.url = f"{'http' if tls is None else 'https'}://{host}:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
