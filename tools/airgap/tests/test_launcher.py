"""The launcher on machines that are made up: which way it goes, what it says when it cannot."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

TOOLS = Path("tools").absolute()
SYSTEM_PATH = "/usr/bin:/bin"


class Machine:
    """A home folder, and programs that stand before those of the system."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "bin").mkdir()
        self.environment = {
            "HOME": str(root),
            "PATH": f"{root / 'bin'}:{SYSTEM_PATH}",
            "XDG_CACHE_HOME": str(root / "cache"),
        }

    def program(self, name: str, script: str) -> None:
        path = self.root / "bin" / name
        path.write_text(f"#!/bin/bash\n{script}\n")
        path.chmod(0o755)

    def run(self, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            env=self.environment | environment,
            cwd=TOOLS.parent,
        )

    def bazel(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return self.run(str(TOOLS / "bazel"), *arguments, **environment)

    def function(self, script: str, **environment: str) -> subprocess.CompletedProcess[str]:
        names = ("lib", "host", "paths", "settings", "enter", "image", "modules")
        sources = "".join(f'. "$tools/airgap/{name}.sh"; ' for name in names)
        prelude = f"set -euo pipefail; tools={TOOLS}; {sources}"
        return self.run("bash", "-c", prelude + script, **environment)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_bazel_that_called_is_called_back_with_the_same_arguments(machine: Machine) -> None:
    machine.program("real", 'echo "$@"')
    real = str(machine.root / "bin" / "real")
    assert machine.bazel("test", "//...", BAZEL_REAL=real).stdout == "test //...\n"


def test_bazelisk_of_the_machine_is_used_where_the_registry_answers(machine: Machine) -> None:
    machine.program("curl", "exit 0")
    machine.program("bazelisk", 'echo "$@"')
    done = machine.bazel("test", "//a", DATASET_RT_BUILD_EVENTS="/tmp/events")
    assert done.stdout.startswith("test --disk_cache=")
    assert "--build_event_json_file=/tmp/events //a\n" in done.stdout


def test_commands_without_actions_get_no_cache_flags(machine: Machine) -> None:
    machine.program("curl", "exit 0")
    machine.program("bazelisk", 'echo "$@"')
    assert machine.bazel("version").stdout == "version\n"


def test_bazelisk_with_another_checksum_is_refused_and_not_kept(machine: Machine) -> None:
    machine.program("curl", 'while [ "$1" != --output ]; do shift; done; echo bad >"$2"')
    done = machine.function("fetch_bazelisk")
    assert done.returncode == 1
    assert "SHA-256" in done.stderr
    assert list((machine.root / "cache" / "dataset-rt").glob("bazelisk-*")) == []


def test_unknown_way_is_refused(machine: Machine) -> None:
    done = machine.bazel("version", DATASET_RT_BAZEL="docker")
    assert done.returncode == 1
    assert "may be host or airgap" in done.stderr


def test_mirror_is_the_one_that_apt_uses(machine: Machine) -> None:
    machine.program("apt-get", "echo http://mirror.example/debian/")
    assert machine.function("debian_mirror").stdout == "http://mirror.example/debian\n"


def test_mirror_of_the_environment_comes_first(machine: Machine) -> None:
    machine.program("apt-get", "echo http://mirror.example/debian/")
    done = machine.function("debian_mirror", DATASET_RT_DEBIAN_MIRROR="http://other.example/d/")
    assert done.stdout == "http://other.example/d\n"


def test_mirror_without_the_suite_is_named(machine: Machine) -> None:
    machine.program("curl", "exit 22")
    done = machine.function("check_mirror http://mirror.example/debian")
    assert done.returncode == 1
    assert "http://mirror.example/debian does not deliver the suite" in done.stderr


def test_failed_step_shows_the_end_of_its_log(machine: Machine) -> None:
    done = machine.function('step "2/5 base" "$HOME/log" bash -c "echo broken pipe; exit 7"')
    assert done.returncode == 7, done.stderr
    assert "  | broken pipe" in done.stderr


def test_second_start_waits_for_the_first(machine: Machine) -> None:
    script = """
    first() { touch "$HOME/in"; while [ ! -e "$HOME/go" ]; do sleep 0.05; done; echo first; }
    with_lock "$HOME/lock" "building" first &
    while [ ! -e "$HOME/in" ]; do sleep 0.05; done
    (sleep 0.5; touch "$HOME/go") &
    with_lock "$HOME/lock" "building" echo second
    wait
    """
    done = machine.function(script)
    assert done.stdout == "first\nsecond\n"
    assert "another start is building; waiting for it" in done.stderr


def test_overlay_for_another_version_is_refused_by_name(machine: Machine) -> None:
    script = 'mkdir -p "$image/opt"; echo "bazel-bootstrap 8.0" >"$image/opt/packages.txt"; '
    done = machine.function(script + "assemble_modules")
    assert done.returncode == 1
    assert "the image has bazel-bootstrap 8.0" in done.stderr


# A sandbox may show the processes of another namespace: the table is made up, the process is real.
SERVER = """
    processes=$HOME/proc
    sleep 60 &
    base=$output_root/$(printf %s "$workspace" | md5sum | cut -d' ' -f1)/server
    mkdir -p "$base" "$processes/$!" && echo $! >"$base/server.pid.txt"
"""


def test_server_of_another_image_is_ended(machine: Machine) -> None:
    script = """
    echo 'bazel(a)' >"$processes/$!/cmdline"
    server_pid || echo none
    kill -0 $! 2>/dev/null || echo ended
    """
    assert machine.function(SERVER + script).stdout == "none\nended\n"


def test_process_that_is_no_server_is_left_alone(machine: Machine) -> None:
    script = """
    echo 'sleep' >"$processes/$!/cmdline"
    server_pid || echo none
    kill $! && echo left
    """
    assert machine.function(SERVER + script).stdout == "none\nleft\n"


def test_proxies_reach_the_image_and_nothing_else_does(machine: Machine) -> None:
    done = machine.function("image_environment", https_proxy="http://proxy.example", SECRET="s")
    assert "https_proxy=http://proxy.example" in done.stdout
    assert "SECRET" not in done.stdout


def test_settings_of_pip_and_cargo_are_copied_and_taken_back(machine: Machine) -> None:
    settings = machine.root / ".cargo" / "config.toml"
    settings.parent.mkdir()
    settings.write_text("[net]\n")
    copied = machine.root / "image" / settings.relative_to("/")
    script = f'mkdir -p "{machine.root}/image/etc"; copy_settings "{machine.root}/image"'
    assert machine.function(script).returncode == 0
    assert copied.read_text() == "[net]\n"
    settings.unlink()
    assert machine.function(script).returncode == 0
    assert not copied.exists()
