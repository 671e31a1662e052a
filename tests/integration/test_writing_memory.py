"""Memory of a writer does not grow with what it writes.

``DATASET_RT_ROWS`` sets how much that is.
"""

import os
from pathlib import Path

import pytest
from children import run

ROWS = int(os.environ.get("DATASET_RT_ROWS", "200000"))

WRITE = """
count, kind = int(sys.argv[2]), sys.argv[3]
config = QUIET.model_copy(update={"shard_compression": drt.ShardCompression(algo=kind)})
sizes = []

class Tiny:
    name = "tiny"

    def __iter__(self):
        for number in range(count):
            # Past the first batch of metadata, whose size is the bound.
            if number >= 70_000 and number % (count // 50) == 0:
                sizes.append(private_kib())
            data = number.to_bytes(8, "little") * 12
            yield drt.CacheInput(data, {"number": number, "text": f"a text of {number:040}"})

runtime = drt.DatasetRuntime(num_workers=2)
(outcome,) = runtime.write_cache(Tiny(), sys.argv[1], writer_config=config)
sizes.append(private_kib())
say([outcome.row_count, sizes])
"""


@pytest.mark.parametrize("kind", ["none", "lz4"])
def test_private_memory_is_flat_over_many_rows(tmp_path: Path, kind: str) -> None:
    count, sizes = run(WRITE, tmp_path, ROWS, kind)
    assert count == ROWS
    grown_kib = max(sizes) - sizes[0]
    print(f"grown by {grown_kib} KiB")
    # What is written meanwhile is more than this: 200 bytes of each row.
    assert grown_kib < 10 * 1024, sizes
    written = sum(file.stat().st_size for file in tmp_path.rglob("*") if file.is_file())
    assert kind == "lz4" or written > 190 * ROWS
