"""mosaicml-streaming: MDS shards read in place by ``StreamingDataset``.

Fast path: ``local`` without ``remote``, ``batch_size=64``, and ``predownload`` of the whole
set: at its default a thread naps for 7 ms whenever it is that far ahead. A sample is a dict
of the payload, the four metadata values and the two ids. Its order is its own shuffle, each
sample once. ``MDSWriter`` hashes and syncs nothing by default. Its loader is torch's own with
lists of samples. Out of an object store it is given an empty ``local``, and predownload as above.
"""

from __future__ import annotations

import os
from importlib import import_module
from importlib.metadata import version
from itertools import islice
from typing import TYPE_CHECKING, Any

from benchmarks.engines.dicts import as_list, drain_dicts
from benchmarks.trial.consume import Tally
from benchmarks.trial.engine import Engine, Loader
from benchmarks.trial.records import Delivered, Metadata

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

streaming: Any = import_module("streaming")

_COLUMNS = {
    "data": "bytes",
    "flag": "uint8",
    "label": "int",
    "name": "str",
    "score": "float64",
    "cache_id": "int",
    "sample_id": "int",
}


def as_input(data: bytes, metadata: Metadata) -> dict[str, Any]:
    """One flat dict per sample; it has no flags, a byte stands in."""
    return {"data": data, **metadata, "flag": int(metadata["flag"])}


def delivered_dict(sample: dict[str, Any]) -> Delivered:
    """Split one dict into identity, payload and metadata of plain Python types."""
    metadata: Metadata = {
        "flag": bool(sample["flag"]),
        "label": int(sample["label"]),
        "name": sample["name"],
        "score": float(sample["score"]),
    }
    return Delivered(int(sample["cache_id"]), int(sample["sample_id"]), sample["data"], metadata)


class MosaicLoader(Loader):
    """torch's DataLoader over the streaming dataset, spawned and persistent workers."""

    def __init__(self, dataset: Any, batch_size: int, workers: int) -> None:
        data: Any = import_module("torch.utils.data")
        self._loader = data.DataLoader(
            dataset,
            batch_size=batch_size,
            num_workers=workers,
            collate_fn=as_list,
            multiprocessing_context="spawn" if workers else None,
            persistent_workers=workers > 0,
        )

    def drain(self, *, hashed: bool) -> Tally:
        total = Tally(0, 0)
        for batch in self._loader:
            total = total.plus(drain_dicts(batch, hashed=hashed))
        return total

    def delivered(self) -> Iterator[Delivered]:
        for batch in self._loader:
            yield from map(delivered_dict, batch)


class MosaicEngine(Engine):
    """See the module text."""

    make_input = staticmethod(as_input)
    _dataset: Any = None

    def versions(self) -> dict[str, str]:
        name = "mosaicml-streaming"
        return {name: version(name), "torch": version("torch")}

    def write(self, directory: Path, caches: Sequence[Iterable[Any]]) -> None:
        with streaming.MDSWriter(out=os.fspath(directory), columns=_COLUMNS) as writer:
            for cache_id, records in enumerate(caches):
                for sample_id, record in enumerate(records):
                    writer.write({**record, "cache_id": cache_id, "sample_id": sample_id})

    def open(self) -> None:
        self._dataset = streaming.StreamingDataset(
            local=os.fspath(self.store),
            shuffle=True,
            shuffle_seed=7,
            batch_size=64,
            predownload=self.spec.rows,
        )

    def open_remote(self, url: str, local: Path) -> None:
        self._dataset = streaming.StreamingDataset(
            remote=url,
            local=os.fspath(local),
            shuffle=True,
            shuffle_seed=7,
            batch_size=64,
            predownload=self.spec.rows,
        )

    def close(self) -> None:
        self._dataset = None

    def delivered(self, kind: str, draws: int) -> Iterator[Delivered]:
        if kind == "get_item":
            rows = (number % self.spec.rows for number in range(draws))
            yield from (delivered_dict(self._dataset[row]) for row in rows)
            return
        yield from map(delivered_dict, islice(self._dataset, draws))

    def read(self, draws: int, *, hashed: bool) -> Tally:
        if draws == self.spec.rows:
            return drain_dicts(self._dataset, hashed=hashed)
        return drain_dicts(islice(self._dataset, draws), hashed=hashed)

    def fetch(self, ids: Sequence[tuple[int, int]], *, hashed: bool) -> Tally:
        starts, dataset = self.spec.cache_starts(), self._dataset
        samples = (dataset[starts[cache_id] + sample_id] for cache_id, sample_id in ids)
        return drain_dicts(samples, hashed=hashed)

    def loader(self, batch_size: int, workers: int) -> Loader:
        return MosaicLoader(self._dataset, batch_size, workers)


ENGINE = MosaicEngine
