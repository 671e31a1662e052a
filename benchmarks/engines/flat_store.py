"""The floor's files: one flat file per column, samples of all caches back to back."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from benchmarks.trial.records import Record

OFFSETS = "offsets.bin"
PAYLOAD = "payload.bin"


def write_flat_store(directory: Path, caches: Sequence[Iterable[Record]]) -> None:
    """Write payloads and the four metadata columns, little-endian, without any checksum."""
    directory.mkdir(parents=True)
    offsets, name_offsets = array("Q", [0]), array("Q", [0])
    flags, labels, scores = bytearray(), array("q"), array("d")
    with (directory / PAYLOAD).open("wb") as payload, (directory / "name.bin").open("wb") as names:
        for records in caches:
            for data, metadata in records:
                payload.write(data)
                offsets.append(offsets[-1] + len(data))
                name = str(metadata["name"]).encode()
                names.write(name)
                name_offsets.append(name_offsets[-1] + len(name))
                flags.append(bool(metadata["flag"]))
                labels.append(int(metadata["label"]))
                scores.append(float(metadata["score"]))
    (directory / OFFSETS).write_bytes(offsets.tobytes())
    (directory / "name_offsets.bin").write_bytes(name_offsets.tobytes())
    (directory / "flag.bin").write_bytes(flags)
    (directory / "label.bin").write_bytes(labels.tobytes())
    (directory / "score.bin").write_bytes(scores.tobytes())
