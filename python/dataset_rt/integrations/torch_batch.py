"""Batches on their way from a loader worker to the training loop: one tensor each.

torch hands every tensor to another process as a file of its own, and pickles everything else.
So payloads, offsets, ids and numeric columns travel as one uint8 tensor, and the parts are
views of it; only text columns are pickled. Which draws a batch has is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, overload

import torch

from dataset_rt.sample import CachedSample

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dataset_rt import _native
    from dataset_rt.sample import MetadataValue

__all__ = ["Layout", "LoaderBatch", "Packed", "PayloadList", "memory_of", "pack"]

_DTYPES = {"q": torch.int64, "d": torch.float64, "?": torch.bool}

_ALIGNMENT = 8
"""Bytes; the widest number behind the payloads."""


class PayloadList(Sequence[bytes]):
    """Payloads of a batch, back to back in one tensor: a sequence of bytes, made when asked for.

    Attributes:
        tensor: All payloads, uint8, writable, the caller's own.
        offsets: Where each payload begins in ``tensor``, and where the last one ends: int64.
        positions: Positions of the draws: int64.
    """

    def __init__(
        self, tensor: torch.Tensor, offsets: torch.Tensor, positions: torch.Tensor
    ) -> None:
        self.tensor = tensor
        self.offsets = offsets
        self.positions = positions

    def __len__(self) -> int:
        return len(self.positions)

    @overload
    def __getitem__(self, index: int) -> bytes: ...
    @overload
    def __getitem__(self, index: slice) -> list[bytes]: ...
    def __getitem__(self, index: int | slice) -> bytes | list[bytes]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        return self.view(index).tobytes()

    def __iter__(self) -> Iterator[bytes]:
        memory = memory_of(self.tensor)
        ends = self.offsets.tolist()
        for start, end in pairwise(ends):
            yield memory[start:end].tobytes()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (list, PayloadList)):
            return NotImplemented
        return list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<PayloadList of {len(self)} payloads, {len(self.tensor)} bytes>"

    def view(self, index: int) -> memoryview:
        """The part of ``tensor`` that is one payload, without a copy."""
        place = range(len(self))[index]
        start, end = self.offsets[place : place + 2].tolist()
        return memory_of(self.tensor)[start:end]


class LoaderBatch(CachedSample):
    """What a loader without transform and collate function delivers.

    A ``CachedSample`` whose fields hold one value per sample, as torch's own collate function
    makes it. All parts are views of one tensor, in memory that is the caller's own: keeping a
    part keeps them all.

    Attributes:
        data: The payloads, a sequence of bytes objects, see ``PayloadList``.
        metadata: A tensor per column of int64, float64 or bool, a list per column of text.
        cache_id: Caches of the samples: int64.
        sample_id: Samples within their caches: int64.
    """

    data: PayloadList  # type: ignore[assignment]
    metadata: dict[str, Any]
    cache_id: torch.Tensor  # type: ignore[assignment]
    sample_id: torch.Tensor  # type: ignore[assignment]

    @property
    def positions(self) -> torch.Tensor:
        """Positions of the draws: int64."""
        return self.data.positions

    def payload(self, index: int) -> memoryview:
        """One payload without a copy; writing in it writes in the batch."""
        return self.data.view(index)

    def sample(self, index: int) -> CachedSample:
        """One sample as single reads deliver it; its payload is a copy."""
        place = range(len(self.data))[index]
        metadata: dict[str, MetadataValue] = {
            name: values[place] if isinstance(values, list) else values[place].item()
            for name, values in self.metadata.items()
        }
        cache_id, sample_id = int(self.cache_id[place]), int(self.sample_id[place])
        return CachedSample(self.data[place], metadata, cache_id, sample_id)

    def stacked(
        self, shape: Sequence[int] | None = None, dtype: torch.dtype = torch.uint8
    ) -> torch.Tensor:
        """All payloads as one tensor with a line per draw; a view of ``data.tensor``.

        Args:
            shape: Of one payload; one-dimensional if left out.
            dtype: Of its elements.

        Raises:
            ValueError: Payloads differ in size, or shape and dtype do not fit it.
        """
        sizes = self.data.offsets.diff()
        least, most = int(sizes.min()), int(sizes.max())
        if least != most:
            raise ValueError(
                f"payloads of {least} to {most} bytes can't be stacked: use payload(i)"
            )
        lengths = [most // dtype.itemsize] if shape is None else list(shape)
        wanted = dtype.itemsize
        for length in lengths:
            wanted *= length
        if wanted != most:
            raise ValueError(f"{lengths} of {dtype} is {wanted} bytes, each payload has {most}")
        return self.data.tensor.view(dtype).view(len(self.data), *lengths)


@dataclass(frozen=True)
class Layout:
    """What the parts of a buffer are.

    Attributes:
        draws: How many.
        payload_bytes: Length of the payloads.
        columns: Name, and the format of a column of numbers or the texts themselves.
    """

    draws: int
    payload_bytes: int
    columns: tuple[tuple[str, str | list[str]], ...]


@dataclass(frozen=True)
class Packed:
    """A batch as it is sent.

    Attributes:
        buffer: Payloads, padding, then offsets, positions, ids, and columns: numbers of eight
            bytes first, so that everything is aligned.
        layout: What is where.
    """

    buffer: torch.Tensor
    layout: Layout

    def pin_memory(self) -> Packed:
        """The same in page-locked memory; torch asks for it."""
        return replace(self, buffer=self.buffer.pin_memory())

    def unpacked(self) -> LoaderBatch:
        """The batch as views of the buffer."""
        layout = self.layout
        end = _aligned(layout.payload_bytes)

        def take(count: int, dtype: torch.dtype) -> torch.Tensor:
            nonlocal end
            start, end = end, end + count * dtype.itemsize
            return self.buffer[start:end].view(dtype)

        offsets = take(layout.draws + 1, torch.int64)
        positions, cache_ids, sample_ids = (take(layout.draws, torch.int64) for _ in range(3))
        metadata: dict[str, Any] = dict(layout.columns)
        for name, form in _in_order(layout.columns):
            metadata[name] = take(layout.draws, _DTYPES[form])
        payloads = PayloadList(self.buffer[: layout.payload_bytes], offsets, positions)
        return LoaderBatch(payloads, metadata, cache_ids, sample_ids)  # type: ignore[arg-type]


def pack(batch: _native.SampleBatch) -> Packed:
    """Make a batch ready to be sent; its ``data`` grows and is the tensor's memory from now on.

    Raises:
        CorruptCacheError: A metadata value is damaged.
    """
    values = batch.columns()
    columns = tuple(
        (name, column if isinstance(column, list) else column.format)
        for name, column in values.items()
    )
    buffer = batch.data
    payload_bytes = len(buffer)
    padding = bytes(_aligned(payload_bytes) - payload_bytes)
    numbers = [batch.offsets, batch.positions, batch.cache_ids, batch.sample_ids]
    numbers += [values[name] for name, _ in _in_order(columns)]  # type: ignore[misc]
    buffer += b"".join([padding, *numbers])
    tensor = torch.frombuffer(buffer, dtype=torch.uint8)
    return Packed(tensor, Layout(len(batch), payload_bytes, columns))


def memory_of(tensor: torch.Tensor) -> memoryview:
    """The bytes of a tensor in main memory, without a copy."""
    bytes_of_it: Any = tensor.numpy()  # NumPy's annotations deny that arrays are buffers
    return memoryview(bytes_of_it)


def _aligned(length: int) -> int:
    return -(-length // _ALIGNMENT) * _ALIGNMENT


def _in_order(columns: tuple[tuple[str, str | list[str]], ...]) -> list[tuple[str, str]]:
    """Columns of numbers as they lie in the buffer: those of eight bytes first."""
    numbers = [(name, form) for name, form in columns if isinstance(form, str)]
    return sorted(numbers, key=lambda column: column[1] == "?")
