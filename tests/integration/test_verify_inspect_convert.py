"""verify, inspect and convert: facts and findings as values, what is no cache as errors."""

import hashlib
import json
import pickle
import struct
from pathlib import Path

import dataset_rt as drt
import pyarrow as pa
import pytest
from cache_format import WriteOptions, hashes
from cache_format.json_text import encode_sealed
from cache_format.writer import cache_files, encode_blocks, encode_manifest
from original_format import write_cache as write_original
from support import leftovers, numbered, payload, versioned, write_ok

GOLDEN = Path(__file__).parents[1] / "golden" / "caches"


def flip(file: Path, at: int) -> None:
    data = bytearray(file.read_bytes())
    data[at] ^= 0x20
    file.write_bytes(bytes(data))


def test_intact_cache_has_no_findings(runtime: drt.DatasetRuntime, tmp_path: Path) -> None:
    path = write_ok(runtime, numbered(50), tmp_path, max_shard_bytes=300).path
    seen: list[tuple[int, int]] = []
    report = drt.verify(path, num_workers=3, progress=lambda *counts: seen.append(counts))
    assert report.is_intact
    assert (report.path, report.row_count, report.damages) == (path, 50, ())
    sizes = [f.stat().st_size for f in path.rglob("*") if f.suffix in {".bin", ".arrow"}]
    assert (report.file_count, report.byte_count) == (len(sizes), sum(sizes))
    assert seen[-1] == (sum(sizes), sum(sizes))
    assert seen == sorted(seen)


def test_every_damage_is_named(runtime: drt.DatasetRuntime, tmp_path: Path) -> None:
    path = write_ok(runtime, numbered(20), tmp_path, max_shard_bytes=100).path
    dataset = runtime.cached_dataset([path], reader_config=drt.ReaderConfig(seed=1))
    assert dataset.get_item(0, 3).data == payload(3)
    shards = sorted((path / "shards").iterdir())
    places = {}
    for sample_id in (3, 11, 12):
        (shard,) = [s for s in shards if payload(sample_id) in s.read_bytes()]
        places[sample_id] = (shard, shard.read_bytes().index(payload(sample_id)))
    for shard, at in places.values():
        flip(shard, at)
    report = drt.verify(path)
    assert not report.is_intact
    assert report.damaged_sample_ids == [3, 11, 12]
    for damage in report.damages:
        error = damage.error
        first = damage.sample_ids[0]
        shard, at = places[first]
        assert isinstance(error, drt.CorruptCacheError)
        assert (error.path, error.sample_id) == (str(path), first)
        assert error.shard == int(shard.stem)
        assert error.byte_range == (at, at + len(payload(first)))
        assert error.expected != error.found
    assert pickle.loads(pickle.dumps(report)).damaged_sample_ids == [3, 11, 12]


def test_cache_too_damaged_to_open_is_a_finding(
    runtime: drt.DatasetRuntime, tmp_path: Path
) -> None:
    path = write_ok(runtime, numbered(20), tmp_path, max_shard_bytes=100).path
    (path / "shards" / "000001.bin").unlink()
    (path / "shards" / "000002.bin").write_bytes(b"")
    flip(path / "blocks.bin", 45)
    report = drt.verify(path)
    files = ["blocks.bin", "shards/000001.bin", "shards/000002.bin"]
    assert [damage.error.file for damage in report.damages] == files
    with pytest.raises(drt.CorruptCacheError):
        runtime.cached_dataset([path], reader_config=drt.ReaderConfig(seed=1))


