"""An HTTP endpoint outside, on loopback: takes what is posted, and answers as a test tells it to."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

HANG, CUT, DRIP = "hang", "cut", "drip"
"""It takes the letter and says nothing; breaks the line; or sends a byte now and then, for ever."""


class Endpoint:
    """`got` holds the JSON of each request; `answers` are statuses or one of the words above, then all are good."""

    def __init__(self) -> None:
        self.got: list[dict[str, Any]] = []
        self.answers: list[int | str] = []
        self.ended = threading.Event()
        self.lock = threading.Lock()
        endpoint = self

        class Answer(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                with endpoint.lock:
                    endpoint.got.append(json.loads(body))
                    how = endpoint.answers.pop(0) if endpoint.answers else 200
                if how == HANG:
                    endpoint.ended.wait()
                elif how == CUT:
                    self.connection.shutdown(2)
                elif how == DRIP:
                    self.send_response(200)
                    self.send_header("Content-Length", "100000")
                    self.end_headers()
                    while not endpoint.ended.wait(0.05):
                        self.wfile.write(b"x")
                        self.wfile.flush()
                else:
                    self.send_response(int(how))
                    self.send_header("Content-Length", "0")
                    self.end_headers()

            def handle_one_request(self) -> None:
                try:
                    super().handle_one_request()
                except OSError:
                    self.close_connection = True

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def url(self, secret: str) -> str:
        return f"json://127.0.0.1:{self.port}/{secret}"

    def close(self) -> None:
        self.ended.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@contextmanager
def endpoint() -> Iterator[Endpoint]:
    made = Endpoint()
    try:
        yield made
    finally:
        made.close()
