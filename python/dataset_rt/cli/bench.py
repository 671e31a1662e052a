"""``dataset-rt bench``: how fast this machine reads a cache now, beside its copies of memory."""

from __future__ import annotations

import itertools
import statistics
import time
from typing import TYPE_CHECKING, Any

from dataset_rt import _native
from dataset_rt.cli.places import open_dataset
from dataset_rt.cli.screen import Column, Screen
from dataset_rt.units import count, counted, rate, share, size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from dataset_rt import CachedDataset

__all__ = ["bench"]

BLOCK_BYTES = 64 * 1024 * 1024
BYTES_AT_ONCE = 16 * 1024 * 1024
ROUNDS = 3


def bench(
    screen: Screen, paths: list[Path], *, seconds: float, batch_size: int, workers: int, seed: int
) -> None:
    """Measure each way of reading for about ``seconds``, in rounds, beside plain copies."""
    shuffled = open_dataset(paths, workers=workers, seed=seed)
    ordered = open_dataset(paths, workers=workers, ordered=True)
    mean = _mean_payload(shuffled)
    at_once = max(1, min(256, int(BYTES_AT_ONCE / (mean + 1))))
    in_batches = max(1, min(batch_size, int(4 * BYTES_AT_ONCE / (mean + 1))))
    ways: dict[str, Callable[[], tuple[int, int]]] = {
        "memory copy": _copy_blocks(),
        "copies of payload size": _copy_payloads(int(mean), at_once),
        "samples, in table order": _samples(ordered, at_once),
        "samples, shuffled": _samples(shuffled, at_once),
        f"batches of {in_batches}, shuffled": _batches(shuffled, in_batches),
    }
    rates: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    total = ROUNDS * len(ways)
    with screen.progress("bench") as update:
        for number, (name, step) in enumerate(itertools.chain(*[ways.items()] * ROUNDS)):
            update(number, total)
            rates[name].append(_measured(step, seconds / ROUNDS))
    answer = _answer(rates, [shuffled, ordered], mean)
    if screen.as_json:
        screen.value(answer)
    else:
        _show(screen, answer)


def _mean_payload(dataset: CachedDataset) -> float:
    import dataset_rt as drt

    caches = [drt.inspect(path) for path in dataset.cache_paths]
    return sum(c.payload_bytes for c in caches) / sum(c.row_count for c in caches)


def _copy_blocks() -> Callable[[], tuple[int, int]]:
    source, target = memoryview(bytearray(BLOCK_BYTES)), memoryview(bytearray(BLOCK_BYTES))

    def step() -> tuple[int, int]:
        target[:] = source
        return 1, BLOCK_BYTES

    return step


def _copy_payloads(length: int, at_once: int) -> Callable[[], tuple[int, int]]:
    """A new bytes object for each payload, as a reader must make one: the least a read can cost."""
    source = memoryview(bytearray(max(BLOCK_BYTES, length)))
    starts = range(0, len(source) - length + 1, max(length, 64))
    turns = itertools.cycle(starts)

    def step() -> tuple[int, int]:
        read = 0
        for start in itertools.islice(turns, at_once):
            read += len(bytes(source[start : start + length]))
        return at_once, read

    return step


def _samples(dataset: CachedDataset, at_once: int) -> Callable[[], tuple[int, int]]:
    endless = itertools.chain.from_iterable(_windows(lambda: iter(dataset)))

    def step() -> tuple[int, int]:
        read = 0
        for sample in itertools.islice(endless, at_once):
            read += len(sample.data)
        return at_once, read

    return step


def _batches(dataset: CachedDataset, batch_size: int) -> Callable[[], tuple[int, int]]:
    endless = itertools.chain.from_iterable(_windows(lambda: dataset.batches(batch_size)))

    def step() -> tuple[int, int]:
        batch = next(endless)
        return len(batch), len(batch.data)

    return step


def _windows(make: Callable[[], Any]) -> Iterator[Any]:
    while True:
        yield make()


def _measured(step: Callable[[], tuple[int, int]], seconds: float) -> tuple[float, float]:
    """Items and bytes per second, after one step that counts for nothing."""
    step()
    items = read = 0
    began = time.perf_counter()
    end = began + seconds
    while (now := time.perf_counter()) < end:
        more, more_bytes = step()
        items += more
        read += more_bytes
    passed = now - began
    return items / passed, read / passed


def _answer(
    rates: dict[str, list[tuple[float, float]]], datasets: list[CachedDataset], mean: float
) -> dict[str, Any]:
    stats = [dataset.stats() for dataset in datasets]
    lines: list[dict[str, Any]] = [
        {
            "way": name,
            "per_second": statistics.median(items for items, _ in rounds),
            "bytes_per_second": statistics.median(read for _, read in rounds),
        }
        for name, rounds in rates.items()
    ]
    copied = lines[0]["bytes_per_second"]
    for line in lines:
        line["share_of_memory_copy"] = line["bytes_per_second"] / copied
    return {
        "rows": len(datasets[0]),
        "mean_payload_bytes": mean,
        "cold_reads": sum(s.cold_reads for s in stats),
        "warm_reads": sum(s.warm_reads for s in stats),
        "build_profile": _native.__build_profile__,
        "ways": lines,
    }


def _show(screen: Screen, answer: dict[str, Any]) -> None:
    mean = answer["mean_payload_bytes"]
    screen.heading(f"{counted(answer['rows'], 'row')}, {size(mean)} of payload on average")
    screen.table(
        [
            Column("what", may_shrink=True),
            Column("items/s", right=True),
            Column("bytes/s", right=True),
            Column("of memory copy", right=True),
            Column("", style="cyan", may_shrink=True),
        ],
        [
            (
                line["way"],
                count(line["per_second"]),
                rate(line["bytes_per_second"]),
                f"{100 * line['share_of_memory_copy']:.3g} %",
                min(1.0, line["share_of_memory_copy"]),
            )
            for line in answer["ways"]
        ],
    )
    cold, warm = answer["cold_reads"], answer["warm_reads"]
    places = "All records were in memory."
    if cold:
        places = f"{share(cold / (cold + warm))} of the reads had to fetch their records first."
    screen.line("")
    screen.line(f"This machine, now, with whatever else runs on it. {places}", "dim")
    if answer["build_profile"] != "release":
        screen.line("The native module is a debug build: its figures mean nothing.", "bold red")
