"""``dataset-rt verify``: every byte checked, every damage named; exit code 1 when there is one."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import dataset_rt as drt
from dataset_rt.cli import FAILED
from dataset_rt.cli.failures import Verdict, describe
from dataset_rt.cli.places import find_caches
from dataset_rt.units import counted, rate, size

if TYPE_CHECKING:
    from pathlib import Path

    from dataset_rt.cli.screen import Screen

__all__ = ["verify"]

RANGES_SHOWN = 12


def verify(screen: Screen, paths: list[Path], *, workers: int, most: int) -> None:
    """Verify cache by cache; of each at most ``most`` findings are shown, JSON has all."""
    verdict = Verdict()
    entries: list[dict[str, Any]] = []
    for path in find_caches(paths):
        with verdict.keeping_on(entries, str(path)):
            began = time.perf_counter()
            with screen.progress(f"verify {path.name}") as update:
                report = drt.verify(path, num_workers=workers, progress=update)
            seconds = time.perf_counter() - began
            entries.append(_entry(report, seconds))
            if not report.is_intact:
                verdict.code = FAILED
            if not screen.as_json:
                _show(screen, report, seconds, most)
    if screen.as_json:
        screen.value({"caches": entries, "is_intact": not verdict.code})
    verdict.leave()


def _entry(report: drt.CacheVerification, seconds: float) -> dict[str, Any]:
    return {
        "path": report.path,
        "is_intact": report.is_intact,
        "row_count": report.row_count,
        "file_count": report.file_count,
        "byte_count": report.byte_count,
        "seconds": seconds,
        "damaged_samples": _ranges(report),
        "omitted_count": report.omitted_count,
        "damages": [
            {
                "message": str(damage.error),
                **{name: getattr(damage.error, name) for name in damage.error.fields},
                "samples": None
                if damage.sample_ids is None
                else _first_and_last(damage.sample_ids),
            }
            for damage in report.damages
        ],
    }


def _show(screen: Screen, report: drt.CacheVerification, seconds: float, most: int) -> None:
    checked = (
        f"{counted(report.row_count, 'sample')}, {counted(report.file_count, 'file')}, "
        f"{size(report.byte_count)} at {rate(report.byte_count / seconds)}"
    )
    if report.is_intact:
        screen.line(f"intact   {report.path}: {checked}", "green")
        return
    screen.line(f"DAMAGED  {report.path}: {checked}", "bold red")
    ranges = _ranges(report)
    total = len(report.damages) + report.omitted_count
    if ranges:
        number = counted(sum(last - first + 1 for first, last in ranges), "sample")
        texts = [str(first) if first == last else f"{first}-{last}" for first, last in ranges]
        more = ", …" if len(texts) > RANGES_SHOWN else ""
        screen.line(f"  {number}: {', '.join(texts[:RANGES_SHOWN])}{more}")
    for damage in report.damages[:most]:
        screen.line(f"  {_finding(damage, str(report.path))}")
    if total > most:
        screen.line(f"  and {counted(total - most, 'finding')} more; --json lists them", "dim")


def _finding(damage: drt.CacheDamage, path: str) -> str:
    """The sentence without the cache, which stands above it."""
    return describe(damage.error).removeprefix(f"cache {path}: ")


def _ranges(report: drt.CacheVerification) -> list[list[int]]:
    """First and last of the samples that findings name, neighbours together, in order."""
    ranges: list[list[int]] = []
    named = (damage.sample_ids for damage in report.damages if damage.sample_ids)
    for ids in sorted(named, key=lambda ids: ids.start):
        first, last = _first_and_last(ids)
        if ranges and first <= ranges[-1][1] + 1:
            ranges[-1][1] = max(last, ranges[-1][1])
        else:
            ranges.append([first, last])
    return ranges


def _first_and_last(ids: range) -> list[int]:
    return [ids.start, ids.stop - 1]
