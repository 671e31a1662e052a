"""Writes the golden caches of the original system's format that are not there yet: `... FOLDER`.

The folder is the one that holds all golden caches. A cache that exists is never written again.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "oracle"))

from format_cases import typed_rows
from original_format import OriginalOptions, write_cache


def main() -> None:
    for version in (2, 3):
        for compression, ratio, batch_rows in (("none", 1.0, 0), ("lz4", 2.0, 7)):
            folder = Path(sys.argv[1]) / f"original-v{version}" / f"typed-{compression}"
            options = OriginalOptions(version, compression, ratio, 400, batch_rows)
            if not folder.exists():
                write_cache(folder, "typed", typed_rows(), options)


if __name__ == "__main__":
    main()