def test_what_is_no_cache_is_raised(runtime: drt.DatasetRuntime, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for use in (drt.verify, drt.inspect, lambda path: drt.convert(path, tmp_path / "out")):
        with pytest.raises(drt.DatasetError) as caught:
            use(tmp_path / "folder")
        assert caught.value.kind == "NotFound"
        with pytest.raises(FileNotFoundError):
            use(tmp_path / "nothing")
    path = write_ok(runtime, numbered(3), tmp_path).path
    flip(path / "manifest.json", 60)
    for use in (drt.verify, drt.inspect, lambda path: drt.convert(path, tmp_path / "out")):
        with pytest.raises(drt.CorruptCacheError):
            use(path)
    for wrong in (0, -1, 2000):
        with pytest.raises(drt.InvalidConfigError):
            drt.verify(path, num_workers=wrong)
    assert not (tmp_path / "out").exists()


def write_files(folder: Path, files: dict[str, bytes]) -> Path:
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    return folder


ROWS = [(b"payload", {"k": number}) for number in range(3)]


def test_sum_of_payload_lengths_is_compared(tmp_path: Path) -> None:
    files = cache_files("c", ROWS, WriteOptions())
    manifest = json.loads(files["manifest.json"])
    del manifest["checksum"]
    manifest["payload_bytes"] += 1
    files["manifest.json"] = encode_sealed(manifest)
    (damage,) = drt.verify(write_files(tmp_path / "c", files)).damages
    assert damage.sample_ids is None
    assert damage.error.file == "manifest.json"
    assert (damage.error.expected, damage.error.found) == ("21", "22")


def test_validity_bits_are_looked_at(tmp_path: Path) -> None:
    schema = pa.schema([pa.field("k", pa.int64(), nullable=False)])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, schema) as file:
        column = pa.array([7, None, 9], pa.int64())
        file.write_batch(pa.RecordBatch.from_arrays([column], schema=schema))
    metadata = bytearray(sink.getvalue().to_pybytes())
    # The header of the column says then that none of its three values is null.
    at = metadata.index(struct.pack("<qq", 3, 1))
    metadata[at : at + 16] = struct.pack("<qq", 3, 0)
    files = cache_files("c", ROWS, WriteOptions())
    data = {name: files[name] for name in ("index.bin", "shards/000000.bin")}
    data["metadata.arrow"] = bytes(metadata)
    data["blocks.bin"] = encode_blocks(data["index.bin"], data["metadata.arrow"], [3])
    manifest = encode_manifest("c", ROWS, [("k", "int64")], data, WriteOptions())
    report = drt.verify(write_files(tmp_path / "c", data | {"manifest.json": manifest}))
    assert report.damaged_sample_ids == [1]
    assert report.damages[0].error.file == "metadata.arrow"


def test_inspection_tells_what_the_manifest_says(
    runtime: drt.DatasetRuntime, tmp_path: Path
) -> None:
    source = versioned("numbers", numbered(20).rows, "v 3")
    config = {"shard_compression": drt.ShardCompression(algo="lz4"), "max_shard_bytes": 200}
    made = write_ok(runtime, source, tmp_path, **config)
    facts = drt.inspect(made.path)
    assert (facts.path, facts.format, facts.format_version) == (made.path, "dataset_rt", 1)
    assert (facts.source_name, facts.source_version) == ("numbers", "v 3")
    assert (facts.row_count, facts.compression) == (20, "lz4")
    assert facts.payload_bytes == sum(len(payload(i)) for i in range(20))
    shards = [file for file in facts.files if file.name.startswith("shards/")]
    assert facts.stored_bytes == sum(file.byte_count for file in shards)
    assert [file.name for file in facts.files[:3]] == ["blocks.bin", "index.bin", "metadata.arrow"]
    for file in facts.files:
        data = (made.path / file.name).read_bytes()
        assert (file.byte_count, file.digest) == (
            len(data),
            f"xxh3_128:{hashes.file_digest(data)}",
        )
    assert list(facts.metadata_schema.items()) == [
        ("flag", "bool"),
        ("label", "int64"),
        ("quality", "float64"),
        ("split", "string"),
    ]
    assert (facts.created_at, facts.writer_version) == (made.created_at, drt.__version__)
    moved = made.path.rename(tmp_path / "moved")
    assert drt.inspect(moved).content_digest == facts.content_digest
    # It answers for damaged data as well: it reads none.
    (moved / "shards" / "000000.bin").write_bytes(b"")
    (moved / "origin.json").unlink()
    again = drt.inspect(moved)
    assert (again.files, again.created_at) == (facts.files, "")
    assert pickle.loads(pickle.dumps(again)) == again


