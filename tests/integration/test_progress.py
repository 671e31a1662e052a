"""Progress of a write: a bar on a terminal, lines in a pipe, a bar in a notebook's cell."""

import os
import pty
import re
import subprocess
import sys
import types

import pytest
from command import read_all
from dataset_rt.progress import notebook_sink

WRITE = """
import sys
import dataset_rt as drt

class Numbers:
    def __init__(self, name):
        self.name = name

    def __iter__(self):
        for i in range(20_000):
            yield drt.CacheInput(b"x" * 10, {"i": i})

drt.DatasetRuntime(num_workers=2).write_cache([Numbers(name) for name in "abc"], sys.argv[1])
"""


def test_terminal_gets_a_bar_and_keeps_a_line_of_each_source(tmp_path) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", WRITE, str(tmp_path)]
    pipes = {"stderr": theirs, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env={**os.environ, "TERM": "xterm"}, **pipes) as child:
        os.close(theirs)
        shown = read_all(ours)
        out = child.stdout.read()
    os.close(ours)
    assert child.returncode == 0, shown
    assert out == ""
    assert "\x1b[" in shown
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown)
    for name in "abc":
        assert re.search(
            rf"\b{name}: 20,000 samples, .*samples/s, .*MB/s \(built\); [123]/3 sources", plain
        )
    assert "3/3 sources" in plain


REFUSE = """
import sys
import dataset_rt as drt

class Refusing:
    name = "train"

    def __iter__(self):
        raise ValueError("no label\\nin line 3")

if __name__ == "__main__":
    config = drt.WriterConfig(num_processes=int(sys.argv[2]))
    drt.DatasetRuntime(num_workers=1).write_cache(Refusing(), sys.argv[1], writer_config=config)
"""


@pytest.mark.parametrize("num_processes", ["0", "1"])
def test_line_of_a_source_that_failed_says_why(tmp_path, num_processes: str) -> None:
    program = tmp_path / "program.py"
    program.write_text(REFUSE)
    command = [sys.executable, str(program), str(tmp_path / "caches"), num_processes]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[-1] == "train: failed: ValueError: no label"


def test_notebook_gets_a_bar_that_is_updated_in_place(monkeypatch) -> None:
    class ZMQInteractiveShell:
        pass

    class Handle:
        def __init__(self) -> None:
            self.shown: list[dict[str, str]] = []

        def update(self, bundle, *, raw):
            assert raw
            self.shown.append(bundle)

    handle = Handle()
    shell = types.ModuleType("IPython")
    shell.get_ipython = ZMQInteractiveShell
    display = types.ModuleType("IPython.display")
    display.display = lambda *_bundle, **_options: handle
    monkeypatch.setitem(sys.modules, "ipykernel", types.ModuleType("ipykernel"))
    monkeypatch.setitem(sys.modules, "IPython", shell)
    monkeypatch.setitem(sys.modules, "IPython.display", display)

    show = notebook_sink()
    show("a <b>: 5 samples", 1, 3)
    show("one", 0, 1)
    assert handle.shown[0]["text/plain"] == "a <b>: 5 samples"
    assert 'value="1" max="3"' in handle.shown[0]["text/html"]
    assert "a &lt;b&gt;" in handle.shown[0]["text/html"]
    assert "<progress" not in handle.shown[1]["text/html"]


def test_nothing_but_a_notebook_has_a_sink(monkeypatch) -> None:
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    assert notebook_sink() is None
    shell = types.ModuleType("IPython")
    shell.get_ipython = lambda: None
    monkeypatch.setitem(sys.modules, "ipykernel", types.ModuleType("ipykernel"))
    monkeypatch.setitem(sys.modules, "IPython", shell)
    assert notebook_sink() is None
