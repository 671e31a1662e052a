"""The cache format, rewritten in plain Python from proto_format/FORMAT.md alone.

It favours the shape of that text over speed and imports nothing of the project. `write_cache` makes
caches, `Cache` reads and checks them, and `FormatError` is what a damaged one gives.
"""

from cache_format.reader import Cache, Sample
from cache_format.refusal import FormatError, OriginalFormatError, UnsupportedError
from cache_format.writer import WriteOptions, write_cache

__all__ = [
    "Cache",
    "FormatError",
    "OriginalFormatError",
    "Sample",
    "UnsupportedError",
    "WriteOptions",
    "write_cache",
]
