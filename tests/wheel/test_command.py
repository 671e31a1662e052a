"""The command as the wheel installs it, with the packages of its extra."""

import json
import subprocess
import sys
from pathlib import Path

import dataset_rt as drt

COMMAND = Path(sys.prefix, "bin", "dataset-rt")


class Numbers:
    name = "numbers"

    def __iter__(self):
        for number in range(10):
            yield drt.CacheInput(str(number).encode(), {"number": number})


def test_installed_command_looks_at_a_cache(tmp_path: Path) -> None:
    quiet = drt.WriterConfig(show_progress=False)
    drt.DatasetRuntime(num_workers=1).write_cache(Numbers(), tmp_path, writer_config=quiet)
    done = subprocess.run(
        [COMMAND, "info", "--json", tmp_path], capture_output=True, text=True, check=True
    )
    (cache,) = json.loads(done.stdout)["caches"]
    assert (cache["source_name"], cache["row_count"]) == ("numbers", 10)


def test_installed_command_tells_its_version() -> None:
    told = subprocess.check_output([COMMAND, "--version"], text=True)
    assert told == f"dataset-rt {drt.__version__}\n"
