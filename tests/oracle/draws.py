"""Draw streams in plain Python and NumPy, written from ``proto_format/DRAWS.md``.

Imports nothing of ours: where this file and the library agree, both agree with the text. Clarity
comes before speed; Python integers are exact, and NumPy supplies only the generator and float64.
"""

from __future__ import annotations

import decimal
from dataclasses import dataclass
from functools import lru_cache
from math import isqrt
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

WORD = 2**64
ROWS, DRAW_SEED, PERMUTATION, EXPONENTIAL_KEYS = 1, 2, 3, 4
LISTED_ROWS = 16384
ORDERED, WITH_REPLACEMENT, EACH_ONCE = "ordered", "with_replacement", "each_once"


def hi(left: int, right: int) -> int:
    """Upper half of the 128-bit product."""
    return left * right // WORD


def philox(key: Sequence[int], counter: Sequence[int]) -> list[int]:
    """One block of Philox4x64-10, as DRAWS.md spells it."""
    k0, k1 = key
    x0, x1, x2, x3 = counter
    for _ in range(10):
        h0, l0 = divmod(0xD2E7470EE14C6C93 * x0, WORD)
        h1, l1 = divmod(0xCA5A826395121157 * x2, WORD)
        x0, x1, x2, x3 = h1 ^ x1 ^ k0, l1, h0 ^ x3 ^ k1, l0
        k0 = (k0 + 0x9E3779B97F4A7C15) % WORD
        k1 = (k1 + 0xBB67AE8584CAA73B) % WORD
    return [x0, x1, x2, x3]


