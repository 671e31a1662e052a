"""The draw oracle against published words, its two spellings, and the vectors."""

import importlib.util
import json
import math
from pathlib import Path

import draws
import pytest

VECTORS = Path(__file__).resolve().parents[1] / "golden" / "draws"
FILES = ["draw_seeds.json", "logarithm.json", "partitions.json", "philox.json", "rows.json"]


def test_philox_gives_the_words_that_random123_publishes() -> None:
    pi = [0x243F6A8885A308D3, 0x13198A2E03707344, 0xA4093822299F31D0, 0x082EFA98EC4E6C89]
    key = [0x452821E638D01377, 0xBE5466CF34E90C6C]
    published = [0xA528F45403E61D95, 0x38C72DBD566E9788, 0xA5A1610E72FD18B5, 0x57BD43B5E52B7FE6]
    assert draws.philox(key, pi) == published


@pytest.mark.parametrize("seed", [0, 7, 2**64 - 1])
@pytest.mark.parametrize("block", [0, 1, 10**9, 2**63 - 1])
@pytest.mark.parametrize("cycle", [0, 1, 2**40])
def test_numpy_generates_the_blocks_of_the_text(seed: int, block: int, cycle: int) -> None:
    for domain in (1, 2, 3, 4):
        numpy_words = draws.numpy_blocks(seed, domain, block, cycle, 2)
        assert numpy_words[:4] == draws.philox([seed, domain], [block, cycle, 0, 0])
        assert numpy_words[4:] == draws.philox([seed, domain], [block + 1, cycle, 0, 0])


def test_vectors_are_what_the_oracle_makes(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("build", VECTORS / "build.py")
    assert spec is not None
    assert spec.loader is not None
    builder = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(builder)
    builder.build(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == FILES
    for name in FILES:
        assert (tmp_path / name).read_text() == (VECTORS / name).read_text(), name


def test_logarithm_is_as_exact_as_the_text_says() -> None:
    with draws.decimal.localcontext(draws.decimal.Context(prec=60)):
        ln2 = draws.decimal.Decimal(2).ln()
        for case in json.loads((VECTORS / "logarithm.json").read_text())["E"]:
            word = int(str(case["word"]), 0) | 1
            exact = -(1 - draws.decimal.Decimal(word) / 2**64).ln() / ln2 * 2**120
            assert abs(int(case["value"], 16) / exact - 1) < 2**-54, case


@pytest.mark.parametrize("n", [1, 2, 3, 5, 100, 1000, 20000])
@pytest.mark.parametrize("cycle", [0, 1])
def test_both_permutations_are_bijections(n: int, cycle: int) -> None:
    wanted = list(range(n))
    assert sorted(draws.permutation_list(7, cycle, n)) == wanted
    assert sorted(draws.permutation_network(7, cycle, n, k) for k in wanted) == wanted


def test_units_honour_shares_down_to_one_unit() -> None:
    table = draws.Table(range(4), [1.0, 2.0**-40, 2.0**-61, 1e-300])
    units = table.units()
    assert units[3] == 1
    assert math.isclose(units[1] / units[0], 2.0**-40, rel_tol=2.0**-20)
    assert units[2] in (1, 2)


def test_unequal_cycle_holds_each_row_once_and_prefers_heavy_rows_early() -> None:
    n = 50
    table = draws.Table(range(n), [float(1 + 99 * (row >= 25)) for row in range(n)])
    stream = draws.Stream(table, draws.EACH_ONCE, 3)
    heavy_first_half = 0
    for cycle in range(40):
        rows = [stream.row(cycle * n + k) for k in range(n)]
        assert sorted(rows) == list(range(n))
        heavy_first_half += sum(row >= 25 for row in rows[:25])
    assert heavy_first_half > 0.9 * 40 * 25
