"""``PayloadBuffer``: the memory of a batch. Light, because reading batches imports it."""

from __future__ import annotations

from typing import Any

__all__ = ["PayloadBuffer"]


class PayloadBuffer(bytearray):
    """All payloads of a batch back to back: a ``bytearray`` that is the caller's own.

    NumPy and torch take it without a copy and without a warning, as a buffer
    (``numpy.asarray``, ``torch.frombuffer``) or by DLPack (``torch.from_dlpack``). DLPack goes
    through NumPy.
    """

    __slots__ = ()

    def __dlpack__(self, **options: Any) -> Any:
        """Give a DLPack capsule of the bytes, one-dimensional uint8, without a copy."""
        import numpy as np

        return np.frombuffer(self, dtype=np.uint8).__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Say that the bytes are in the main memory."""
        return (1, 0)


PayloadBuffer.__module__ = "dataset_rt.api"