def numpy_blocks(seed: int, domain: int, block: int, cycle: int, count: int = 1) -> list[int]:
    """The words of ``count`` blocks from NumPy's generator, which steps before it generates."""
    before = (block + cycle * WORD - 1) % WORD**4
    words = [before // WORD**place % WORD for place in range(4)]
    generator = np.random.Philox(
        key=np.array([seed, domain], np.uint64), counter=np.array(words, np.uint64)
    )
    return [int(word) for word in generator.random_raw(4 * count)]


def draw_seed(seed: int, position: int) -> int:
    return numpy_blocks(seed, DRAW_SEED, position, 0)[0]


@lru_cache(maxsize=1)
def logarithm_tables() -> tuple[list[int], list[int]]:
    """The tables A and B from their definitions, with 80 decimal digits."""
    with decimal.localcontext(decimal.Context(prec=80)):
        ln2 = decimal.Decimal(2).ln()
        a = [int(2**63 / ((i + 1) * ln2)) for i in range(7)]
        b = [int(-(decimal.Decimal(512 - j) / 512).ln() / ln2 * 2**64) for j in range(256)]
    return a, b


def exponential(word: int) -> int:
    """E of "Logarithm"."""
    a, b = logarithm_tables()
    v = word | 1
    k = 64 - (v ^ (WORD - 1)).bit_length()
    t = (v << k) % WORD
    j, d = t >> 55, t % 2**55
    q = d * 512 // (512 - j)
    s = a[6]
    for i in range(5, -1, -1):
        s = a[i] + hi(q, s)
    return k * 2**120 + b[j] * 2**56 + q * s // 2**7


def mix(key: int, value: int) -> int:
    z = (key + (value + 1) * 0x9E3779B97F4A7C15) % WORD
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % WORD
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % WORD
    return z ^ (z >> 31)


def permutation_list(seed: int, cycle: int, n: int) -> list[int]:
    words = numpy_blocks(seed, PERMUTATION, 0, cycle, n // 4 + 1)
    a = list(range(n))
    for i in range(n - 1, 0, -1):
        other = hi(words[i], i + 1)
        a[i], a[other] = a[other], a[i]
    return a


def permutation_network(seed: int, cycle: int, n: int, index: int) -> int:
    left = isqrt(n - 1) + 1
    right = -(-n // left)
    keys = numpy_blocks(seed, PERMUTATION, 0, cycle, 2)
    row = index
    while True:
        lo, ro = divmod(row, right)
        for j, key in enumerate(keys):
            if j % 2 == 0:
                lo = (lo + hi(mix(key, ro), left)) % left
            else:
                ro = (ro + hi(mix(key, lo), right)) % right
        row = lo * right + ro
        if row < n:
            return row


@dataclass(frozen=True)
class Table:
    """Row → sample number, and weights as float64 (none: all equal)."""

    samples: Sequence[int]
    weights: Sequence[float] | None = None

    @property
    def n(self) -> int:
        return len(self.samples)

    def has_equal_weights(self) -> bool:
        if self.weights is None:
            return True
        bits = np.asarray(self.weights, np.float64).view(np.uint64)
        return bool((bits == bits[0]).all())

    def units(self) -> list[int]:
        """The integers u of "Weights"."""
        weights = np.asarray(self.weights, np.float64)
        total = np.float64(0.0)
        for weight in weights:
            total = total + weight
        return [max(1, int(weight / total * np.float64(2.0**62))) for weight in weights]

    def canonical(self) -> bytes:
        """The bytes whose XXH3-128 is the digest."""
        samples = np.asarray(self.samples, "<u8")
        parts = [b"dataset_rt table 1\n", self.n.to_bytes(8, "little")]
        if (samples == np.arange(self.n, dtype="<u8")).all():
            parts.append(b"\0")
        else:
            parts += [b"\1", samples.tobytes()]
        if self.has_equal_weights():
            parts.append(b"\0")
        else:
            parts += [b"\1", np.asarray(self.weights, "<f8").tobytes()]
        return b"".join(parts)


class Stream:
    """``row(position)`` of one table, mode and seed."""

    def __init__(self, table: Table, mode: str, seed: int) -> None:
        self.table, self.mode, self.seed = table, mode, seed
        self.units = None if table.has_equal_weights() else table.units()
        self.sums = [] if self.units is None else list(accumulate(self.units))
        self._order: tuple[int, list[int]] | None = None

    def row(self, position: int) -> int:
        n = self.table.n
        if self.mode == ORDERED:
            return position % n
        if self.mode == WITH_REPLACEMENT:
            word = numpy_blocks(self.seed, ROWS, position, 0)[0]
            if self.units is None:
                return hi(word, n)
            x = hi(word, self.sums[-1])
            return next(i for i, total in enumerate(self.sums) if total > x)
        cycle, index = divmod(position, n)
        if self.units is None and n > LISTED_ROWS:
            return permutation_network(self.seed, cycle, n, index)
        if self._order is None or self._order[0] != cycle:
            self._order = (cycle, self._cycle(cycle))
        return self._order[1][index]

    def _cycle(self, cycle: int) -> list[int]:
        n = self.table.n
        if self.units is None:
            return permutation_list(self.seed, cycle, n)
        words = numpy_blocks(self.seed, EXPONENTIAL_KEYS, 0, cycle, n // 4 + 1)
        keys = [
            np.float64(exponential(word)) / np.float64(units)
            for word, units in zip(words, self.units, strict=False)
        ]
        return sorted(range(n), key=lambda row: (keys[row], row))


def accumulate(units: Sequence[int]) -> Iterator[int]:
    total = 0
    for unit in units:
        total += unit
        yield total


def part_positions(
    window: tuple[int, int], epoch_length: int, part: tuple[int, int], tail: str
) -> list[int]:
    """Positions of part ``(index, count)`` of ``[start, end)``; the tail: uneven, drop or pad."""
    start, end = window
    index, count = part
    draws = end - start
    origin = min(max(0, end - epoch_length), start)
    rounds = {"uneven": -(-draws // count), "drop": draws // count, "pad": -(-draws // count)}[tail]
    positions = []
    for k in range(rounds):
        number = index + k * count
        if number < draws:
            positions.append(start + number)
        elif tail == "pad":
            positions.append(origin + (number - draws) % (end - origin))
    return positions
