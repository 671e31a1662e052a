"""What processes do that read through a store and may be killed at any moment."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import dataset_rt as drt
import dataset_rt.integrations.objects
import dataset_rt.runtime

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

SAID_SAMPLES = 10


def read_for_ever(
    environment: dict[str, str], url: str, store: drt.StoreConfig, seed: int, said: Connection
) -> None:
    """Read epoch after epoch; tell the digests of samples that arrived."""
    os.environ.update(environment)
    runtime = drt.DatasetRuntime(num_workers=2)
    config = drt.ReaderConfig(seed=seed, replacement=False)
    dataset = runtime.cached_dataset([url], reader_config=config, store_config=store)
    said.send([])
    arrived = []
    while True:
        for sample in dataset:
            arrived.append((sample.sample_id, sample.data))
            if len(arrived) == SAID_SAMPLES:
                said.send(arrived)
                arrived = []
