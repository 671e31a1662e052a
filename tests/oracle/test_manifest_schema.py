"""manifest.schema.json accepts what writers write and refuses what has another shape."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from cache_format import WriteOptions
from cache_format.writer import cache_files
from format_cases import plain_rows, typed_rows
from manifest_schema import faults

SOURCES = [
    (typed_rows(), WriteOptions(compression="lz4", max_shard_bytes=64, version="7")),
    (plain_rows(3), WriteOptions()),
    ([(b"", {})], WriteOptions(compression="lz4")),
]


def manifest(number: int = 0) -> dict[str, Any]:
    rows, options = SOURCES[number]
    return json.loads(cache_files("c", rows, options)["manifest.json"])


@pytest.mark.parametrize("number", range(len(SOURCES)))
def test_written_manifest_fits(number: int) -> None:
    assert faults(manifest(number)) == []


def test_every_key_is_described() -> None:
    assert faults({**manifest(), "unknown": {"key": 1}}) == []
    for key in manifest():
        short = {name: value for name, value in manifest().items() if name != key}
        assert faults(short) == ["$: required"]


@pytest.mark.parametrize(
    ("where", "change"),
    [
        ("$.format: const", lambda m: m.update(format="x")),
        ("$.format_version: const", lambda m: m.update(format_version=2)),
        ("$.features.compatible: maximum", lambda m: m["features"].update(compatible=2**64)),
        ("$.features.incompatible: const", lambda m: m["features"].update(incompatible=1)),
        ("$.source.name: pattern", lambda m: m["source"].update(name="..")),
        ("$.source.name: pattern", lambda m: m["source"].update(name="tMp")),
        ("$.source.name: pattern", lambda m: m["source"].update(name="a\\b")),
        ("$.source.name: pattern", lambda m: m["source"].update(name="")),
        ("$.source.version: type", lambda m: m["source"].update(version=1)),
        ("$.sample_count: minimum", lambda m: m.update(sample_count=0)),
        ("$.payload_bytes: type", lambda m: m.update(payload_bytes=True)),
        ("$.compression.algo: enum", lambda m: m["compression"].update(algo="zstd")),
        ("$.compression.ratio: minimum", lambda m: m["compression"].update(ratio=-0.5)),
        ("$.metadata_schema[0].name: not", lambda m: m["metadata_schema"][0].update(name="weight")),
        ("$.metadata_schema[1].type: enum", lambda m: m["metadata_schema"][1].update(type="i8")),
        ("$.files[3].path: pattern", lambda m: m["files"][3].update(path="shards/../x.bin")),
        ("$.files[0].xxh3_128: pattern", lambda m: m["files"][0].update(xxh3_128="g" * 32)),
        ("$.files: minItems", lambda m: m.update(files=m["files"][:3])),
        ("$.checksum: pattern", lambda m: m.update(checksum="0" * 33)),
    ],
)
def test_other_shape_is_named(where: str, change: Callable[[dict[str, Any]], object]) -> None:
    value = manifest()
    change(value)
    assert faults(value) == [where]


@pytest.mark.parametrize("name", ["tmpx", "...", ".hidden", "a b", "ключ", "TMP "])
def test_plain_names_fit(name: str) -> None:
    value = manifest()
    value["source"]["name"] = name
    assert faults(value) == []
