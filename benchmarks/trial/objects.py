"""What a trial does with the object store that its environment names, around the contender."""

from __future__ import annotations

import http.client
import os
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from benchmarks.trial.object_server import COUNT_PATH

if TYPE_CHECKING:
    from pathlib import Path

BUCKET = "benchmarks"

_OK = 200


def _ask(method: str, path: str, body: bytes = b"") -> bytes:
    address = urlsplit(os.environ["AWS_ENDPOINT_URL"])
    connection = http.client.HTTPConnection(address.hostname or "", address.port)
    try:
        connection.request(method, quote(path), body)
        answer = connection.getresponse()
        content = answer.read()
    finally:
        connection.close()
    if answer.status != _OK:
        raise OSError(f"{method} {path}: {answer.status} {answer.reason}")
    return content


def put_folder(folder: Path, prefix: str) -> str:
    """Send all files of a folder; returns the URL below which they are."""
    _ask("PUT", f"/{BUCKET}")
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            name = file.relative_to(folder).as_posix()
            _ask("PUT", f"/{BUCKET}/{prefix}/{name}", file.read_bytes())
    return url_of(prefix)


def url_of(prefix: str) -> str:
    """Where a folder that was put is."""
    return f"s3://{BUCKET}/{prefix}"


def sent_bytes() -> int:
    """Bytes that the store sent so far, to anybody."""
    return int(_ask("GET", COUNT_PATH))
