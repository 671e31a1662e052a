"""The reader and the writer of the original system's caches agree with each other and the text."""

import json
import math
import struct
from pathlib import Path

import pytest
from cache_format.refusal import FormatError
from format_cases import comparable, typed_rows
from original_format import OriginalOptions, cache_files, read_cache, write_cache
from original_format.writer import cache_id, json_text


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("compression", ["none", "lz4"])
@pytest.mark.parametrize("batch_rows", [0, 7])
def test_rows_come_back(tmp_path: Path, version: int, compression: str, batch_rows: int) -> None:
    options = OriginalOptions(version, compression, 1.0, 400, batch_rows)
    write_cache(tmp_path / "c", "typed", typed_rows(), options)
    cache = read_cache(tmp_path / "c")
    assert comparable(cache.rows) == comparable(typed_rows())
    assert len(cache.manifest["shards"]) > 3
    assert ("cache_id" in cache.manifest) == (version == 3)


def test_versions_differ_in_the_manifest_alone() -> None:
    files = [cache_files("n", typed_rows(), OriginalOptions(version)) for version in (2, 3)]
    assert files[0].keys() == files[1].keys()
    assert [name for name in files[0] if files[0][name] != files[1][name]] == ["manifest.json"]
    assert not files[0]["manifest.json"].endswith(b"\n")


def test_records_stand_back_to_back() -> None:
    rows = [(bytes(size), {"k": 1}) for size in (10, 1, 30, 0)]
    # The envelope has 8 + 7 bytes; a record that fits exactly stays in its shard.
    files = cache_files("n", rows, OriginalOptions(max_shard_bytes=41))
    assert list(struct.iter_unpack("<QQQ", files["index.bin"])) == [
        (0, 0, 25),
        (0, 25, 16),
        (1, 0, 45),
        (2, 0, 15),
    ]
    assert files["shards/000002.bin"] == struct.pack("<Q", 7) + b'{"k":1}'


def test_empty_payload_under_lz4_is_five_zero_bytes() -> None:
    files = cache_files("n", [(b"", {"k": 1})], OriginalOptions(compression="lz4"))
    assert files["shards/000000.bin"] == struct.pack("<Q", 7) + b'{"k":1}' + bytes(5)


def test_envelopes_have_the_text_of_the_original() -> None:
    metadata = {"b": 1.0, "a": [1e20, 1e-7, math.nan, -math.inf, 1e16, 1e-5, -1.25e-5]}
    texts = [json_text({"a": value}) for value in metadata["a"]]
    expected = ["1e+20", "1e-7", "null", "null", "1e+16", "0.00001", "-0.0000125"]
    assert texts == [f'{{"a":{text}}}' for text in expected]
    assert json_text({"ü": "ö/\n", "b": 1.0, "a": True}) == '{"a":true,"b":1.0,"ü":"ö/\\n"}'


def test_stored_identity_is_of_the_name_alone() -> None:
    assert cache_id("typed") == 2475266074517215969
    assert cache_id("n") < 2**63


def test_damage_is_refused(tmp_path: Path) -> None:
    write_cache(tmp_path, "n", typed_rows(5))
    for name in ("index.bin", "metadata.arrow", "shards/000000.bin"):
        intact = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(intact[:-1] + bytes([intact[-1] ^ 1]))
        with pytest.raises(FormatError):
            read_cache(tmp_path)
        (tmp_path / name).write_bytes(intact)
    manifest = json.loads((tmp_path / "manifest.json").read_bytes())
    manifest["shards"][0]["name"] = "../000000.bin"
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(FormatError):
        read_cache(tmp_path)
