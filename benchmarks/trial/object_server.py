"""An object store on loopback: moto's S3, with a count of the bytes that it sent.

Runs in a process and an environment of its own, told its task by nobody: it prints its port,
and ends when its standard input does.
"""

from __future__ import annotations

import logging
import sys
import threading
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

COUNT_PATH = "/-/sent"
"""Answers with the number of bytes sent so far, in decimal digits."""


class CountingStore:
    """A WSGI application around another one."""

    def __init__(self, store: Callable[..., Iterable[bytes]]) -> None:
        self._store = store
        self._sent = 0
        self._lock = threading.Lock()

    def __call__(self, request: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        """Answer a request, as WSGI has it."""
        if request["PATH_INFO"] == COUNT_PATH:
            start("200 OK", [("Content-Type", "text/plain")])
            return [str(self._sent).encode()]
        return self._counted(self._store(request, start))

    def _counted(self, answer: Iterable[bytes]) -> Iterator[bytes]:
        for part in answer:
            with self._lock:
                self._sent += len(part)
            yield part


def serve() -> None:
    """Serve until standard input ends."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    moto: Any = import_module("moto.moto_server.werkzeug_app")
    serving: Any = import_module("werkzeug.serving")
    store = CountingStore(moto.DomainDispatcherApplication(moto.create_backend_app))
    server = serving.make_server("127.0.0.1", 0, store, threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_port, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    serve()
