"""``ReadStats``: what a dataset has read so far."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ReadStats"]


@dataclass(frozen=True)
class ReadStats:
    """Counts since a dataset was opened, in this process.

    Iterators, batches, views and random access of one dataset count together.

    Attributes:
        warm_reads: Draws whose records were in memory.
        cold_reads: Draws whose records had to be fetched first, or all with ``mapped=False``.
        item_reads: Samples read by identity.
        payload_bytes: Payload bytes of all these.
        checked_records: Records whose checksum was compared.
        corrupt_skips: Damaged draws left out with ``on_corrupt="skip"``.
        decode_seconds: Time spent decompressing, of all threads together.
        wait_seconds: Time that your thread waited for the runtime's threads.
        fetch_requests: Requests made of object stores, repeated ones too; 0 where no path is
            a URL, like the next two.
        fetch_repeats: Those of them that repeated one that had failed.
        fetched_bytes: Bytes that came from object stores.
    """

    warm_reads: int
    cold_reads: int
    item_reads: int
    payload_bytes: int
    checked_records: int
    corrupt_skips: int
    decode_seconds: float
    wait_seconds: float
    fetch_requests: int = 0
    fetch_repeats: int = 0
    fetched_bytes: int = 0

    def _repr_html_(self) -> str:
        from dataset_rt.display import facts
        from dataset_rt.units import count, size

        return facts(
            "reads of this dataset",
            [
                ("warm", count(self.warm_reads)),
                ("cold", count(self.cold_reads)),
                ("by identity", count(self.item_reads)),
                ("payload", size(self.payload_bytes)),
                ("records checked", count(self.checked_records)),
                ("damaged, skipped", count(self.corrupt_skips)),
                ("fetched", f"{size(self.fetched_bytes)} in {count(self.fetch_requests)} requests"),
                ("decoding", f"{self.decode_seconds:.3f} s of all threads"),
                ("waiting", f"{self.wait_seconds:.3f} s"),
            ],
        )


ReadStats.__module__ = "dataset_rt.api"
