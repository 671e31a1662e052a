"""A proxy on loopback that does to answers what servers and networks do to them."""

from __future__ import annotations

import contextlib
import http.client
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

FAULTS = (
    "unavailable",
    "reset",
    "stall",
    "truncate",
    "short",
    "long",
    "total",
    "flip",
    "other_bytes",
)
"""Faults that may pass, by name: see ``_Handler``."""


class FaultProxy:
    """Passes requests on to a server, and spoils answers."""

    def __init__(self, target_port: int) -> None:
        self.target_port = target_port
        self.spoiled = 0
        """Answers spoiled so far."""
        self.stalled = threading.Event()
        """Set when an answer stalls."""
        self.resumed = threading.Event()
        """Set when stalled answers may go on."""
        self._lock = threading.Lock()
        self.behave()

    def behave(self) -> None:
        """Spoil nothing from now on."""
        self.spoil(None)

    def spoil(self, fault: str | None, *, at: str = "/shards/", every: int = 1) -> None:
        """Spoil one in ``every`` answers to GETs of paths with ``at`` in them."""
        with self._lock:
            self._fault, self._at, self._every, self._count = fault, at, every, 0

    def fault_of(self, method: str, path: str) -> str | None:
        with self._lock:
            if method != "GET" or self._at not in path or self._fault is None:
                return None
            self._count += 1
            if self._count % self._every:
                return None
            self.spoiled += 1
            return self._fault


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    proxy: FaultProxy

    def _pass_on(self) -> None:
        fault = self.proxy.fault_of(self.command, self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = dict(self.headers.items())
        if fault == "other_version":  # a server that knows no preconditions
            headers.pop("if-match", None)
        upstream = http.client.HTTPConnection("127.0.0.1", self.proxy.target_port)
        with contextlib.closing(upstream):
            upstream.request(self.command, self.path, body=body, headers=headers)
            answer = upstream.getresponse()
            data = answer.read()
            told = {name.lower(): value for name, value in answer.getheaders()}
        self._answer(fault, answer.status, told, data)

    def _answer(self, fault: str | None, status: int, told: dict[str, str], data: bytes) -> None:
        length = int(told.get("content-length", 0)) if self.command == "HEAD" else len(data)
        if fault in {"reset", "stall"}:
            if fault == "stall":
                self.proxy.stalled.set()
                self.proxy.resumed.wait()
            self.close_connection = True
            return
        if fault == "truncate":
            data, self.close_connection = data[: len(data) // 2], True
        elif fault is not None:
            status, data = self._spoiled(fault, status, told, data)
            length = len(data)
        self.send_response(status)
        for name, value in told.items():
            if name not in {"content-length", "connection", "date", "server", "transfer-encoding"}:
                self.send_header(name, value)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _spoiled(
        self, fault: str, status: int, told: dict[str, str], data: bytes
    ) -> tuple[int, bytes]:
        """Another answer, whole as far as HTTP can tell."""
        match fault:
            case "unavailable":
                return 503, b""
            case "short":
                return status, data[: len(data) // 2]
            case "long":
                return status, data + b"more"
            case "total":
                told["content-range"] = told["content-range"].rpartition("/")[0] + "/7777777"
            case "flip":
                return status, bytes([data[0] ^ 1]) + data[1:]
            case "other_bytes":
                return status, data[1:] + data[:1]
            case "other_version":
                told["etag"] = '"another"'
        return status, data

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = _pass_on  # noqa: N815 - names of the library

    def log_message(self, *_args: Any) -> None:
        """Say nothing."""


@contextlib.contextmanager
def proxying(target_port: int) -> Iterator[tuple[FaultProxy, int]]:
    """Run a proxy on a free port of loopback; gives it and the port."""
    proxy = FaultProxy(target_port)
    handler = type("Handler", (_Handler,), {"proxy": proxy})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield proxy, server.server_address[1]
    finally:
        proxy.resumed.set()
        server.shutdown()
        thread.join()
        server.server_close()
