"""Quickstart: cache the handwritten digits of scikit-learn, then balance and draw them.

Run it twice: the second run reuses what the first one wrote, and says so.

    python examples/quickstart.py [--cache DIRECTORY] [--no-plot]
"""

from __future__ import annotations

import argparse
import os
import pickle
import time
from pathlib import Path
from typing import TYPE_CHECKING

import dataset_rt as drt
import numpy as np
import polars as pl
from sklearn.datasets import load_digits  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from collections.abc import Iterator

QUALITY_WANTED = 0.75
"""Smallest quality that is trained on; it leaves the classes unequal, which is the point."""


class Digits:
    """One split of the digits: pickled images, with label, split and quality as metadata."""

    version = "contrast-1"  # change it when preprocessing changes: old caches are then refused

    def __init__(self, split: str) -> None:
        self.name = f"digits-{split}"
        self._split = split

    def __iter__(self) -> Iterator[drt.CacheInput]:
        """Yield every fifth image for ``test`` and the others for ``train``."""
        digits = load_digits()
        for number, (image, label) in enumerate(zip(digits.images, digits.target, strict=True)):
            if (number % 5 == 0) == (self._split == "test"):
                record = {"number": number, "pixels": image.astype(np.uint8)}
                quality = float(image.std() / 8)  # contrast: 0 is blank, 1 is black and white
                yield drt.CacheInput(
                    data=pickle.dumps(record, protocol=pickle.HIGHEST_PROTOCOL),
                    metadata={"label": int(label), "split": self._split, "quality": quality},
                )


def open_dataset(cache: Path) -> drt.CachedDataset:
    """Write both splits, or reuse them, and open them as one dataset."""
    runtime = drt.DatasetRuntime(num_workers=2)
    result = runtime.from_cache_sources(
        [Digits("train"), Digits("test")],
        cache,
        reader_config=drt.ReaderConfig(seed=42),
        writer_config=drt.WriterConfig(
            shard_compression=drt.ShardCompression(algo="lz4", ratio=2.0)
        ),
    )
    match result:
        case drt.CacheSourcesDatasetSuccess(dataset, results):
            for outcome in results:
                match outcome:
                    case drt.CacheWriteSuccess(name, path):
                        print(f"{name}: {outcome.status}, {outcome.row_count} samples in {path}")
                    case drt.CacheWriteError(name, message):
                        raise SystemExit(f"{name}: {message}")
            return dataset
        case drt.CacheSourcesDatasetError(_, message):
            raise SystemExit(message)


def check_every_payload(dataset: drt.CachedDataset) -> int:
    """Compare each cached image with the original; give their number."""
    originals = load_digits().images.astype(np.uint8)
    ids = dataset.get_metadata().select("cache_id", "sample_id").rows()
    seen = set()
    for sample in dataset.get_items(ids):
        record = pickle.loads(sample.data)  # noqa: S301 - our own bytes, checked by their hash
        if not np.array_equal(record["pixels"], originals[record["number"]]):
            raise SystemExit(f"sample {sample.sample_id} of cache {sample.cache_id} differs")
        seen.add(record["number"])
    if len(seen) != len(originals):
        raise SystemExit(f"{len(originals) - len(seen)} images are missing")
    return len(seen)


def draw_epoch(dataset: drt.CachedDataset) -> list[int]:
    """Draw one epoch, decode each payload, and count the labels that came."""
    counts = [0] * 10
    ink = 0
    for sample in dataset:
        record = pickle.loads(sample.data)  # noqa: S301 - our own bytes, checked by their hash
        ink += int(record["pixels"].sum())
        counts[int(sample.metadata["label"])] += 1
    print(f"  {sum(counts)} draws, mean ink {ink / sum(counts):.1f}, per class {counts}")
    return counts


def save_plot(file: Path, before: list[int], after: list[int]) -> None:
    """Draw both class counts side by side."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
    labels = np.arange(10)
    axes.bar(labels - 0.2, before, width=0.4, color="#b0b7c3", label="as selected")
    axes.bar(labels + 0.2, after, width=0.4, color="#2a78d6", label="balanced by weight")
    axes.axhline(sum(after) / 10, color="#444444", linewidth=0.8, linestyle="--")
    axes.set(xlabel="digit", ylabel="draws in one epoch", xticks=labels)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    figure.savefig(file, dpi=150)
    plt.close(figure)


def default_cache() -> Path:
    """A folder below the directory the user stands in, under ``bazel run`` too."""
    folders = (os.environ.get(name) for name in ("BUILD_WORKING_DIRECTORY", "TEST_TMPDIR"))
    return Path(next(filter(None, folders), ".")) / "dataset_rt_quickstart"


def main() -> None:
    """Cache, check, select, balance and draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cache", type=Path, default=default_cache(), help="cache directory")
    parser.add_argument("--no-plot", action="store_true", help="do not draw the class counts")
    arguments = parser.parse_args()
    started = time.monotonic()

    dataset = open_dataset(arguments.cache)
    print(f"every payload equals its original: {check_every_payload(dataset)} images\n")
    metadata = dataset.get_metadata()
    print(metadata)

    selected = metadata.filter((pl.col("split") == "train") & (pl.col("quality") >= QUALITY_WANTED))
    dataset.update_metadata(selected)
    print(f"\none epoch of the {selected.height} clear training images:")
    before = draw_epoch(dataset)

    # Every class has the same total weight. `.over` keeps the order of the rows, which is part
    # of what the seed draws from.
    balanced = selected.with_columns((1.0 / pl.len().over("label")).alias("weight"))
    dataset.update_metadata(balanced)
    print("one epoch with balanced classes (drawn with replacement, so nearly equal):")
    after = draw_epoch(dataset)

    if not arguments.no_plot:
        plot = arguments.cache / "class_counts.png"
        save_plot(plot, before, after)
        print(f"\nplot: {plot}")
    print(f"done in {time.monotonic() - started:.1f} s")


if __name__ == "__main__":
    main()
