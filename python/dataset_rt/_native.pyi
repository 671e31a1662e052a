"""The compiled core: every rule of correctness, called by the thin modules beside it.

Not public: import from ``dataset_rt``. Values that Python code sees are made here as the
right Python class. The core imports three light modules on first use and nothing else of
the package: ``dataset_rt.sample`` (``CachedSample``), ``dataset_rt.results`` and
``dataset_rt.errors``. Config objects are read by attribute and checked again.

Every call raises a class of ``dataset_rt.errors``; only a wrong argument type is a
``TypeError``. Waits, file reads and decoding release the GIL.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, SupportsIndex, final

import numpy.typing as npt

from dataset_rt.batch import PayloadBuffer
from dataset_rt.config import ReaderConfig, StoreConfig, WriterConfig
from dataset_rt.metadata import ArrowStreamExportable
from dataset_rt.results import (
    CacheInspection,
    CacheVerification,
    CacheWriteResult,
    CacheWriteSuccess,
)
from dataset_rt.sample import CachedSample
from dataset_rt.source import CacheSource

__all__ = [
    "ArrowTable",
    "BatchIterator",
    "Dataset",
    "Runtime",
    "SampleBatch",
    "SampleIterator",
    "Window",
    "WriteProgress",
    "__build_profile__",
    "__version__",
    "check_reader_config",
    "check_store_config",
    "check_writer_config",
    "convert",
    "end_requests",
    "inspect",
    "sweep_temporaries",
    "upload",
    "verify",
    "write_profile",
]

__version__: str
"""Version of the package and of the core, as written into ``origin.json``."""

__build_profile__: str
"""``"debug"`` or ``"release"``; benchmarks refuse to report a debug build."""

def check_reader_config(config: ReaderConfig, /) -> None:
    """Check the rules that span fields.

    Raises:
        InvalidConfigError: With the field and its value.
    """

def check_store_config(config: StoreConfig, /) -> None:
    """Check the rules that span fields, see ``check_reader_config``."""

def check_writer_config(config: WriterConfig, /) -> None:
    """Check the rules that span fields, see ``check_reader_config``."""

def verify(
    path: str, *, num_workers: int, progress: Callable[[int, int], object] | None = None
) -> CacheVerification:
    """Verify a cache in full, see ``dataset_rt.verify``."""

def upload(
    path: str,
    url: str,
    *,
    attempts: int,
    request_timeout_seconds: float,
    num_workers: int,
    progress: Callable[[int, int], object] | None = None,
) -> dict[str, Any]:
    """Send a cache to object storage, see ``dataset_rt.upload``: the fields of ``CacheUpload``."""

def end_requests() -> None:
    """Make no more requests of object stores, and wait for those under way: the process ends."""

def inspect(path: str, /) -> CacheInspection:
    """Tell what the manifest of a cache says, see ``dataset_rt.inspect``."""

def convert(
    path: str,
    out: str,
    config: WriterConfig,
    *,
    compression: str | None,
    num_workers: int,
    progress: Callable[[int, int], object] | None = None,
) -> CacheWriteSuccess:
    """Rewrite a cache as format 1, see ``dataset_rt.convert``.

    Of the config, ``prefetch_size`` and ``max_shard_bytes`` count.
    """

def sweep_temporaries(base: str, /) -> None:
    """Remove what dead writers left below ``base``; living ones keep theirs."""

def write_profile(
    path: str,
    sources: Sequence[tuple[str, str, str | None]],
    *,
    outcome: str,
    seconds: float,
) -> None:
    """Write the profile of a call that took so many seconds.

    Args:
        path: The JSON file.
        sources: Name, outcome in a word, and the text of the profile of the source's own
            call of ``write_caches``, or None where there was none.
        outcome: Word for the whole call.
        seconds: Time it took.
    """

@final
class WriteProgress:
    """Progress of sources that are written elsewhere, shown as ``write_caches`` shows it."""

    def __new__(
        cls, show: bool, sources: int, callback: Callable[[str, int, int], None] | None
    ) -> WriteProgress: ...
    def begin(self, name: str) -> None: ...
    def count(self, name: str, samples: int, payload_bytes: int) -> None:
        """Say how much of a source is committed so far."""

    def end(self, name: str, outcome: str, samples: int, payload_bytes: int) -> None: ...
    def finish(self) -> None: ...

@final
class Runtime:
    """Exactly ``num_workers`` named threads, shared by writing, opening and reading.

    Raises:
        InvalidConfigError: ``num_workers`` is not in 1..=1024.
    """

    def __new__(cls, num_workers: int) -> Runtime: ...
    @property
    def num_workers(self) -> int: ...
    def find_caches(
        self,
        sources: Sequence[CacheSource],
        base: str,
        config: WriterConfig,
        *,
        reuse: bool,
    ) -> list[tuple[str, CacheWriteResult | None]]:
        """Name and outcome of each source as ``write_caches`` would give it without iterating.

        No outcome where a cache is to be written, or is being written now.
        """

    def write_caches(
        self,
        sources: Sequence[CacheSource],
        base: str,
        config: WriterConfig,
        *,
        reuse: bool,
        progress: Callable[[str, int, int], None] | None = None,
        report: Callable[[int, int], None] | None = None,
    ) -> list[CacheWriteResult]:
        """Write one cache per source under ``base``; results in source order.

        ``reuse=False`` gives ``CacheExistsError`` as the error value of a source whose
        cache is finished; ``reuse=True`` gives a success with status ``"reused"``.
        ``progress`` receives each rendered line where the process has a notebook as its
        screen; without it the core draws on standard error by itself.
        ``report`` receives samples and bytes committed, every tenth of a second while rows
        come in or the core waits, and once at the end of a source; nothing is shown then.

        Raises:
            InvalidConfigError: Two sources share a name (nothing has been written).
            BaseException: What a source raised, if it is not an ``Exception``.
        """

    def open_dataset(
        self, paths: Sequence[str], config: ReaderConfig, store: StoreConfig | None = None
    ) -> Dataset:
        """Open caches; ``cache_id`` is the position in ``paths``, which are made absolute.

        The store is for paths that are URLs.
        """

    def open_written(
        self, results: Sequence[CacheWriteResult], config: ReaderConfig
    ) -> tuple[Dataset | None, list[CacheWriteResult]]:
        """Open every cache that was written or found.

        A cache that cannot be opened, or whose schema is unlike that of the first one,
        becomes the error value of its source. No dataset when nothing could be opened.
        """

    def open_dump(self, file: str) -> Dataset:
        """Open the file-backed handle written by ``Dataset.dump``."""

    def open_window(self, handle: str) -> Window:
        """Open a window shared by another process, see ``Window.share``."""

@final
class ArrowTable:
    """A table owned by the core, handed over without a copy."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    @property
    def row_count(self) -> int: ...

