"""Memory through which workers hand batches to the main process, used again and again.

Fresh shared memory costs a page fault per 4 KiB on either side, several times what reading and
copying cost. So a loader has slots: a unit of work names a free one, the worker fills it, the
main process copies it out. They lie in memory without a name, which ends with its processes.
Whatever finds no slot, or does not fit, goes the way that torch sends tensors.
"""

from __future__ import annotations

import itertools
import mmap
import os
import weakref
from dataclasses import dataclass
from multiprocessing import reduction
from typing import Any

import torch

from dataset_rt.integrations.torch_batch import Packed, memory_of

__all__ = ["SlotMemory", "Slotted"]

_SPARE_SLOTS = 2
"""Beside one per unit that is under way: for the one that is copied out, and one to spare."""

_GENEROSITY = 4
"""Size of a slot, in sizes of the first batch; memory that nobody touches is not there."""

_LEAST_BYTES = 64 * 1024
"""Of a slot: ids and columns of small batches fit in any case."""

_NUMBERS = itertools.count()


class SlotMemory:
    """The slots of one set of workers; the process that made them knows which are free.

    Args:
        file: Descriptor of the memory, owned by this object from now on.
        slots: How many.
        slot_bytes: Size of each.
    """

    def __init__(self, file: int, slots: int, slot_bytes: int) -> None:
        weakref.finalize(self, os.close, file)
        self.number = next(_NUMBERS)
        self.slot_bytes = slot_bytes
        self._file = file
        self._slots = slots
        os.ftruncate(file, slots * slot_bytes)
        self._memory = mmap.mmap(file, slots * slot_bytes)
        self._free = set(range(slots))

    @classmethod
    def made_for(cls, batch_bytes: int, units: int) -> SlotMemory | None:
        """Slots for batches of about that size, so many under way; None where there are none."""
        if not hasattr(os, "memfd_create"):
            return None
        size = max(_GENEROSITY * batch_bytes, _LEAST_BYTES)
        size = -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
        slots = units + _SPARE_SLOTS
        memory = cls(os.memfd_create("dataset_rt"), slots, size)
        _BY_NUMBER[memory.number] = memory
        return memory

    def __reduce__(self) -> tuple[Any, ...]:
        sent = reduction.DupFd(self._file)
        return _received, (sent, self.number, self._slots, self.slot_bytes)

    def take(self) -> int | None:
        """A slot that is free, and no longer is."""
        return self._free.pop() if self._free else None

    def release(self, slot: int) -> None:
        """Let a slot be taken again."""
        self._free.add(slot)

    def release_all(self) -> None:
        """The same for every slot, once no worker has a unit any more."""
        self._free = set(range(self._slots))

    def filled(self, slot: int, made: Any) -> Slotted:
        """Put a batch into a slot; what is no batch, or does not fit, travels beside it."""
        if not isinstance(made, Packed) or len(made.buffer) > self.slot_bytes:
            return Slotted(self.number, slot, 0, made)
        count = len(made.buffer)
        self._view(slot, count)[:] = memory_of(made.buffer)
        return Slotted(self.number, slot, count, made.layout)

    def copied_out(self, slot: int, count: int) -> torch.Tensor:
        """The first bytes of a slot, in memory of their own."""
        return torch.frombuffer(bytearray(self._view(slot, count)), dtype=torch.uint8)

    def _view(self, slot: int, count: int) -> memoryview:
        # Not as a tensor: torch would copy with all of its threads, which then spin for more work.
        start = slot * self.slot_bytes
        return memoryview(self._memory)[start : start + count]


_BY_NUMBER: weakref.WeakValueDictionary[int, SlotMemory] = weakref.WeakValueDictionary()
"""Slots that were made in this process, for what workers send back."""


def _received(sent: Any, number: int, slots: int, slot_bytes: int) -> SlotMemory:
    memory = SlotMemory(sent.detach(), slots, slot_bytes)
    memory.number = number
    return memory


@dataclass(frozen=True)
class Slotted:
    """What became of a unit that had a slot.

    Attributes:
        memory: Number of the slots' memory.
        slot: The slot.
        count: Bytes of the batch in it; 0 where ``made`` is all there is.
        made: The layout of the batch, or something else that took its place.
    """

    memory: int
    slot: int
    count: int
    made: Any

    def taken(self) -> Any:
        """What was made, out of the slot, which is free from now on."""
        memory = _BY_NUMBER[self.memory]
        made = self.made
        if self.count:
            made = Packed(memory.copied_out(self.slot, self.count), made)
        memory.release(self.slot)
        return made

    def pin_memory(self) -> Any:
        """The same in page-locked memory; torch asks for it."""
        made = self.taken()
        return made.pin_memory() if isinstance(made, Packed) else made
