"""The kinds of trial, as definitions name them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.trial.growth import GrowthTrial
from benchmarks.trial.reading import BatchTrial, FetchTrial, LoaderTrial, ReadTrial
from benchmarks.trial.remote import RemoteTrial
from benchmarks.trial.whole_store import VerifyTrial, WriteTrial

if TYPE_CHECKING:
    from benchmarks.trial.base import Trial

KINDS: dict[str, type[Trial]] = {
    "read": ReadTrial,
    "batches": BatchTrial,
    "get_item": FetchTrial,
    "write": WriteTrial,
    "verify": VerifyTrial,
    "growth": GrowthTrial,
    "loader": LoaderTrial,
    "remote": RemoteTrial,
}
