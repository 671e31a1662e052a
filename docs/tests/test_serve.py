"""The server: it says where it is, gives the pages, and ends quietly by Ctrl-C."""

import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

SERVE = Path("tools/site/serve.py")
SITE = os.environ["DRT_SITE"]


def start(*options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, SERVE, SITE, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("way", [signal.SIGINT, signal.SIGTERM])
def test_pages_are_served_until_it_is_stopped(way: signal.Signals) -> None:
    with start("--port=0") as server:
        address = server.stdout.readline().split()[0]
        assert address.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(address) as answer:
            assert b"<title>dataset_rt " in answer.read()
        with pytest.raises(urllib.error.HTTPError):
            urllib.request.urlopen(address + "no-such-page.html")
        server.send_signal(way)
        _, said = server.communicate()
    assert server.returncode == 0
    assert "Traceback" not in said


def test_a_port_that_is_taken_is_named() -> None:
    with start("--port=0") as first:
        port = first.stdout.readline().split()[0].rstrip("/").rpartition(":")[2]
        with start(f"--port={port}") as second:
            _, said = second.communicate()
        assert second.returncode == 1
        assert f"port {port}" in said
        assert said.count("\n") == 1
        first.terminate()
