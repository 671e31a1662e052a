"""The oracle reads every golden cache and finds the rows it was written from."""

import json
from pathlib import Path
from typing import Any

import pytest
from cache_format import Cache, WriteOptions
from cache_format.writer import cache_files
from format_cases import comparable, plain_rows, typed_rows
from manifest_schema import faults

GOLDEN = Path(__file__).parents[1] / "golden" / "caches" / "v1"
ROWS: dict[str, list[Any]] = {
    "typed-none": typed_rows(),
    "typed-lz4": typed_rows(),
    "plain-none": plain_rows(5),
    "empty-lz4": [(b"", {})],
    "oracle-none": typed_rows(),
    "oracle-lz4": typed_rows(),
}
TYPED = WriteOptions(version="v 1 ✓", max_shard_bytes=200, batch_rows=7)
# Caches with raw records: the format prescribes every byte but those of metadata.arrow.
OPTIONS = {"typed-none": TYPED, "plain-none": WriteOptions(batch_rows=2)}


def test_every_golden_cache_is_known() -> None:
    assert {folder.name for folder in GOLDEN.iterdir() if folder.is_dir()} == ROWS.keys()


@pytest.mark.parametrize("name", ROWS)
def test_golden_cache_holds_its_rows(name: str) -> None:
    cache = Cache.open(GOLDEN / name)
    cache.verify()
    assert comparable(cache.samples()) == comparable(ROWS[name])
    assert cache.origin is not None
    assert cache.manifest["compression"]["algo"] == name.split("-")[1]


@pytest.mark.parametrize("name", ROWS)
def test_golden_manifest_fits_the_schema(name: str) -> None:
    assert faults(json.loads((GOLDEN / name / "manifest.json").read_bytes())) == []


@pytest.mark.parametrize("name", OPTIONS)
def test_prescribed_bytes_are_the_same(name: str) -> None:
    files = cache_files(name.split("-", maxsplit=1)[0], ROWS[name], OPTIONS[name])
    for path in ["index.bin", "origin.json", *(p for p in files if p.startswith("shards/"))]:
        assert (GOLDEN / name / path).read_bytes() == files[path], path
    manifest = json.loads((GOLDEN / name / "manifest.json").read_bytes())
    text = json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"
    assert (GOLDEN / name / "manifest.json").read_bytes() == text.encode()
