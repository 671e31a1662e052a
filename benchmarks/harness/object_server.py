"""The object store of a definition, as the harness holds it."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from benchmarks.harness.session import python_path

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    from benchmarks.harness.environments import Environment

_GRACE_SECONDS = 20


class ObjectServer:
    """A server that runs meanwhile; it is never stopped for a measurement.

    Args:
        environment: Whose interpreter runs it.
        root: Folder that holds the package ``benchmarks``.

    Attributes:
        variables: What leads a client of S3 to it.
    """

    def __init__(self, environment: Environment, root: Path) -> None:
        self._process = subprocess.Popen(
            [str(environment.python), "-m", "benchmarks.trial.object_server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": python_path(environment, root)},
            text=True,
        )
        told = self._process.stdout.readline() if self._process.stdout else ""
        if not told:
            raise RuntimeError(f"the object store ended with status {self._process.wait()}")
        url = f"http://127.0.0.1:{int(told)}"
        self.variables = {
            "AWS_ACCESS_KEY_ID": "benchmarks",
            "AWS_SECRET_ACCESS_KEY": "benchmarks",
            "AWS_REGION": "us-east-1",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ALLOW_HTTP": "true",
            "AWS_ENDPOINT_URL": url,
            "S3_ENDPOINT_URL": url,
        }

    def __enter__(self) -> ObjectServer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._process.communicate(timeout=_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            print("the object store did not end and is killed", file=sys.stderr)
            self._process.kill()
            self._process.communicate()
