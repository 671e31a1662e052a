"""Caches of the original system in plain Python, from proto_format/ORIGINAL.md alone.

`write_cache` makes caches of its versions 2 and 3 and `read_cache` reads them. It shares the LZ4
blocks of `cache_format` and imports nothing of the project.
"""

from original_format.reader import Cache, read_cache
from original_format.writer import OriginalOptions, cache_files, write_cache

__all__ = ["Cache", "OriginalOptions", "cache_files", "read_cache", "write_cache"]
