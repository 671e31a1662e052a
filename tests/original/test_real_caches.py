"""Caches of the original system itself, read by the core and the oracle, and the other way round.

Needs an interpreter that has the original's package, named by DRT_ORIGINAL_PYTHON.
"""

import json
import math
import os
import pickle
import subprocess
from pathlib import Path

import dataset_rt as drt
import original_format
import pytest
from format_cases import comparable, typed_rows
from original_format import OriginalOptions, cache_files, read_cache

WRITE = """
import pickle, sys
import dataset_rt as drt

base, rows, algo, max_shard_bytes = pickle.load(sys.stdin.buffer)

class Source:
    name = "typed"

    def __iter__(self):
        return (drt.CacheInput(payload, metadata) for payload, metadata in rows)

config = drt.WriterConfig(
    show_progress=False,
    max_shard_bytes=max_shard_bytes,
    shard_compression=drt.ShardCompression(algo=algo),
)
(result,) = drt.DatasetRuntime(num_workers=2).write_cache(Source(), base, writer_config=config)
assert isinstance(result, drt.CacheWriteSuccess), result
"""

READ = """
import pickle, sys
import dataset_rt as drt

path = pickle.load(sys.stdin.buffer)
config = drt.ReaderConfig(seed=1, shuffle=False, validate_cache=True)
dataset = drt.DatasetRuntime(num_workers=2).cached_dataset([path], reader_config=config)
rows = [(bytes(sample.data), dict(sample.metadata)) for sample in dataset]
sys.stdout.buffer.write(pickle.dumps(rows))
"""


def original(code: str, argument: object) -> bytes:
    """Run a program with the original's package and give what it printed."""
    python = os.environ["DRT_ORIGINAL_PYTHON"]
    done = subprocess.run(
        [python, "-I", "-c", code], input=pickle.dumps(argument), capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def readable_rows(count: int) -> list:
    """Rows that the original can read back: its parser is exact for none but plain floats."""
    rows = []
    for number, (payload, metadata) in enumerate(typed_rows(count)):
        rows.append((payload, metadata | {"score": number / 4}))
    return rows


def read(path: Path) -> list:
    config = drt.ReaderConfig(seed=1, shuffle=False, validate_cache=True)
    dataset = drt.DatasetRuntime(num_workers=2).cached_dataset([path], reader_config=config)
    return [(bytes(sample.data), sample.metadata) for sample in dataset]


@pytest.mark.parametrize("algo", ["none", "lz4"])
@pytest.mark.parametrize("max_shard_bytes", [400, 64 * 1024 * 1024])
def test_its_caches_hold_their_rows(tmp_path: Path, algo: str, max_shard_bytes: int) -> None:
    rows = typed_rows(300)
    original(WRITE, (str(tmp_path), rows, algo, max_shard_bytes))
    path = tmp_path / "typed"
    assert comparable(read_cache(path).rows) == comparable(rows)
    assert comparable(read(path)) == comparable(rows)
    assert drt.verify(path).is_intact
    facts = drt.inspect(path)
    assert (facts.format_version, facts.row_count, facts.compression) == (3, 300, algo)
    # What its previous release wrote differs in these two keys alone.
    manifest = json.loads((path / "manifest.json").read_bytes())
    assert manifest["cache_id"] == original_format.writer.cache_id("typed")
    del manifest["cache_id"]
    manifest["format_version"] = 2
    (path / "manifest.json").write_text(json.dumps(manifest))
    assert comparable(read(path)) == comparable(rows)
    assert drt.inspect(path).content_digest == facts.content_digest
    made = drt.convert(path, tmp_path / "made").path
    assert comparable(read(made)) == comparable(rows)


def test_the_oracle_writes_the_same_index_and_shards(tmp_path: Path) -> None:
    rows = typed_rows(300)
    for number, (_, metadata) in enumerate(rows):
        if not math.isfinite(metadata["score"]) or number % 3:
            metadata["score"] = math.ldexp(number * 0x9E37_79B9_7F4A_7C15 % 2**53 + 1, number - 200)
    original(WRITE, (str(tmp_path), rows, "none", 400))
    files = cache_files("typed", rows, OriginalOptions(max_shard_bytes=400))
    names = [name for name in files if name.startswith("shards/")] + ["index.bin"]
    assert len(names) > 20
    for name in names:
        assert (tmp_path / "typed" / name).read_bytes() == files[name], name
    manifest = json.loads((tmp_path / "typed" / "manifest.json").read_bytes())
    ours = json.loads(files["manifest.json"])
    assert list(manifest) == list(ours)
    assert {k: v for k, v in manifest.items() if k != "metadata_sha256"} == {
        k: v for k, v in ours.items() if k != "metadata_sha256"
    }


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("algo", ["none", "lz4"])
def test_it_reads_what_the_oracle_writes(tmp_path: Path, version: int, algo: str) -> None:
    rows = readable_rows(100)
    options = OriginalOptions(version, algo, 1.0, 400, 7)
    original_format.write_cache(tmp_path / "c", "typed", rows, options)
    assert pickle.loads(original(READ, str(tmp_path / "c"))) == rows