@final
class Dataset:
    """Caches, the active table and a cursor; or the view of one rank of it."""

    def __len__(self) -> int:
        """Epoch length in draws; of this rank for a view."""

    def __iter__(self) -> SampleIterator:
        """Claim the next window and iterate over it."""

    def batches(self, batch_size: int, drop_last: bool) -> BatchIterator:
        """Claim the next window and iterate over it in batches."""

    @property
    def cache_paths(self) -> list[str]:
        """Absolute paths in ``cache_id`` order."""

    @property
    def cache_urls(self) -> list[str | None]:
        """Where each cache comes from, in ``cache_id`` order; None for a directory."""

    @property
    def reader_config(self) -> dict[str, int | bool | str]:
        """Field values of the ``ReaderConfig`` in use."""

    @property
    def position(self) -> int:
        """The cursor: position where the next window starts."""

    def set_epoch_len(self, epoch_len: int) -> None: ...
    def metadata(self) -> ArrowTable:
        """The active table: ids (UInt64), stored columns, weight (Float64), extra columns."""

    def update_metadata(self, table: ArrowStreamExportable) -> None:
        """Validate the whole table, then swap it in and reset cursor and epoch length."""

    def skip(self, draws: int) -> None: ...
    def state_dict(self) -> dict[str, int | str]: ...
    def load_state_dict(self, state: dict[str, int | str]) -> None: ...
    def check_equal(self, state: dict[str, int | str]) -> None:
        """Check that the dataset whose state this is goes on with the same draws as this one.

        Raises:
            StateMismatchError: Caches, table, mode, seed, epoch length or position differ.
        """

    def plan(self, draws: int, start: int | None = None) -> ArrowTable:
        """Draws to come as position, row, cache_id, sample_id (UInt64 each)."""

    def sampling_report(self, start: int, stop: int, by: str | None = None) -> ArrowTable:
        """Shares and counts of positions, one line per row of the table.

        row, cache_id, sample_id, weight_share, expected and drawn; with ``by`` that column
        and the last three.
        """

    def stats(self) -> dict[str, Any]:
        """The fields of ``ReadStats``."""

    def draw_seed(self, position: int) -> int: ...
    def partition(
        self, index: int, count: int, *, drop_uneven: bool = False, pad: bool = False
    ) -> Dataset:
        """The view of one rank; of a view, a part of its draws.

        A ``count`` of 1 is a plain copy with a cursor of its own.
        """

    @property
    def rank(self) -> tuple[int, int]:
        """(index, count) of this view; (0, 1) for a whole dataset."""

    def get_item(self, cache_id: int, sample_id: int) -> CachedSample:
        """One sample by identity."""

    def get_items(self, ids: Sequence[tuple[int, int]]) -> list[CachedSample]:
        """Samples by identity (cache_id, sample_id), in the order asked for."""

    def dump(self, directory: str) -> str:
        """Write the file-backed handle; returns the file that ``open_dump`` takes."""

    def window(
        self,
        *,
        claim: bool = True,
        index: int = 0,
        count: int = 1,
        drop_uneven: bool = False,
        pad: bool = False,
    ) -> Window:
        """Claim the next window without starting to read, and keep one rank's part of it.

        The cursor moves past the whole window, as for an iterator, whatever the part.
        ``claim=False`` gives the same window and leaves the cursor where it is.
        """

