"""Building the image: whole or absent, and clear words where it cannot be built."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from machine import Machine

# A build whose programs do next to nothing.
# At the point that STOP names, the launcher is killed, and then what it started.
BUILD = r"""
    point() {
      if [ "${STOP:-}" = "$1" ]; then touch "$root/stale"; kill -KILL $$; kill -KILL 0; fi
    }
    debootstrap() { root=$4; mkdir -p "$root/etc/apt/apt.conf.d" "$root/opt"; point "first stage"; }
    sync() { root=$2; point rename; }
    chown() { point owners; }
    sleep() { :; }
    enter() {
      root=$1
      case "$*" in
        *second-stage) point "second stage" ;;
        *apt-get\ install*) point packages ;;
        *cargo-bazel*) point generator ;;
        *) echo 'bash 5' >"$root/opt/packages.txt"; point record ;;
      esac
    }
    with_lock "$cache/image.lock" "building" build_image
    image_is_whole && echo whole
"""
POINTS = (
    "first stage",
    "second stage",
    "packages",
    "generator",
    "record",
    "owners",
    "rename",
)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    machine = Machine(tmp_path)
    machine.program("curl", "exit 0")
    machine.environment["DATASET_RT_DEBIAN_MIRROR"] = "http://mirror.example/debian"
    return machine


def images(machine: Machine) -> list[Path]:
    cache = machine.root / "cache" / "dataset-rt"
    return [path for path in cache.glob("bazel-image-*") if path.is_dir()]


@pytest.mark.parametrize("point", POINTS)
def test_build_killed_at_any_point_is_not_trusted_and_is_made_anew(
    machine: Machine, point: str
) -> None:
    killed = machine.function(BUILD, STOP=point)
    assert killed.returncode == -9, killed.stderr
    assert machine.function("image_is_whole || echo not").stdout == "not\n"
    assert [path.suffix for path in images(machine)] == [".tmp"]
    done = machine.function(BUILD)
    assert done.stdout == "whole\n", done.stderr
    (image,) = images(machine)
    assert image.suffix == ""
    assert not (image / "stale").exists()


def test_image_that_was_deleted_in_part_is_made_anew(machine: Machine) -> None:
    machine.function('mkdir -p "$image/usr/stale"')
    assert machine.function("image_is_whole || echo not").stdout == "not\n"
    assert machine.function(BUILD).stdout == "whole\n"
    (image,) = images(machine)
    assert not (image / "usr" / "stale").exists()


def test_image_of_another_recipe_is_named(machine: Machine) -> None:
    machine.function('mkdir -p "$cache/bazel-image-old"')
    done = machine.function(BUILD)
    assert "bazel-image-old" in done.stderr


def test_lock_is_held_until_the_last_process_of_a_killed_build_has_ended(machine: Machine) -> None:
    end = machine.root / "end"
    lock = machine.root / "lock"
    script = f"with_lock {lock} building bash -c 'kill -KILL $PPID; read -r _ <{end}'"
    machine.run("mkfifo", str(end))
    with subprocess.Popen(
        ["bash", "-c", f". {Path('tools/airgap/lib.sh').absolute()}; {script}"],
        env=machine.environment,
    ) as killed:
        assert killed.wait() == -9
    assert machine.run("flock", "--nonblock", str(lock), "true").returncode == 1
    end.write_text("now\n")
    assert machine.run("flock", str(lock), "true").returncode == 0


def test_full_disk_is_named(machine: Machine) -> None:
    full = BUILD.replace(
        "debootstrap() {", "debootstrap() { echo 'No space left on device'; exit 1; "
    )
    done = machine.function(full)
    assert done.returncode == 1
    assert "the disk is full" in done.stderr
    assert images(machine) == []


def test_too_little_room_is_said_before_anything_is_made(machine: Machine) -> None:
    machine.program("df", "echo Avail; echo 100")
    done = machine.function("need_space")
    assert done.returncode == 1
    assert "needs 6000 MB" in done.stderr
    assert "has 100 MB free" in done.stderr


def test_missing_debootstrap_is_named(machine: Machine) -> None:
    machine.program("id", "echo 1000")
    machine.hide("debootstrap")
    done = machine.function("need_debootstrap")
    assert done.returncode == 1
    assert "debootstrap is not installed" in done.stderr
    assert "apt-get install debootstrap" in done.stderr
