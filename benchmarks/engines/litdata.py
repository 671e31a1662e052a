"""litdata: chunks of 64 MB written by ``optimize``, read by ``StreamingDataset`` in place.

Fast path: a local path, which it maps, with its own defaults for shuffling (chunks and blocks
of 256 within a chunk, each sample once, so its order is less random than a draw with
replacement). A sample is a dict of the payload, the four metadata values and the two ids.

Its payload is a memoryview of the mapped chunk. By default the consumer makes ``bytes`` of
it, because every other contender hands out memory that the caller owns; the option ``view``
leaves that out. ``optimize`` forks one worker, checks nothing and syncs nothing. Its loader
is ``StreamingDataLoader``; a view does not travel between processes, so workers send bytes.
Out of an object store it is given an empty ``cache_dir``.
"""

from __future__ import annotations

import os
from importlib import import_module
from importlib.metadata import version
from itertools import islice
from typing import TYPE_CHECKING, Any

from benchmarks.engines.dicts import drain_dicts
from benchmarks.trial.consume import Tally
from benchmarks.trial.engine import Engine, Loader
from benchmarks.trial.records import Delivered, Metadata

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

os.environ["LITDATA_DISABLE_VERSION_CHECK"] = "1"
litdata: Any = import_module("litdata")

_KEYS = ("flag", "label", "name", "score")


def as_input(data: bytes, metadata: Metadata) -> dict[str, Any]:
    """One flat dict per sample."""
    return {"data": data, **metadata}


def as_owned(samples: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Collate by making owned bytes of every payload."""
    return [{**sample, "data": bytes(sample["data"])} for sample in samples]


def delivered_dict(sample: dict[str, Any]) -> Delivered:
    """Split one dict into identity, payload and metadata."""
    metadata: Metadata = {key: sample[key] for key in _KEYS}
    return Delivered(sample["cache_id"], sample["sample_id"], bytes(sample["data"]), metadata)


class LitdataLoader(Loader):
    """``StreamingDataLoader`` with spawned, persistent workers."""

    def __init__(self, dataset: Any, batch_size: int, workers: int) -> None:
        self._loader = litdata.StreamingDataLoader(
            dataset,
            batch_size=batch_size,
            num_workers=workers,
            collate_fn=as_owned,
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


class LitdataEngine(Engine):
    """See the module text."""

    make_input = staticmethod(as_input)
    _dataset: Any = None
    _stream: Iterator[dict[str, Any]] | None = None

    def versions(self) -> dict[str, str]:
        return {"litdata": version("litdata"), "torch": version("torch")}

    def write(self, directory: Path, caches: Sequence[Iterable[Any]]) -> None:
        def samples(cache_id: int) -> Iterator[dict[str, Any]]:
            for sample_id, record in enumerate(caches[cache_id]):
                yield {**record, "cache_id": cache_id, "sample_id": sample_id}

        litdata.optimize(
            fn=samples,
            inputs=list(range(len(caches))),
            output_dir=os.fspath(directory),
            chunk_bytes="64MB",
            num_workers=1,
            start_method="fork",
            verbose=False,
        )

    def open(self) -> None:
        self._dataset = litdata.StreamingDataset(os.fspath(self.store), shuffle=True, seed=7)
        self._stream = None

    def open_remote(self, url: str, local: Path) -> None:
        # What it fetches chunks with takes https alone, and the server of the benchmark is http.
        downloader: Any = import_module("litdata.streaming.downloader")
        downloader._OBSTORE_CLIENT_OPTIONS["allow_http"] = "true"  # noqa: SLF001 - there is no option
        self._dataset = litdata.StreamingDataset(
            url, cache_dir=os.fspath(local), shuffle=True, seed=7
        )
        self._stream = None

    def close(self) -> None:
        self._dataset = self._stream = None

    def _next(self, draws: int) -> Iterator[dict[str, Any]]:
        """The next samples, epoch after epoch."""
        while draws:
            if self._stream is None:
                self._stream = iter(self._dataset)
            taken = 0
            for sample in islice(self._stream, draws):
                taken += 1
                yield sample
            draws -= taken
            if draws:
                self._stream = None

    def delivered(self, kind: str, draws: int) -> Iterator[Delivered]:
        del kind
        return map(delivered_dict, self._next(draws))

    def read(self, draws: int, *, hashed: bool) -> Tally:
        owned = not self.options.get("view", False)
        if draws == self.spec.rows:  # a whole epoch needs no helper around its iterator
            return drain_dicts(self._dataset, hashed=hashed, owned=owned)
        return drain_dicts(self._next(draws), hashed=hashed, owned=owned)

    def loader(self, batch_size: int, workers: int) -> Loader:
        return LitdataLoader(self._dataset, batch_size, workers)


ENGINE = LitdataEngine
