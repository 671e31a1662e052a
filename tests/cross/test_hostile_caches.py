"""Caches whose every checksum fits and whose content is impossible, made by the oracle."""

import json
import os
import struct
import subprocess
import sys
from pathlib import Path

import dataset_rt as drt
import pytest
from cache_format import WriteOptions, arrow_file, hashes, lz4_block
from cache_format.json_text import encode_sealed
from cache_format.writer import cache_files, encode_blocks, encode_manifest

RUNTIME = drt.DatasetRuntime(num_workers=2)
GIB4 = 1 << 32


def row(place: tuple[int, int, int, int, int], sample_id: int, stored: bytes) -> bytes:
    """An index row of (shard, codec, offset, stored length, raw length)."""
    head = struct.pack("<IB3xQII", *place)
    return head + struct.pack("<Q", hashes.record_checksum(sample_id, stored))


def sealed(rows: list, **replaced: bytes) -> dict[str, bytes]:
    """The files of a cache in which some are replaced, with every seal made anew."""
    options = WriteOptions()
    files = cache_files("c", rows, options)
    files |= {name.replace("_", "."): data for name, data in replaced.items()}
    for name in ("manifest.json", "origin.json", "blocks.bin"):
        del files[name]
    files["blocks.bin"] = encode_blocks(files["index.bin"], files["metadata.arrow"], [len(rows)])
    schema = arrow_file.infer_schema(rows[0][1])
    manifest = encode_manifest("c", rows, schema, files, options)
    origin = {"created_at": options.created_at, "writer_version": options.writer_version}
    return files | {"origin.json": encode_sealed(origin), "manifest.json": manifest}


def put(path: Path, files: dict[str, bytes]) -> Path:
    for name, data in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(data)
    return path


def opened(path: Path, **config) -> drt.CachedDataset:
    config = {"seed": 1, "shuffle": False, **config}
    return RUNTIME.cached_dataset([path], reader_config=drt.ReaderConfig(**config))


@pytest.mark.parametrize("mapped", [True, False])
def test_c1_records_beyond_32_bits_are_read_where_they_are(tmp_path, mapped: bool) -> None:
    """One shard of more than 2^32 bytes, most of it a hole that takes no room on the disk."""
    last = [b"across the border", b"", b"beyond it" * 1000, b"at the end"]
    payloads = [b"", *last]
    index = row((0, 0, 0, GIB4 - 1, GIB4 - 1), 0, b"not looked at")
    offset = GIB4 - 1
    for number, stored in enumerate(last, 1):
        index += row((0, 0, offset, len(stored), len(stored)), number, stored)
        offset += len(stored)
    rows = [(data, {"i": number}) for number, data in enumerate(payloads)]
    files = sealed(rows, index_bin=index)
    manifest = json.loads(files["manifest.json"])
    manifest["payload_bytes"] = offset
    for entry in manifest["files"]:
        if entry["path"].startswith("shards/"):
            entry["bytes"] = offset
    listed = [(entry["path"], entry["bytes"], entry["xxh3_128"]) for entry in manifest["files"]]
    manifest["content_digest"] = hashes.content_digest(len(rows), listed)
    del manifest["checksum"]
    files["manifest.json"] = encode_sealed(manifest)
    path = put(tmp_path / "c", files)
    with (path / "shards" / "000000.bin").open("wb") as shard:
        shard.seek(GIB4 - 1)
        shard.write(b"".join(last))

    dataset = opened(path, mapped=mapped)
    assert [dataset.get_item(0, number).data for number in range(1, 5)] == last
    dataset.skip(1)
    dataset.set_epoch_len(4)
    assert [sample.data for sample in dataset] == last


