"""An S3 server on loopback, and a cache for it."""

from __future__ import annotations

import contextlib
import logging
import os
from typing import TYPE_CHECKING, Any

import boto3
import dataset_rt as drt
from moto.server import ThreadedMotoServer
from support import Rows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BUCKET = "bucket"


def environment(port: int) -> dict[str, str]:
    """What leads clients of S3 to a server on this port."""
    return {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_ALLOW_HTTP": "true",
    }


class ObjectServer:
    """A server of moto, and a way to its objects around dataset_rt."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._client = boto3.client("s3")
        self._client.create_bucket(Bucket=BUCKET)

    def url(self, name: str) -> str:
        return f"s3://{BUCKET}/{name}"

    def get(self, name: str) -> bytes:
        return self._client.get_object(Bucket=BUCKET, Key=name)["Body"].read()

    def put(self, name: str, data: bytes) -> None:
        self._client.put_object(Bucket=BUCKET, Key=name, Body=data)

    def delete(self, name: str) -> None:
        self._client.delete_object(Bucket=BUCKET, Key=name)


@contextlib.contextmanager
def serving() -> Iterator[ObjectServer]:
    """Run a server on a free port of loopback, found by the environment meanwhile."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    before = dict(os.environ)
    try:
        _, port = server.get_host_and_port()
        os.environ.update(environment(port))
        yield ObjectServer(port)
    finally:
        os.environ.clear()
        os.environ.update(before)
        server.stop()


def row_payload(i: int) -> bytes:
    """A payload that tells its sample; lengths differ, some are 0."""
    return f"<{i}>".encode() * (i * 37 % 400)


def rows(count: int, name: str = "train") -> Rows:
    return Rows(name, [(row_payload(i), {"label": i % 3, "name": f"n{i}"}) for i in range(count)])


def store_config(path: Path, **options: Any) -> drt.StoreConfig:
    """A store that loses no time waiting."""
    return drt.StoreConfig(path=path, **{"retry_wait_seconds": 0.0, **options})


def told(samples: Any) -> list[tuple[Any, ...]]:
    """All that samples say."""
    return [(s.cache_id, s.sample_id, s.data, dict(s.metadata)) for s in samples]
