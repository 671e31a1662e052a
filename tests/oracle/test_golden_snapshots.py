"""The oracle reads every golden snapshot, and writes it again byte for byte."""

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from cache_format.refusal import FormatError
from draws import EACH_ONCE, Stream
from snapshot_format import TABLE, decode_order, read_snapshot

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "snapshots"
CASES = ["each-once", "untouched", "weighted", "wide"]


@pytest.fixture(scope="module")
def builder() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_snapshots", GOLDEN / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_golden_snapshot_is_built_again(builder: ModuleType, tmp_path: Path) -> None:
    assert sorted(path.name for path in (GOLDEN / "v1").iterdir()) == CASES
    # Arrow prescribes no bytes: the table is taken as it is.
    table = (GOLDEN / "v1" / "weighted" / TABLE).read_bytes()
    builder.edited_table = lambda: table
    builder.build(tmp_path)
    for name in CASES:
        golden = {path.name: path.read_bytes() for path in (GOLDEN / "v1" / name).iterdir()}
        assert {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} == golden


@pytest.mark.parametrize("name", CASES)
def test_golden_snapshot_holds_its_table(builder: ModuleType, name: str) -> None:
    handle, tables = read_snapshot(GOLDEN / "v1" / name)
    table = builder.TABLES[name]
    assert handle["rows"] == table.n
    if handle["row_samples"] == "identity":
        assert tables.row_samples is None
    else:
        assert tables.row_samples is not None
        assert tables.row_samples.tolist() == list(table.samples)
    if not handle["weighted"]:
        assert tables.sums is None
        return
    assert tables.sums is not None
    assert np.diff(tables.sums, prepend=np.uint64(0)).tolist() == table.units()


def test_golden_order_is_that_of_its_cycle(builder: ModuleType) -> None:
    folder, cycle = GOLDEN / "v1" / "each-once", builder.ORDERED_CYCLE
    handle, _ = read_snapshot(folder)
    file = f"order-{cycle}.bin"
    rows, ends = decode_order(file, handle["rows"], (folder / file).read_bytes())
    stream = Stream(builder.TABLES["each-once"], EACH_ONCE, int(handle["options"]["seed"]))
    start = 0
    for end in ends.tolist():
        drawn = [stream.row(cycle * handle["rows"] + index) for index in range(start, end)]
        assert sorted(drawn) == sorted(rows[start:end].tolist())
        start = end
    with pytest.raises(FormatError):
        decode_order(file, handle["rows"], (folder / file).read_bytes()[:-4])
