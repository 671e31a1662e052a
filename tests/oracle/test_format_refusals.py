"""What FORMAT.md says a reader must refuse, the oracle refuses."""

import contextlib
import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cache_format import Cache, FormatError, OriginalFormatError, UnsupportedError, WriteOptions
from cache_format.hashes import content_digest, file_digest
from cache_format.json_text import decode_strict, encode_sealed, is_integer
from cache_format.manifest import decode_manifest, decode_origin
from cache_format.reader import check_blocks
from cache_format.writer import cache_files, encode_blocks
from format_cases import typed_rows

FILES = cache_files("c", typed_rows(), WriteOptions(compression="lz4", max_shard_bytes=200))
MANIFEST = json.loads(FILES["manifest.json"])


def edited(change: Callable[[dict[str, Any]], object]) -> bytes:
    """The manifest after an edit, under digests that fit."""
    manifest = json.loads(FILES["manifest.json"])
    change(manifest)
    manifest.pop("checksum", None)
    if manifest["content_digest"] == MANIFEST["content_digest"]:
        listed = [(entry["path"], entry["bytes"], entry["xxh3_128"]) for entry in manifest["files"]]
        with contextlib.suppress(ValueError, TypeError, struct.error):
            manifest["content_digest"] = content_digest(manifest["sample_count"], listed)
    return encode_sealed(manifest)


def test_edit_without_change_is_accepted() -> None:
    assert edited(lambda _: None) == FILES["manifest.json"]
    assert decode_manifest(edited(lambda m: m.update(new={"key": [1, None]})))


@pytest.mark.parametrize("cut", [1, 3, 40, 400])
def test_cut_manifest_is_refused(cut: int) -> None:
    with pytest.raises(FormatError):
        decode_manifest(FILES["manifest.json"][:-cut])


@pytest.mark.parametrize("at", range(0, len(FILES["manifest.json"]), 37))
def test_changed_byte_of_the_manifest_is_refused(at: int) -> None:
    text = bytearray(FILES["manifest.json"])
    text[at] ^= 1
    with pytest.raises(FormatError):
        decode_manifest(bytes(text))


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m.update(format="other"),
        lambda m: m.update(format=1),
        lambda m: m.update(format_version=0),
        lambda m: m.update(format_version="1"),
        lambda m: m.update(format_version=1.0),
        lambda m: m.pop("features"),
        lambda m: m["features"].pop("compatible"),
        lambda m: m["features"].update(read_only=-1),
        lambda m: m["features"].update(read_only=2**64),
        lambda m: m["source"].update(name=""),
        lambda m: m["source"].update(name=".."),
        lambda m: m["source"].update(name="Tmp"),
        lambda m: m["source"].update(name="a/b"),
        lambda m: m["source"].update(name="a\\b"),
        lambda m: m["source"].update(name="a\0"),
        lambda m: m["source"].update(version=3),
        lambda m: m["source"].pop("version"),
        lambda m: m.update(features=list(m["features"].values())),
        lambda m: m.update(sample_count=0),
        lambda m: m.update(sample_count=41),
        lambda m: m.update(payload_bytes=True),
        lambda m: m["compression"].update(algo="zstd"),
        lambda m: m["compression"].update(ratio=-1),
        lambda m: m["compression"].update(ratio=None),
        lambda m: m["metadata_schema"].reverse(),
        lambda m: m["metadata_schema"].append(m["metadata_schema"][-1]),
        lambda m: m["metadata_schema"].insert(4, {"name": "weight", "type": "bool"}),
        lambda m: m["metadata_schema"][0].update(type="int32"),
        lambda m: m["files"].pop(2),
        lambda m: m["files"].pop(0),
        lambda m: m["files"].reverse(),
        lambda m: m["files"][3].update(path="shards/../../x"),
        lambda m: m["files"][3].update(path="/etc/passwd"),
        lambda m: m["files"][1].update(bytes=1248),
        lambda m: m["files"][3].update(bytes=1.5),
        lambda m: m["files"][3].update(xxh3_128="A" * 32),
        lambda m: m["files"][3].update(xxh3_128="0" * 31),
        lambda m: m.update(content_digest="0" * 32),
    ],
)
def test_illegal_manifest_is_refused(change: Callable[[dict[str, Any]], object]) -> None:
    with pytest.raises(FormatError) as refusal:
        decode_manifest(edited(change))
    assert not isinstance(refusal.value, UnsupportedError | OriginalFormatError)


@pytest.mark.parametrize("text", ["-0", "1.0", "1e3", "-1", "18446744073709551616", "true"])
def test_other_number_is_no_integer(text: str) -> None:
    assert not is_integer(decode_strict("manifest.json", text.encode()))
    assert is_integer(decode_strict("manifest.json", b"18446744073709551615"))


def test_other_versions_are_told_apart() -> None:
    with pytest.raises(OriginalFormatError):
        decode_manifest(json.dumps({"format_version": 3}).encode())
    with pytest.raises(UnsupportedError):
        decode_manifest(json.dumps({"format": "dataset_rt", "format_version": 2}).encode())
    with pytest.raises(UnsupportedError):
        decode_manifest(edited(lambda m: m["features"].update(incompatible=8)))


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "a": 1}',
        '{"x": {"a": 1, "b": [{"\\u0061": 1, "a": 2}]}}',
        '{"a": NaN}',
        '{"a": Infinity}',
        '{"a": 1e999}',
        '{"a": "\\ud800"}',
        '{"a": 1} x',
        '{"a": 1,}',
        "\ufeff{}",
        "",
        "[" * 100_000,
    ],
)
def test_text_that_is_not_strict_json_is_refused(text: str) -> None:
    with pytest.raises(FormatError):
        decode_strict("manifest.json", text.encode())


