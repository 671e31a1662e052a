"""Where caches and stores may be: what is taken for a place, and what is refused."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import dataset_rt as drt
import pytest
from object_server import rows, store_config
from support import Rows, write_ok

if TYPE_CHECKING:
    from pathlib import Path

CONFIG = drt.ReaderConfig(seed=3, replacement=False)
QUIET = drt.WriterConfig(show_progress=False)


def test_urls_are_no_names_of_local_files(
    runtime: drt.DatasetRuntime,
    train_cache: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    url = "s3://bucket/x"
    for write in (
        lambda: runtime.write_cache(rows(3), url, writer_config=QUIET),
        lambda: runtime.from_cache_sources(rows(3), url, reader_config=CONFIG),
        lambda: drt.convert(train_cache, url),
    ):
        with pytest.raises(drt.InvalidConfigError, match="upload"):
            write()
    with pytest.raises(ValueError, match="a path of this machine"):
        drt.StoreConfig(path=url)
    for look in (drt.inspect, drt.verify):
        with pytest.raises(drt.InvalidConfigError, match="a path of this machine"):
            look(url)
    for other in ("ftp://host/x", "https://host/x"):
        with pytest.raises(drt.InvalidConfigError, match="s3://"):
            runtime.cached_dataset([other], reader_config=CONFIG)
    assert list(tmp_path.iterdir()) == []


def test_upload_leaves_another_cache_alone(runtime: drt.DatasetRuntime, tmp_path: Path) -> None:
    url = f"file://{tmp_path}/objects"
    first, second = (
        write_ok(runtime, rows(count, name), tmp_path / "caches").path
        for count, name in ((50, "first"), (60, "second"))
    )
    drt.upload(first, url)
    before = {file: file.read_bytes() for file in (tmp_path / "objects").rglob("*.*")}
    with pytest.raises(drt.CacheExistsError, match="another cache is there"):
        drt.upload(second, url)
    assert {file: file.read_bytes() for file in (tmp_path / "objects").rglob("*.*")} == before
    assert drt.upload(first, url).sent_files == 0


def test_folder_of_a_store_is_not_opened_as_a_cache(
    runtime: drt.DatasetRuntime, train_cache: Path, tmp_path: Path
) -> None:
    url = f"file://{tmp_path}/objects"
    drt.upload(train_cache, url)
    dataset = runtime.cached_dataset(
        [url], reader_config=CONFIG, store_config=store_config(tmp_path / "store")
    )
    with pytest.raises(drt.InvalidConfigError, match="the URL of this cache"):
        runtime.cached_dataset(dataset.cache_paths, reader_config=CONFIG)


def test_missing_library_is_an_import_error(train_cache: Path, tmp_path: Path) -> None:
    program = f"""
import sys
sys.modules["obstore"] = None
import dataset_rt as drt
url = "file://{tmp_path}/objects"
runtime = drt.DatasetRuntime(num_workers=1)
for use in (
    lambda: drt.upload({str(train_cache)!r}, url),
    lambda: runtime.cached_dataset([url], reader_config=drt.ReaderConfig(seed=1)),
):
    try:
        use()
    except ImportError as error:
        print(error)
runtime.cached_dataset([{str(train_cache)!r}], reader_config=drt.ReaderConfig(seed=1))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("pip install") == 2


@pytest.mark.parametrize("replacement", [True, False])
def test_store_smaller_than_the_caches_moves_about_what_is_drawn(
    runtime: drt.DatasetRuntime, tmp_path: Path, replacement: bool
) -> None:
    samples = [(bytes([i % 251]) * 16384, {"i": i}) for i in range(512)]
    path = write_ok(runtime, Rows("large", samples), tmp_path / "caches").path
    url = f"file://{tmp_path}/objects"
    drt.upload(path, url)
    dataset = runtime.cached_dataset(
        [url],
        reader_config=drt.ReaderConfig(seed=3, replacement=replacement),
        store_config=store_config(tmp_path / "store", limit_bytes=4 * 2**20),
    )
    drawn = sum(len(sample.data) for sample in dataset)
    assert dataset.stats().fetched_bytes < 1.5 * drawn
