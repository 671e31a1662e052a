"""Result lines for tests, with the figures that matter to them."""

from __future__ import annotations

from benchmarks.harness.definitions import Definition, read_definition
from benchmarks.harness.lines import StepLine, TrialLine

TEXT = """
title = "Reading"
contenders = ["ours", "floor", "original-1", "original-2"]
[records]
rows = 100
payload_bytes = 64
[workload]
kind = "read"
[[targets]]
quantity = "speed"
over = "original"
at_least = 2.0
[[targets]]
quantity = "cpu"
over = "floor"
at_most = 1.2
[[targets]]
quantity = "switches"
at_most = 0.01
[[targets]]
quantity = "speed"
over = "lmdb"
at_least = 1.0
"""


def definition(text: str = TEXT) -> Definition:
    """The definition that the lines belong to."""
    (found,) = read_definition(text, "reading")
    return found


def line(
    contender: str, number: int, *, wall: int, cpu: int, profile: str = "release", switches: int = 0
) -> TrialLine:
    """One trial of 100 samples; times are microseconds per sample."""
    step = StepLine(
        samples=100,
        payload_bytes=6400,
        wall_ns=wall * 100_000,
        cpu_ns=cpu * 100_000,
        system_ns=0,
        voluntary_switches=switches,
        involuntary_switches=0,
        major_faults=0,
        private_growth_bytes=1 << 20,
    )
    return TrialLine(
        run="now",
        taken_at="2026-01-01T00:00:00+00:00",
        definition="reading",
        definition_digest=definition().digest(),
        kind="read",
        rows=100,
        payload_bytes=(64, 64),
        temperature="warm",
        contender=contender,
        group="original" if contender.startswith("original") else contender,
        options={},
        versions={contender: "1.0"},
        build_profile=profile,
        commit="0" * 40,
        round=number,
        place=0,
        load_average=0.5,
        copy_us=2.0 + number,
        machine={
            "processor": "a processor",
            "cores": 2,
            "memory_gib": 8,
            "system": "Linux",
            "file_system": "ext4",
            "virtual": False,
        },
        steps={"read": step},
    )


def lines() -> list[TrialLine]:
    """Three rounds; the machine is twice as slow in the last one."""
    found = []
    for number, slow in enumerate((1, 1, 2)):
        found += [
            line("ours", number, wall=10 * slow, cpu=6 * slow),
            line("floor", number, wall=8 * slow, cpu=4 * slow),
            line("original-1", number, wall=(40, 60, 50)[number] * slow, cpu=20 * slow),
            line("original-2", number, wall=(50, 30, 70)[number] * slow, cpu=30 * slow),
        ]
    return found
