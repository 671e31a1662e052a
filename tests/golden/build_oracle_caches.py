"""Writes the golden caches of the format oracle that are not there yet: `... FOLDER`.

They hold the rows of typed-none and typed-lz4, in another writer's bytes: no validity buffers, text
with 32-bit offsets, another LZ4 encoder. A cache that exists is never written again.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "oracle"))

from cache_format import WriteOptions, write_cache
from format_cases import typed_rows

CASES = {
    "oracle-none": WriteOptions(
        version="v 1 ✓", max_shard_bytes=200, batch_rows=7, narrow_text=True
    ),
    "oracle-lz4": WriteOptions(
        compression="lz4", version="v 1 ✓", max_shard_bytes=200, batch_rows=7
    ),
}


def main() -> None:
    for name, options in CASES.items():
        folder = Path(sys.argv[1]) / name
        if not folder.exists():
            write_cache(folder, "typed", typed_rows(), options)


if __name__ == "__main__":
    main()
