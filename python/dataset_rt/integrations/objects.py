"""Object storage by obstore: one request at a time, as the core asks for it.

Nothing else imports obstore. Retries, checks and what is kept are the core's; credentials, regions
and endpoints are obstore's own, from the environment and its configuration files.
"""

from __future__ import annotations

import atexit
import os
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar

try:
    import obstore
    from obstore import exceptions, store
except ImportError as error:
    raise ImportError(
        "URLs of object storage need obstore: pip install obstore",
        name=error.name,
    ) from error

from dataset_rt import _native

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["ObjectError", "Objects"]

_Answer = TypeVar("_Answer")

_CONNECT_SECONDS = 10.0
_PART_BYTES = 8 * 1024 * 1024
_asking_process: int | None = None
"""The process in which the library's threads are; None before the first request."""
_FORKED = (
    "a process that was forked from one that fetched can't fetch; start it by spawn or forkserver"
)
_LOCAL = "file://"
_PREFIXES = {"s3": "AWS_", "gs": "GOOGLE_", "az": "AZURE_"}
_CLIENT_OPTIONS = (
    "allow_http",
    "allow_invalid_certificates",
    "connect_timeout",
    "http1_only",
    "http2_only",
    "proxy_ca_certificate",
    "proxy_excludes",
    "proxy_url",
    "user_agent",
)


atexit.register(_native.end_requests)


class ObjectError(Exception):
    """A request that had no success.

    Args:
        fault: ``"missing"``, ``"changed"``, ``"refused"``, or ``"failed"`` for what may pass.
        cause: What the library said.
    """

    def __init__(self, fault: str, cause: str) -> None:
        super().__init__(cause)
        self.fault = fault


class Objects:
    """The objects of one cache, by their paths below its URL.

    Args:
        url: Where the cache is.
        timeout_seconds: Longest time of one request.
        make: Whether a local folder is made where there is none.
    """

    def __init__(self, url: str, timeout_seconds: float, make: bool) -> None:
        self._store = _told(lambda: _open(url, timeout_seconds, make=make))

    def facts(self, name: str) -> tuple[int, str | None]:
        """Tell length in bytes and tag of an object."""
        meta = _asked(lambda: obstore.head(self._store, name))
        return meta["size"], meta["e_tag"]

    def read(
        self, name: str, start: int, end: int, tag: str | None
    ) -> tuple[bytes, int, str | None]:
        """Read bytes ``start`` to ``end`` of an object, of the version with this tag if given.

        Returns:
            The bytes that came, and length and tag of the whole object as the server has them.
        """

        def request() -> tuple[bytes, int, str | None]:
            options: Any = {"range": (start, end)}
            if tag is not None:
                options["if_match"] = tag
            result = obstore.get(self._store, name, options=options)
            meta = result.meta
            return result.bytes().to_bytes(), meta["size"], meta["e_tag"]

        return _asked(request)

    def put(self, name: str, file: Path) -> None:
        """Make an object of a file."""
        _asked(lambda: obstore.put(self._store, name, file, chunk_size=_PART_BYTES))


def _open(url: str, timeout_seconds: float, *, make: bool) -> Any:
    if url.startswith(_LOCAL):
        return store.from_url(url, mkdir=make)
    timeout = timedelta(seconds=timeout_seconds)
    connect = min(timeout, timedelta(seconds=_CONNECT_SECONDS))
    # Options given here take the place of all that the environment says of the client.
    client: Any = {"connect_timeout": connect, **_client_environment(url), "timeout": timeout}
    return store.from_url(
        url,
        client_options=client,
        retry_config={"max_retries": 0},  # the core counts attempts
    )


def _client_environment(url: str) -> dict[str, str]:
    """Read what the environment says of the HTTP client, by the names that obstore reads."""
    prefix = _PREFIXES[url.partition("://")[0]]
    options = {}
    for option in _CLIENT_OPTIONS:
        value = os.environ.get(f"{prefix}{option.upper()}")
        if value is not None:
            options[option] = value
    return options


def _asked(request: Callable[[], _Answer]) -> _Answer:
    """Make a request; tell what became of it in the core's words."""
    global _asking_process  # noqa: PLW0603 - one per process, as the library's threads are
    if _asking_process is None:
        _asking_process = os.getpid()
    if os.getpid() != _asking_process:  # the library would wait for threads that are not here
        raise ObjectError("refused", _FORKED)
    return _told(request)


def _told(request: Callable[[], _Answer]) -> _Answer:
    try:
        return request()
    except FileNotFoundError as error:
        raise ObjectError("missing", _first_line(error)) from error
    except exceptions.PreconditionError as error:
        raise ObjectError("changed", _first_line(error)) from error
    except (
        exceptions.InvalidPathError,
        exceptions.NotSupportedError,
        exceptions.PermissionDeniedError,
        exceptions.UnauthenticatedError,
        exceptions.UnknownConfigurationKeyError,
        ValueError,
    ) as error:
        raise ObjectError("refused", _first_line(error)) from error
    except (exceptions.BaseError, OSError) as error:
        raise ObjectError("failed", _first_line(error)) from error


def _first_line(error: Exception) -> str:
    """Leave out what the library adds for whoever debugs it."""
    return str(error).partition("\n")[0]
