"""Users other than root: what they are given and told, and what a killed start leaves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from machine import PRELUDE, Machine

SHOW = 'echo "mounts ${own_mounts[*]}"; need_owners; echo "files ${own_files[*]}"'
# an unshare that gives what its last lines say
ROOT = "exit 0"
USER = 'case "$*" in *--help) echo --map-auto ;; --user*) exit 0 ;; *) exit 1 ;; esac'
USER_WITHOUT_RANGE = USER.replace("--user*", "*--map-auto*) exit 1 ;; --user*")
USER_WITH_OLD_TOOLS = USER.replace("echo --map-auto", "exit 0").replace(
    "--user*", "*version) echo 2.37 ;; --user*"
)
REFUSED = "exit 1"


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    machine = Machine(tmp_path)
    machine.program("newuidmap", "exit 0")
    # not every system that runs tests has this program; the C library has the call
    call = "import ctypes, sys; ctypes.CDLL(None).pivot_root(*map(str.encode, sys.argv[1:]))"
    machine.program("pivot_root", f"exec {sys.executable} -c '{call}' \"$@\"")
    return machine


def test_root_needs_no_namespace_of_users(machine: Machine) -> None:
    machine.program("unshare", ROOT)
    assert machine.function(f"need_mounts; {SHOW}").stdout == "mounts \nfiles \n"


def test_user_has_what_root_has_in_a_namespace(machine: Machine) -> None:
    machine.program("unshare", USER)
    expected = "mounts --user --map-root-user\nfiles --map-auto\n"
    assert machine.function(f"need_mounts; {SHOW}").stdout == expected


@pytest.mark.parametrize(
    ("switch", "value", "advice"),
    [
        ("user/max_user_namespaces", "0", "user.max_user_namespaces=15000"),
        ("kernel/unprivileged_userns_clone", "0", "kernel.unprivileged_userns_clone=1"),
        (
            "kernel/apparmor_restrict_unprivileged_userns",
            "1",
            "kernel.apparmor_restrict_unprivileged_userns=0",
        ),
        ("user/max_user_namespaces", "15000", "--privileged"),
    ],
)
def test_refusal_names_the_switch_that_refuses(
    machine: Machine, switch: str, value: str, advice: str
) -> None:
    machine.program("unshare", REFUSED)
    path = machine.root / "sys" / switch
    path.parent.mkdir(parents=True)
    path.write_text(f"{value}\n")
    done = machine.function("kernel_settings=$HOME/sys; need_mounts")
    assert done.returncode == 1
    assert "user namespaces are refused" in done.stderr
    assert advice in done.stderr


@pytest.mark.parametrize("tool", ["flock", "nsenter", "unshare"])
def test_missing_tool_is_named(machine: Machine, tool: str) -> None:
    machine.hide(tool)
    done = machine.function("need_mounts")
    assert done.returncode == 1
    assert f"{tool} is not installed" in done.stderr


def test_missing_newuidmap_is_named(machine: Machine) -> None:
    machine.hide("newuidmap")
    (machine.root / "bin" / "newuidmap").unlink()
    machine.program("unshare", USER)
    done = machine.function("need_mounts; need_owners")
    assert done.returncode == 1
    assert "apt-get install uidmap" in done.stderr


def test_user_without_a_range_is_told_how_to_get_one(machine: Machine) -> None:
    machine.program("unshare", USER_WITHOUT_RANGE)
    done = machine.function("user=alice; need_mounts; need_owners")
    assert done.returncode == 1
    assert "alice has no range" in done.stderr
    assert "usermod --add-subuids 100000-165535 --add-subgids 100000-165535 alice" in done.stderr


def test_old_unshare_is_named(machine: Machine) -> None:
    machine.program("unshare", USER_WITH_OLD_TOOLS)
    done = machine.function("need_mounts; need_owners")
    assert done.returncode == 1
    assert "util-linux 2.38 or newer, this is 2.37" in done.stderr


def test_image_of_another_user_is_not_used(machine: Machine) -> None:
    made = 'mkdir -p "$image"; choose_image; echo "${image##*-}"'
    own = machine.function(f"user=alice; {made}").stdout
    assert machine.function(f"user=alice; is_own() {{ false; }}; {made}").stdout == "alice\n"
    assert own != "alice\n"


def test_killed_launcher_takes_the_build_with_it(machine: Machine) -> None:
    reader, writer = os.pipe()
    build = f"sleep 600 & echo up >&{writer}; wait"
    script = f"need_mounts; in_own_processes bash -c '{build}'; echo no"
    launcher = subprocess.Popen(
        ["bash", "-c", PRELUDE + script],
        env=machine.environment,
        pass_fds=[writer],
        stdout=subprocess.PIPE,
    )
    os.close(writer)
    with os.fdopen(reader, "rb") as alive:
        assert alive.readline() == b"up\n"
        launcher.send_signal(signal.SIGKILL)
        # the pipe ends when the last process that holds it does
        assert alive.read() == b""
    assert launcher.communicate()[0] == b""


def test_entering_leaves_no_mount_behind(machine: Machine) -> None:
    root = machine.root / "image"
    for name in ("usr", "etc", "proc", "dev", "sys", "tmp"):
        (root / name).mkdir(parents=True)
    for name in ("bin", "lib", "lib64", "sbin"):
        if Path("/usr", name).exists():
            (root / name).symlink_to(f"usr/{name}")
    script = f"""
    mount --rbind /usr {root}/usr
    before=$(</proc/self/mounts)
    enter {root} bash -c 'echo "$PWD"; ls /host'
    [ "$before" = "$(</proc/self/mounts)" ] && echo same
    """
    flags = machine.function('need_mounts; printf "%s\n" "${own_mounts[@]}"').stdout.split()
    done = machine.run("unshare", *flags, "--mount", "bash", "-c", PRELUDE + script)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{Path.cwd()}\nsame\n"
