"""The page cache: put a store into it, push it out, and look what is in it."""

from __future__ import annotations

import ctypes
import mmap
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_PAGE_BYTES = mmap.PAGESIZE
_BLOCK_BYTES = 1 << 20


def _files(store: Path) -> Iterator[Path]:
    for path in sorted(store.rglob("*")):
        if path.is_file() and path.stat().st_size > 0:
            yield path


def evict(store: Path) -> None:
    """Push every file of a store out of the page cache.

    Pages that a process has mapped stay, so nothing may hold the store open.
    """
    for path in _files(store):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(descriptor)


def warm(store: Path) -> None:
    """Read every file of a store once."""
    for path in _files(store):
        with path.open("rb", buffering=0) as file:
            while file.read(_BLOCK_BYTES):
                pass


def resident_share(store: Path) -> float:
    """Share of a store's pages that are in the page cache, 0.0 to 1.0."""
    libc = ctypes.CDLL(None, use_errno=True)
    pages = resident = 0
    for path in _files(store):
        size = path.stat().st_size
        with path.open("rb") as file:
            # A private writable map, because ctypes takes no address of a read-only one.
            view = mmap.mmap(
                file.fileno(), size, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE
            )
        count = -(-size // _PAGE_BYTES)
        flags = (ctypes.c_ubyte * count)()
        anchor = ctypes.c_char.from_buffer(view)
        address = ctypes.c_void_p(ctypes.addressof(anchor))
        failed = libc.mincore(address, ctypes.c_size_t(size), flags)
        del anchor
        view.close()
        if failed:
            raise OSError(ctypes.get_errno(), "mincore", str(path))
        pages += count
        resident += sum(flag & 1 for flag in bytes(flags))
    return resident / pages if pages else 1.0
