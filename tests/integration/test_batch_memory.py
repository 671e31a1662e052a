"""The memory of a batch is the caller's: writable, apart from the cache, taken without a copy."""

from __future__ import annotations

import gc
import warnings

import dataset_rt as drt
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
import torch
from support import numbered, open_numbers, payload, write_ok


@pytest.fixture(autouse=True)
def _no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def equal_sizes(runtime, tmp_path, count: int = 6, size: int = 12) -> drt.CachedDataset:
    source = numbered(0, "equal")
    source.rows = [(bytes(range(i, i + size)), {"label": i}) for i in range(count)]
    path = write_ok(runtime, source, tmp_path).path
    return runtime.cached_dataset([path], reader_config=drt.ReaderConfig(seed=1, shuffle=False))


@pytest.mark.parametrize("mapped", [True, False])
def test_writing_into_a_batch_changes_no_cache(runtime, tmp_path, mapped: bool) -> None:
    dataset = open_numbers(runtime, tmp_path, 5, shuffle=False, mapped=mapped)
    files = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    before = [path.read_bytes() for path in files]
    (batch,) = dataset.batches(5)
    np.asarray(batch.data)[:] = 0xFF
    batch.payload(0)[:2] = b"ab"
    batch.offsets[0] = 99
    batch.sample_ids[0] = 99
    assert batch[0].data == b"ab" + b"\xff" * (len(payload(0)) - 2)
    assert batch[0].sample_id == 0
    (again,) = dataset.batches(5)
    assert bytes(again.data) == b"".join(map(payload, range(5)))
    assert again.sample_ids.tolist() == list(range(5))
    assert [path.read_bytes() for path in files] == before


def test_batches_share_nothing(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path, 5, shuffle=False)
    first, second = next(dataset.batches(5)), next(dataset.batches(5))
    first.data[:] = bytes(len(first.data))
    assert bytes(second.data) == b"".join(map(payload, range(5)))


def test_numpy_and_torch_take_the_buffer_without_a_copy(runtime, tmp_path) -> None:
    (batch,) = open_numbers(runtime, tmp_path, 5).batches(5)
    arrays = [
        np.asarray(batch.data),
        np.frombuffer(batch.data, np.uint8),
        np.from_dlpack(batch.data),
    ]
    tensors = [torch.frombuffer(batch.data, dtype=torch.uint8), torch.from_dlpack(batch.data)]
    assert all(array.dtype == np.uint8 and array.flags.writeable for array in arrays)
    assert all(tensor.dtype == torch.uint8 for tensor in tensors)
    for number, view in enumerate([*arrays, *tensors]):
        view[number] = 200 + number
    assert list(batch.data[:5]) == [200, 201, 202, 203, 204]
    assert batch.data.__dlpack_device__() == (1, 0)


def test_numbers_are_taken_as_64_bit_integers_without_a_copy(runtime, tmp_path) -> None:
    (batch,) = open_numbers(runtime, tmp_path, 5, shuffle=False).batches(5)
    offsets, samples = np.asarray(batch.offsets), np.asarray(batch.sample_ids)
    assert (offsets.dtype, samples.dtype) == (np.int64, np.uint64)
    offsets[1], samples[1] = -7, 7
    assert (batch.offsets[1], batch.sample_ids[1]) == (-7, 7)
    assert torch.frombuffer(batch.offsets, dtype=torch.int64)[1] == -7


def test_views_outlive_batch_dataset_and_files(runtime, tmp_path) -> None:
    dataset = open_numbers(runtime, tmp_path, 5, shuffle=False)
    (batch,) = dataset.batches(5)
    tensor, view, table = torch.from_dlpack(batch.data), batch.payload(1), batch.metadata
    for path in sorted(tmp_path.rglob("*")):
        if path.is_file():
            path.unlink()
    assert batch[2].metadata["label"] == 2
    del dataset, batch
    gc.collect()
    assert bytes(tensor.tolist()) == b"".join(map(payload, range(5)))
    assert bytes(view) == payload(1)
    assert pl.DataFrame(table)["label"].to_list() == [0, 1, 2, 0, 1]


def test_metadata_goes_to_polars_and_pyarrow(runtime, tmp_path) -> None:
    (batch,) = open_numbers(runtime, tmp_path, 5, shuffle=False).batches(5)
    table = pa.table(batch.metadata)
    types = [pa.bool_(), pa.int64(), pa.float64(), pa.large_string()]
    assert table.schema.types == types
    assert table.to_pylist() == pl.DataFrame(batch.metadata).to_dicts()


def test_stacked_is_a_view_with_a_line_per_draw(runtime, tmp_path) -> None:
    (batch,) = equal_sizes(runtime, tmp_path).batches(6)
    lines = batch.stacked()
    assert (lines.shape, lines.dtype, lines.flags.writeable) == ((6, 12), np.uint8, True)
    assert lines[2].tolist() == list(range(2, 14))
    cubes = batch.stacked((3, 2), "<u2")
    assert (cubes.shape, cubes.dtype) == ((6, 3, 2), np.uint16)
    cubes[0, 0, 0] = 0x0102
    assert bytes(batch.data[:2]) == b"\x02\x01"
    assert lines[0, 0] == 2
    assert batch.stacked(dtype=np.int32).shape == (6, 3)
    assert batch.stacked([12], np.dtype("i1")).shape == (6, 12)


@pytest.mark.parametrize(
    ("shape", "dtype"), [((5,), "uint8"), ((3, 5), "uint8"), (None, "f8"), ((2**62, 8), "uint8")]
)
def test_shape_that_does_not_fit_the_payloads_is_refused(runtime, tmp_path, shape, dtype) -> None:
    (batch,) = equal_sizes(runtime, tmp_path).batches(6)
    with pytest.raises(drt.InvalidConfigError) as caught:
        batch.stacked(shape, dtype)
    assert caught.value.field == "shape"


def test_payloads_of_different_sizes_are_not_stacked(runtime, tmp_path) -> None:
    (batch,) = open_numbers(runtime, tmp_path, 5).batches(5)
    with pytest.raises(drt.InvalidConfigError) as caught:
        batch.stacked()
    assert caught.value.field == "payload size"


def test_empty_payloads_are_stacked(runtime, tmp_path) -> None:
    (batch,) = equal_sizes(runtime, tmp_path, 3, 0).batches(3)
    assert (batch.stacked().shape, bytes(batch.data)) == ((3, 0), b"")
    assert np.asarray(batch.data).shape == (0,)
    assert torch.from_dlpack(batch.data).shape == (0,)


def test_resized_data_is_noticed(runtime, tmp_path) -> None:
    (batch,) = equal_sizes(runtime, tmp_path).batches(6)
    view = np.asarray(batch.data)
    with pytest.raises(BufferError):
        batch.data.append(1)
    del view
    del batch.data[:1]
    for use in (lambda: batch[0], lambda: batch.payload(0), batch.stacked):
        with pytest.raises(ValueError, match="resized"):
            use()


def test_large_batch_is_read_while_another_thread_runs(runtime, tmp_path) -> None:
    source = numbered(0, "large")
    source.rows = [(bytes([i]) * 700_000, {"label": i}) for i in range(6)]
    path = write_ok(runtime, source, tmp_path).path
    config = drt.ReaderConfig(seed=1, shuffle=False)
    (batch,) = runtime.cached_dataset([path], reader_config=config).batches(6)
    assert [set(batch.payload(i)) for i in range(6)] == [{i} for i in range(6)]