@final
class SampleIterator:
    """The samples of one claimed window, in draw order, prefetched within bounds."""

    def __iter__(self) -> SampleIterator: ...
    def __next__(self) -> CachedSample: ...
    def __length_hint__(self) -> int:
        """Draws left in the window."""

    @property
    def position(self) -> int:
        """Position of the next draw to be delivered; prefetching does not move it.

        Of a rank's view it is min(start + delivered * count, end), and the end of the window
        once the iterator has said that it is exhausted.
        """

    def skip(self, draws: int) -> None:
        """Pass over draws, at most to the end of the window."""

    def state_dict(self) -> dict[str, int | str]:
        """Describe where the iterator stands: what was delivered, not what was read ahead."""

    def load_state_dict(self, state: dict[str, int | str]) -> None:
        """Go on with the rest of the window that a state describes, instead of this one.

        Raises:
            StateMismatchError: Caches, table, mode or seed differ; nothing changes.
        """

@final
class BatchIterator:
    """The draws of one claimed window in batches, read ahead within bounds."""

    def __iter__(self) -> BatchIterator: ...
    def __next__(self) -> SampleBatch: ...
    def __length_hint__(self) -> int:
        """Batches left in the window, if no draw fails."""

    @property
    def position(self) -> int:
        """Position of the next draw to be delivered, see ``SampleIterator.position``.

        A batch that is not full is the last one: the iterator is then at the window's end.
        """

    def skip(self, draws: int) -> None:
        """Pass over draws, at most to the end of the window."""

    def state_dict(self) -> dict[str, int | str]:
        """Describe where the iterator stands: what was delivered, not what was read ahead."""

    def load_state_dict(self, state: dict[str, int | str]) -> None:
        """Go on with the rest of the window that a state describes, instead of this one.

        Raises:
            StateMismatchError: Caches, table, mode or seed differ; nothing changes.
        """