LIMITED = """
import json, resource, sys
import dataset_rt as drt

def peak_kib():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))

runtime = drt.DatasetRuntime(num_workers=2)
config = drt.ReaderConfig(seed=1, shuffle=False, mapped=sys.argv[2] == "mapped")
before, said = peak_kib(), []
for read in (
    lambda: list(runtime.cached_dataset([sys.argv[1]], reader_config=config)),
    lambda: runtime.cached_dataset([sys.argv[1]], reader_config=config).get_item(0, 1),
    lambda: runtime.cached_dataset(
        [sys.argv[1]], reader_config=config.model_copy(update={"validate_cache": True})
    ),
):
    try:
        read()
        said.append(None)
    except drt.CorruptCacheError as error:
        said.append(error.sample_id)
print(json.dumps([said, peak_kib() - before]))
"""


@pytest.mark.parametrize("mapped", ["mapped", "positioned"])
@pytest.mark.parametrize("codec", [0, 1])
@pytest.mark.parametrize("stored_bytes", [10, GIB4 - 1])
def test_c22_record_that_declares_a_huge_output_is_refused_before_it_is_allocated(
    tmp_path, mapped: str, codec: int, stored_bytes: int
) -> None:
    data = b"0123456789"
    index = row((0, 0, 0, 10, 10), 0, data) + row((0, codec, 10, stored_bytes, GIB4 - 1), 1, data)
    path = put(tmp_path / "c", sealed([(data, {"i": 0}), (data, {"i": 1})], index_bin=index))
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(path), mapped],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": ":".join(sys.path), "PATH": os.defpath},
    )
    assert done.returncode == 0, done.stderr
    said, grown_kib = json.loads(done.stdout)
    assert said[:2] == [1, 1]
    assert grown_kib < 64 * 1024


def test_lz4_length_is_exact(tmp_path) -> None:
    """A block that decodes to fewer or more bytes than its row says is refused."""
    block = lz4_block.encode(b"a" * 40)
    for raw_bytes, is_whole in ((40, True), (39, False), (41, False)):
        index = row((0, 1, 0, len(block), raw_bytes), 0, block)
        rows = [(block, {"i": 0})]
        path = put(tmp_path / str(raw_bytes), sealed(rows, index_bin=index))
        if is_whole:
            assert next(iter(opened(path))).data == b"a" * 40
            continue
        with pytest.raises(drt.CorruptCacheError) as caught:
            next(iter(opened(path)))
        assert caught.value.sample_id == 0


@pytest.mark.parametrize("cut", [16, 64, 200])
def test_c19_metadata_cut_before_an_intact_footer_is_found_at_open(tmp_path, cut: int) -> None:
    rows = [(b"", {"number": i, "text": f"text {i}"}) for i in range(50)]
    data = cache_files("c", rows, WriteOptions())["metadata.arrow"]
    footer = struct.unpack("<i", data[-10:-6])[0] + 10
    metadata = data[: -footer - cut] + data[-footer:]
    path = put(tmp_path / "c", sealed(rows, metadata_arrow=metadata))
    for mapped in (True, False):
        with pytest.raises(drt.CorruptCacheError) as caught:
            opened(path, mapped=mapped, verify_records=False)
        assert (caught.value.path, caught.value.file) == (str(path), "metadata.arrow")


@pytest.mark.parametrize(
    "name",
    [
        "/etc/hostname",
        "../outside.bin",
        "shards/../../outside.bin",
        "shards/000001.bin",
        "shards/0.bin",
        "shards/000000.bin/../000000.bin",
        "",
    ],
)
def test_manifest_that_leads_out_of_the_cache_is_refused(tmp_path, name: str) -> None:
    (tmp_path / "outside.bin").write_bytes(b"x")
    files = sealed([(b"x", {"i": 0})])
    manifest = json.loads(files["manifest.json"])
    (entry,) = [entry for entry in manifest["files"] if entry["path"].startswith("shards/")]
    entry["path"] = name
    listed = [(entry["path"], entry["bytes"], entry["xxh3_128"]) for entry in manifest["files"]]
    manifest["content_digest"] = hashes.content_digest(1, listed)
    del manifest["checksum"]
    path = put(tmp_path / "c", files | {"manifest.json": encode_sealed(manifest)})
    with pytest.raises(drt.CorruptCacheError) as caught:
        opened(path)
    assert caught.value.file == "manifest.json"