@pytest.mark.parametrize(
    "created_at",
    [
        "2026-02-29T00:00:00Z",
        "2026-1-02T03:04:05Z",
        "2026-01-02 03:04:05Z",
        "2026-01-02T03:04:05+00:00",
        "1969-12-31T23:59:59Z",
        7,
    ],
)
def test_illegal_origin_is_refused(created_at: object) -> None:
    good = {"created_at": "2024-02-29T00:00:00Z", "writer_version": "1"}
    assert decode_origin(encode_sealed(good))
    with pytest.raises(FormatError):
        decode_origin(encode_sealed({**good, "created_at": created_at}))


@pytest.mark.parametrize("row_ends", [[], [0, 40], [41], [39], [20, 20, 40], [30, 20, 40]])
def test_illegal_row_ends_are_refused(row_ends: list[int]) -> None:
    blocks = encode_blocks(FILES["index.bin"], FILES["metadata.arrow"], row_ends)
    with pytest.raises(FormatError):
        check_blocks({**FILES, "blocks.bin": blocks}, 40)


@pytest.mark.parametrize("name", ["blocks.bin", "index.bin", "metadata.arrow"])
def test_changed_byte_below_a_block_checksum_is_refused(name: str) -> None:
    for at in [*range(0, len(FILES[name]), 61), len(FILES[name]) - 1]:
        damaged = bytearray(FILES[name])
        damaged[at] ^= 0x10
        with pytest.raises(FormatError):
            check_blocks({**FILES, name: bytes(damaged)}, 40)


def write(directory: Path, files: dict[str, bytes]) -> Path:
    for path, data in files.items():
        (directory / path).parent.mkdir(parents=True, exist_ok=True)
        (directory / path).write_bytes(data)
    return directory


def test_missing_or_cut_file_is_refused_at_open(tmp_path: Path) -> None:
    for number, path in enumerate(FILES.keys() - {"manifest.json", "origin.json"}):
        files = dict(FILES)
        files.pop(path)
        with pytest.raises(FormatError):
            Cache.open(write(tmp_path / f"missing{number}", files))
        with pytest.raises(FormatError):
            Cache.open(write(tmp_path / f"cut{number}", {**FILES, path: FILES[path][:-1]}))


def test_cache_without_origin_is_complete(tmp_path: Path) -> None:
    files = {path: data for path, data in FILES.items() if path != "origin.json"}
    cache = Cache.open(write(tmp_path / "c", files))
    cache.verify()
    assert cache.origin is None


def test_changed_record_is_refused_when_it_is_read(tmp_path: Path) -> None:
    shard = bytearray(FILES["shards/000002.bin"])
    shard[5] ^= 4
    cache = Cache.open(write(tmp_path / "c", {**FILES, "shards/000002.bin": bytes(shard)}))
    rows = [cache.index_row(number) for number in range(len(cache))]
    (damaged,) = (
        number
        for number, row in enumerate(rows)
        if row.shard == 2 and row.offset <= 5 < row.offset + row.stored_bytes
    )
    with pytest.raises(FormatError):
        cache.sample(damaged)
    assert cache.sample(damaged - 1)
    assert cache.sample(damaged + 1)


@pytest.mark.parametrize(
    "change",
    [
        {"codec": 2},
        {"zeros": b"\0\1\0"},
        {"raw_bytes": 10**9},
        {"raw_bytes": 0},
        {"offset": 2**64 - 1},
        {"offset": 190},
        {"shard": 10**6},
    ],
)
def test_illegal_index_row_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    cache = Cache.open(write(tmp_path / "c", FILES))
    number = next(n for n in range(len(cache)) if cache.index_row(n).codec == 1)
    row = {**cache.index_row(number)._asdict(), "zeros": b"\0\0\0", **change}
    order = ("shard", "codec", "zeros", "offset", "stored_bytes", "raw_bytes", "checksum")
    packed = struct.pack("<IB3sQIIQ", *(row[field] for field in order))
    index = FILES["index.bin"]
    cache.files["index.bin"] = index[: 32 * number] + packed + index[32 * number + 32 :]
    with pytest.raises(FormatError):
        cache.index_row(number)


def test_exchanged_rows_are_refused_by_the_seed(tmp_path: Path) -> None:
    cache = Cache.open(write(tmp_path / "c", FILES))
    index = FILES["index.bin"]
    cache.files["index.bin"] = index[32:64] + index[:32] + index[64:]
    with pytest.raises(FormatError):
        cache.sample(0)


def test_gap_between_records_is_found_by_verification(tmp_path: Path) -> None:
    files = cache_files("c", [(b"abcd", {}), (b"", {}), (b"ef", {})], WriteOptions())
    cache = Cache.open(write(tmp_path / "c", files))
    index = bytearray(files["index.bin"])
    # The empty record may stand anywhere as far as it alone can show.
    index[32 + 8] = 3
    cache.files["index.bin"] = bytes(index)
    cache.manifest["files"][1]["xxh3_128"] = file_digest(bytes(index))
    assert cache.sample(1).payload == b""
    with pytest.raises(FormatError):
        cache.verify()


def test_other_sum_of_payloads_is_found_by_verification(tmp_path: Path) -> None:
    cache = Cache.open(write(tmp_path / "c", FILES))
    cache.manifest["payload_bytes"] += 1
    with pytest.raises(FormatError):
        cache.verify()