@final
class SampleBatch:
    """Draws of one window, their payloads back to back in one buffer.

    Everything is the caller's own: nothing aliases a cache. Parts are made when they are
    first asked for.
    """

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[CachedSample]: ...
    def __getitem__(self, index: SupportsIndex, /) -> CachedSample:
        """The sample as single reads deliver it; its payload is a copy out of ``data``.

        Raises:
            CorruptCacheError: A metadata value is damaged.
        """

    @property
    def data(self) -> PayloadBuffer:
        """All payloads in draw order, writable; a ``bytearray`` that also offers DLPack."""

    @property
    def offsets(self) -> memoryview:
        """Where each payload begins in ``data``, and where the last one ends: int64."""

    @property
    def positions(self) -> memoryview:
        """Positions of the draws: uint64."""

    @property
    def cache_ids(self) -> memoryview:
        """Caches of the draws: uint64, as in the table."""

    @property
    def sample_ids(self) -> memoryview:
        """Samples within their caches: uint64, as in the table."""

    @property
    def metadata(self) -> ArrowTable:
        """The stored columns, one line per draw: ``polars.DataFrame(batch.metadata)``.

        Raises:
            CorruptCacheError: A value is damaged.
        """

    def columns(self) -> dict[str, memoryview | list[str]]:
        """The stored columns without an Arrow library, in table order.

        Returns:
            A writable memoryview of int64, float64 or bool per column, a list of texts;
            made anew by each call.

        Raises:
            CorruptCacheError: A value is damaged.
        """

    def payload(self, number: int) -> memoryview:
        """The part of ``data`` that is one payload."""

    def stacked(
        self, shape: Sequence[int] | None = None, dtype: npt.DTypeLike = "uint8"
    ) -> npt.NDArray[Any]:
        """``data`` as a NumPy array with one line per draw; writing in it writes in ``data``.

        Args:
            shape: Of one payload; one-dimensional if left out.
            dtype: Of its elements.

        Raises:
            InvalidConfigError: Payloads differ in size, or shape and dtype do not fit it.
            ImportError: NumPy is not installed.
        """

@final
class Window:
    """A claimed window as a frozen view: draws by their index in it, from any process.

    Index 0 is the first draw of this rank, ``len(window) - 1`` its last one.
    """

    def __len__(self) -> int: ...
    def __iter__(self) -> SampleIterator:
        """Iterate over all draws, prefetched as for a dataset's own iterator."""

    def samples(self, start: int, stop: int) -> list[CachedSample]:
        """Read the draws ``start..stop`` in order; skipped ones are left out."""

    def seeded_samples(self, start: int, stop: int) -> list[tuple[CachedSample, int]]:
        """Like ``samples``, each with the ``draw_seed`` of its position."""

    def batch(self, start: int, stop: int) -> SampleBatch | None:
        """Read the draws ``start..stop`` into one buffer; skipped ones are left out.

        A draw that fails takes the place of the batch. None if nothing is left of it.
        """

    @property
    def fetches(self) -> bool:
        """Whether a cache comes from a URL."""

    def expect_units(self, start: int, span: int, stride: int) -> None:
        """Say which units are read next, so that their records are fetched ahead.

        They begin at ``start`` and every ``stride`` draws behind it, and have ``span`` draws. Waits
        for nothing.
        """

    def payload_bytes(self, start: int, stop: int) -> int:
        """Bytes of the payloads of ``start..stop`` by the index, without reading them.

        Draws of a cycle whose order nobody made yet do not count.
        """

    def seeds_of(self, batch: SampleBatch) -> memoryview:
        """The ``draw_seed`` of each draw of a batch of this window: uint64."""

    def following(self, windows: int) -> Window:
        """The full window that many windows later, same table, same rank; 0 is this one."""

    def resumed(self, state: dict[str, int | str]) -> Window:
        """The window that a state describes, from its position on; same table, same rank.

        Raises:
            StateMismatchError: Caches, table, mode or seed differ.
        """

    def state_dict(self, delivered: int | None) -> dict[str, int | str]:
        """State after ``delivered`` draws of this rank, or behind the whole window for None.

        The two differ for a rank whose part is one draw shorter than that of others.
        """

    def share(self) -> str:
        """Back the view by files and return its handle, a short text.

        Files are written once per active table, mapped by every process of the host and
        removed when the last window and dataset of this process that use them are gone.
        """
