"""The launcher on machines that are made up: which way it goes, what it says when it cannot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from machine import Machine

if TYPE_CHECKING:
    from pathlib import Path


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


def test_help_is_the_page_and_makes_nothing(machine: Machine) -> None:
    for flag in ("--help", "-h"):
        done = machine.bazel(flag)
        assert done.returncode == 0, done.stderr
        for word in ("BAZEL_REAL", "DATASET_RT_BAZEL", "XDG_CACHE_HOME", "tools/bazel help"):
            assert word in done.stdout
        assert f"{machine.root}/cache/dataset-rt/bazel" in done.stdout
    assert not (machine.root / "cache").exists()


def test_help_of_bazel_comes_after_the_page(machine: Machine) -> None:
    machine.program("curl", "exit 0")
    machine.program("bazelisk", 'echo "$@"')
    for arguments in ((), ("help",)):
        done = machine.bazel(*arguments)
        assert done.stdout == "help\n"
        assert "DATASET_RT_DEBIAN_MIRROR" in done.stderr


def test_help_on_a_command_is_that_of_bazel_alone(machine: Machine) -> None:
    machine.program("curl", "exit 0")
    machine.program("bazelisk", 'echo "$@"')
    done = machine.bazel("help", "build")
    assert (done.stdout, done.stderr) == ("help build\n", "")


def test_cache_that_cannot_be_written_is_named(machine: Machine) -> None:
    (machine.root / "cache").write_text("a file")
    done = machine.bazel("version")
    assert done.returncode == 1
    assert f"cannot write to the cache directory {machine.root}/cache/dataset-rt" in done.stderr
    assert "set XDG_CACHE_HOME" in done.stderr


def test_missing_home_is_named(machine: Machine) -> None:
    done = machine.bazel("version", HOME="")
    assert done.returncode == 1
    assert "HOME is not set" in done.stderr


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