def test_inspection_of_a_cache_of_the_original_system() -> None:
    path = GOLDEN / "original-v2" / "typed-lz4"
    facts = drt.inspect(path)
    assert (facts.format, facts.format_version, facts.row_count) == ("original", 2, 40)
    assert (facts.source_name, facts.source_version) == ("typed", None)
    assert (facts.created_at, facts.writer_version) == ("", "")
    assert [file.name for file in facts.files[:2]] == ["index.bin", "metadata.arrow"]
    for file in facts.files:
        data = (path / file.name).read_bytes()
        digest = hashlib.sha256(data).hexdigest()
        assert (file.byte_count, file.digest) == (len(data), f"sha256:{digest}")
    newer = drt.inspect(GOLDEN / "original-v3" / "typed-lz4")
    assert newer.content_digest == facts.content_digest


def test_conversion_follows_its_options(runtime: drt.DatasetRuntime, tmp_path: Path) -> None:
    source = versioned("numbers", numbered(40).rows, "v 3")
    path = write_ok(runtime, source, tmp_path).path
    seen: list[tuple[int, int]] = []
    made = drt.convert(
        path,
        tmp_path / "else" / "packed",
        compression="lz4",
        max_shard_bytes=100,
        num_workers=1,
        progress=lambda *counts: seen.append(counts),
    )
    assert isinstance(made, drt.CacheWriteSuccess)
    assert (made.source_name, made.path.name, made.status) == ("numbers", "packed", "built")
    assert seen[-1] == (40, 40)
    before, after = drt.inspect(path), drt.inspect(made.path)
    assert (after.compression, after.source_version) == ("lz4", "v 3")
    assert len(after.files) > len(before.files)
    assert drt.verify(made.path).is_intact
    config = drt.ReaderConfig(seed=1, shuffle=False)
    both = [runtime.cached_dataset([p], reader_config=config) for p in (path, made.path)]
    assert [(s.data, s.metadata) for s in both[0]] == [(s.data, s.metadata) for s in both[1]]
    assert leftovers(tmp_path / "else") == []
    # The same options give the bytes of the cache itself.
    again = drt.convert(path, tmp_path / "again").path
    assert drt.inspect(again).content_digest == before.content_digest


def test_conversion_never_replaces_anything(runtime: drt.DatasetRuntime, tmp_path: Path) -> None:
    path = write_ok(runtime, numbered(3), tmp_path).path
    other = write_ok(runtime, versioned("other", numbered(2).rows, "1"), tmp_path).path
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_bytes(b"mine")
    for out in (path, other, tmp_path / "folder", tmp_path / "file"):
        with pytest.raises(drt.CacheExistsError) as caught:
            drt.convert(path, out)
        assert caught.value.path == str(out)
    assert drt.inspect(other).row_count == 2
    assert (tmp_path / "file").read_bytes() == b"mine"
    for wrong in ({"compression": "zstd"}, {"max_shard_bytes": 0}, {"num_workers": 0}):
        with pytest.raises(ValueError):  # noqa: PT011 - a config model's or the core's
            drt.convert(path, tmp_path / "out", **wrong)
    with pytest.raises(drt.InvalidConfigError):
        drt.convert(path, tmp_path / "tmp")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "folder", "numbers", "other"]


def test_damage_is_not_converted(runtime: drt.DatasetRuntime, tmp_path: Path) -> None:
    path = write_ok(runtime, numbered(20), tmp_path).path
    shard = path / "shards" / "000000.bin"
    flip(shard, shard.read_bytes().index(payload(9)))
    with pytest.raises(drt.CorruptCacheError) as caught:
        drt.convert(path, tmp_path / "out")
    assert (caught.value.sample_id, caught.value.shard) == (9, 0)
    assert [p.name for p in tmp_path.iterdir()] == ["numbers"]


def test_source_names_of_the_original_system_are_checked_at_conversion(tmp_path: Path) -> None:
    write_original(tmp_path / "c", "../up", ROWS)
    assert drt.verify(tmp_path / "c").is_intact
    assert drt.inspect(tmp_path / "c").source_name == "../up"
    with pytest.raises(drt.InvalidConfigError):
        drt.convert(tmp_path / "c", tmp_path / "out")
