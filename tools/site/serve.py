"""Serves the built site to this machine alone: `serve.py FOLDER [--port PORT]`, until Ctrl-C."""

from __future__ import annotations

import argparse
import functools
import signal
import sys
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NoReturn

HOST = "127.0.0.1"
PORT = 8000


class Handler(SimpleHTTPRequestHandler):
    """Files of the site; only what fails is worth a line."""

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Say nothing about requests that were answered."""


def stop(*_: object) -> NoReturn:
    """End as Ctrl-C does."""
    raise KeyboardInterrupt


def main() -> int:
    """Serves until it is stopped."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--port", type=int, default=PORT, help="0 takes one that is free")
    args = parser.parse_args()
    # links of Bazel's runfiles are followed once: a rebuild then does not change what is served
    handler = functools.partial(Handler, directory=str(args.folder.resolve()))
    try:
        server = ThreadingHTTPServer((HOST, args.port), handler)
    except OSError as error:
        print(
            f"port {args.port} of {HOST}: {error.strerror}; --port takes another", file=sys.stderr
        )
        return 1
    for way in (signal.SIGINT, signal.SIGTERM):
        signal.signal(way, stop)
    with server:
        print(f"http://{HOST}:{server.server_port}/  (Ctrl-C ends it)", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
