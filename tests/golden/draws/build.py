"""Makes the draw vectors of this folder, from the oracle alone.

Usage: ``python tests/golden/draws/build.py [FOLDER]``. The files are read-only once merged: they
say what every later version must still draw. A test runs this builder again and compares the bytes.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import xxhash

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "oracle"))
import draws

if TYPE_CHECKING:
    from collections.abc import Iterable

SEEDS = [0, 7, 2**63, 2**64 - 1]
LAST_POSITION = 2**63 - 1
EXTREME_WORDS = [0, 1, 2, 3, 2**55 - 1, 2**55, 2**63 - 1, 2**63, 2**64 - 2, 2**64 - 1]


def text(number: int) -> int | str:
    """Numbers that JSON readers may round become hexadecimal text."""
    return number if number < 2**53 else hex(number)


def texts(numbers: Iterable[int]) -> list[int | str]:
    return [text(number) for number in numbers]


def philox_vectors() -> list[dict]:
    keys = [[0, 0], [2**64 - 1] * 2, [0x452821E638D01377, 0xBE5466CF34E90C6C], [7, 1], [7, 4]]
    counters = [
        [0, 0, 0, 0],
        [2**64 - 1] * 4,
        [0x243F6A8885A308D3, 0x13198A2E03707344, 0xA4093822299F31D0, 0x082EFA98EC4E6C89],
        [10**9, 0, 0, 0],
        [5, 2**40, 0, 0],
    ]
    return [
        {"key": texts(key), "counter": texts(counter), "words": texts(draws.philox(key, counter))}
        for key, counter in zip(keys, counters, strict=True)
    ]


def logarithm_vectors() -> dict:
    a, b = draws.logarithm_tables()
    words = EXTREME_WORDS + draws.numpy_blocks(1, 1, 0, 0, 12)
    words += [2**64 - 2**k for k in range(1, 64, 7)] + [2**k for k in range(1, 64, 7)]
    words += [(j << 55) + offset for j in (1, 127, 128, 254, 255) for offset in (0, 1, 2**55 - 1)]
    return {
        "A": texts(a),
        "B": texts(b),
        "E": [{"word": text(word), "value": hex(draws.exponential(word))} for word in words],
    }


def tables() -> list[dict]:
    """Tables by name; weights one by one, or by the rule 1 + (row * multiplier mod modulus)."""
    skewed = [1.0, 1e-30, 1e-19, 2.0**-62, 0.3, 5e-324, 0.7]
    return [
        {"name": "one row", "caches": [1], "rows": 1},
        {"name": "ten rows", "caches": [10], "rows": 10},
        {"name": "head", "caches": [4, 9], "rows": 6},
        {"name": "repeats", "caches": [3, 5], "samples": [7, 0, 0, 3, 4, 1, 7]},
        {"name": "equal weights", "caches": [3], "rows": 3, "weights": [0.1] * 3},
        {"name": "four weights", "caches": [4], "rows": 4, "weights": [1.0, 2.0, 3.0, 4.0]},
        {
            "name": "repeats, tenths",
            "caches": [2, 2],
            "samples": [3, 3, 0, 1, 3],
            "weights": [0.1, 0.2, 0.3, 0.7, 0.1],
        },
        {"name": "skewed", "caches": [7], "rows": 7, "weights": skewed},
        {"name": "huge", "caches": [3], "rows": 3, "weights": [1e308, 2e307, 5e307]},
        {"name": "tiny", "caches": [3], "rows": 3, "weights": [5e-324, 1e-323, 2.5e-323]},
        {"name": "last list", "caches": [16384], "rows": 16384},
        {"name": "first network", "caches": [16385], "rows": 16385},
        {"name": "million", "caches": [10**6, 3], "rows": 10**6 + 3},
        {"name": "most rows", "caches": [2**32 - 1], "rows": 2**32 - 1},
        {
            "name": "many weights",
            "caches": [20000],
            "rows": 20000,
            "weights": {"multiplier": 7919, "modulus": 1009},
        },
    ]


def oracle_table(table: dict) -> draws.Table:
    samples = table.get("samples") or range(table["rows"])
    weights = table.get("weights")
    if isinstance(weights, dict):
        step, modulus = weights["multiplier"], weights["modulus"]
        weights = [float(1 + row * step % modulus) for row in range(len(samples))]
    return draws.Table(samples, weights)


def positions_of(n: int) -> list[int]:
    near = [*range(9), n - 1, n, n + 1, 2 * n - 1, 2 * n, 5 * n + 3]
    far = [10**9, 10**9 + 1, 2**40 + 5, LAST_POSITION - 1, LAST_POSITION]
    return sorted({position for position in near + far if position <= LAST_POSITION})


def row_vectors() -> list[dict]:
    cases = []
    for described in tables():
        table = oracle_table(described)
        case = dict(described)
        if isinstance(case.get("weights"), list):
            case["weights"] = [weight.hex() for weight in case["weights"]]
            if not table.has_equal_weights():
                case["units"] = texts(table.units())
        if table.n <= 2**20:
            case["digest"] = xxhash.xxh3_128_hexdigest(table.canonical())
        positions = positions_of(table.n)
        case["positions"] = texts(positions)
        case["streams"] = []
        is_long = table.n > 1000 and table.weights is not None
        for mode in (draws.ORDERED, draws.WITH_REPLACEMENT, draws.EACH_ONCE):
            for seed in SEEDS[1:2] if is_long else SEEDS:
                stream = draws.Stream(table, mode, seed)
                rows = [stream.row(position) for position in positions]
                case["streams"].append({"mode": mode, "seed": text(seed), "rows": rows})
        cases.append(case)
    return cases


def seed_vectors() -> list[dict]:
    positions = [0, 1, 2, 10**9, LAST_POSITION]
    return [
        {
            "seed": text(seed),
            "positions": texts(positions),
            "draw_seeds": texts(draws.draw_seed(seed, position) for position in positions),
        }
        for seed in SEEDS
    ]


def partition_vectors() -> list[dict]:
    windows = [(0, 10, 10), (100, 110, 10), (14, 20, 10), (0, 3, 3), (50, 52, 7), (9, 10, 1)]
    return [
        {
            "start": start,
            "end": end,
            "epoch_length": epoch_length,
            "index": index,
            "count": count,
            "tail": tail,
            "positions": draws.part_positions((start, end), epoch_length, (index, count), tail),
        }
        for start, end, epoch_length in windows
        for count in (1, 2, 3, 4)
        for index in range(count)
        for tail in ("uneven", "drop", "pad")
    ]


def build(folder: Path) -> None:
    vectors = {
        "philox.json": philox_vectors(),
        "logarithm.json": logarithm_vectors(),
        "rows.json": row_vectors(),
        "draw_seeds.json": seed_vectors(),
        "partitions.json": partition_vectors(),
    }
    for name, content in vectors.items():
        if isinstance(content, dict):
            entries = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in content.items()]
            brackets = "{}"
        else:
            entries = [json.dumps(entry) for entry in content]
            brackets = "[]"
        body = ",\n".join(entries)
        (folder / name).write_text(f"{brackets[0]}\n{body}\n{brackets[1]}\n")


if __name__ == "__main__":
    build(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
