"""The core and the oracle read each other's snapshots."""

from pathlib import Path

import dataset_rt as drt
import numpy as np
import polars as pl
import pytest
import xxhash
from cache_format import Cache
from draws import WITH_REPLACEMENT, Stream, Table, accumulate
from snapshot_format import Tables, read_snapshot, write_snapshot

RUNTIME = drt.DatasetRuntime(num_workers=2)
SEED = 2**64 - 3


class Source:
    """Ten samples of one byte."""

    name = "bytes"

    def __iter__(self):
        return (drt.CacheInput(bytes([i]), {"i": i}) for i in range(10))


@pytest.fixture
def dataset(tmp_path: Path) -> drt.CachedDataset:
    quiet = drt.WriterConfig(show_progress=False)
    (result,) = RUNTIME.write_cache(Source(), tmp_path / "caches", writer_config=quiet)
    config = drt.ReaderConfig(seed=SEED, prefetch_size=3, on_corrupt="skip")
    return RUNTIME.cached_dataset([result.path], reader_config=config)


def weighted(dataset: drt.CachedDataset) -> pl.DataFrame:
    return (
        dataset.get_metadata()
        .reverse()
        .head(7)
        .with_columns(weight=pl.int_range(1, 8).cast(pl.Float64), note=pl.lit("extra"))
    )


def test_oracle_reads_the_snapshot_of_an_edited_table(
    tmp_path: Path, dataset: drt.CachedDataset
) -> None:
    dataset.update_metadata(weighted(dataset))
    dataset.set_epoch_len(4)
    next(iter(dataset))
    file = dataset.dump_config(tmp_path / "dump")
    handle, tables = read_snapshot(file.parent)
    table = Table(list(range(9, 2, -1)), [float(weight) for weight in range(1, 8)])
    sums = list(accumulate(table.units()))
    assert tables.row_samples is not None
    assert tables.sums is not None
    assert tables.row_samples.tolist() == list(table.samples)
    assert tables.sums.tolist() == sums
    assert handle["table_digest"] == xxhash.xxh3_128_hexdigest(table.canonical())
    assert handle["options"]["seed"] == str(SEED)
    assert handle["options"]["on_corrupt"] == "skip"
    assert (handle["rows"], handle["samples"], handle["epoch_length"]) == (7, 10, 4)
    assert (handle["position"], handle["window_end"], handle["num_workers"]) == (4, 4, 2)
    assert handle["part"] == {"index": 0, "count": 1, "tail": "uneven"}
    assert [entry["path"] for entry in handle["files"]] == ["table.arrow", "tables.bin"]
    assert pl.read_ipc(tmp_path / "dump" / "table.arrow")["note"].to_list() == ["extra"] * 7


def test_snapshot_of_an_untouched_table_has_no_other_files(
    tmp_path: Path, dataset: drt.CachedDataset
) -> None:
    handle, tables = read_snapshot(dataset.dump_config(tmp_path / "dump").parent)
    assert (handle["row_samples"], handle["weighted"], handle["files"]) == ("identity", False, [])
    assert tables == Tables()


def test_core_draws_from_a_snapshot_of_the_oracle(
    tmp_path: Path, dataset: drt.CachedDataset
) -> None:
    table = Table([4, 4, 0, 9], [1.0, 2.0, 3.0, 4.0])
    sums = list(accumulate(table.units()))
    dataset.update_metadata(
        pl.DataFrame(
            {"cache_id": 0, "sample_id": table.samples, "i": table.samples, "weight": table.weights}
        )
    )
    guide = read_snapshot(dataset.dump_config(tmp_path / "ours").parent)[1].guide
    cache = dataset.cache_paths[0]
    fields = {
        "caches": [
            {"path": str(cache), "content_digest": Cache.open(cache).manifest["content_digest"]}
        ],
        "options": {
            "seed": str(SEED),
            "prefetch_size": 64,
            "shuffle": True,
            "replacement": True,
            "validate_cache": False,
            "verify_records": True,
            "on_corrupt": "raise",
            "mapped": True,
        },
        "num_workers": 1,
        "rows": 4,
        "samples": 10,
        "row_samples": "u32",
        "weighted": True,
        "table_digest": xxhash.xxh3_128_hexdigest(table.canonical()),
        "epoch_length": 6,
        "position": 100,
        "window_end": 103,
        "skipped": 0,
        "part": {"index": 1, "count": 2, "tail": "pad"},
    }
    tables = Tables(np.array(table.samples, "<u4"), np.array(sums, "<u8"), guide)
    file = write_snapshot(tmp_path / "oracle", fields, tables)
    opened = drt.CachedDataset.from_config(file, RUNTIME)
    stream = Stream(table, WITH_REPLACEMENT, SEED)
    drawn = [[sample.sample_id for sample in opened] for _ in range(2)]
    # The rest of the window that began at 97 has positions 100 to 102, padded with 97.
    positions = [[101, 97], [104, 106, 108]]
    wanted = [[table.samples[stream.row(position)] for position in part] for part in positions]
    assert drawn == wanted


@pytest.mark.parametrize("tail", ["uneven", "drop", "pad"])
def test_oracle_reads_the_part_of_a_view(
    tmp_path: Path, dataset: drt.CachedDataset, tail: str
) -> None:
    switches = {"drop_uneven": tail == "drop", "pad": tail == "pad"}
    raising = RUNTIME.cached_dataset(dataset.cache_paths, reader_config=drt.ReaderConfig(seed=SEED))
    view = raising.partition(1, 2).partition(2, 3, **switches)
    handle, _ = read_snapshot(view.dump_config(tmp_path / "dump").parent)
    assert handle["part"] == {"index": 5, "count": 6, "tail": tail}


@pytest.mark.parametrize("file", ["snapshot.json", "tables.bin", "table.arrow"])
def test_damaged_snapshot_is_refused(tmp_path: Path, dataset: drt.CachedDataset, file: str) -> None:
    dataset.update_metadata(weighted(dataset))
    handle = dataset.dump_config(tmp_path / "dump")
    path = tmp_path / "dump" / file
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 4
    path.write_bytes(data)
    with pytest.raises(drt.CorruptCacheError):
        drt.CachedDataset.from_config(handle, RUNTIME)
