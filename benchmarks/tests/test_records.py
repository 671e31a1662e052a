"""The generator: the same bytes for ever, and a checker that notices every difference."""

import hashlib
import zlib

import pytest

from benchmarks.trial.records import Delivered, DeliveryError, RecordSpec, check_delivered

SPEC = RecordSpec(
    caches=2, rows=101, least_bytes=64, most_bytes=64, content="random", codec="none", seed=1
)


def changed(**values):
    return RecordSpec(**{**SPEC.__dict__, **values})


def delivered(spec, cache_id, sample_id):
    payload = spec.payload(cache_id, sample_id)
    return Delivered(cache_id, sample_id, payload, spec.metadata(cache_id, sample_id))


def test_bytes_are_those_of_every_earlier_run():
    digest = hashlib.sha256()
    for content in ("random", "text"):
        spec = changed(content=content, least_bytes=10, most_bytes=300)
        for cache_id in range(2):
            for data, metadata in spec.records(cache_id):
                digest.update(data + repr(metadata).encode())
    assert digest.hexdigest() == "a969974da6a543cf8b7834fe82175a64d27dc78ba6b4306476c548e636d4c7c5"


def test_rows_are_divided_and_found_again():
    assert [SPEC.cache_rows(0), SPEC.cache_rows(1)] == [51, 50]
    assert SPEC.cache_starts() == [0, 51, 101]
    identities = [SPEC.identity(row) for row in range(101)]
    assert identities == [(0, sample) for sample in range(51)] + [(1, s) for s in range(50)]
    with pytest.raises(IndexError):
        SPEC.identity(101)


def test_payloads_differ_by_cache_sample_and_seed():
    payloads = {SPEC.payload(cache_id, sample) for cache_id in range(2) for sample in range(50)}
    assert len(payloads) == 100
    assert changed(seed=2).payload(0, 0) not in payloads


def test_lengths_spread_over_the_whole_range():
    spec = changed(least_bytes=3, most_bytes=9)
    lengths = {len(spec.payload(0, sample)) for sample in range(200)}
    assert lengths == set(range(3, 10))


def test_text_compresses_and_random_does_not():
    sizes = {"least_bytes": 16384, "most_bytes": 16384}
    text = changed(content="text", **sizes).payload(0, 3)
    noise = changed(content="random", **sizes).payload(0, 3)
    assert len(text) == len(noise) == 16384
    assert len(zlib.compress(text)) < 16384 * 0.6
    assert len(zlib.compress(noise)) > 16384


def test_every_type_of_metadata_is_there_and_varies():
    rows = [SPEC.metadata(0, sample) for sample in range(50)]
    assert [type(value) for value in rows[0].values()] == [bool, int, str, float]
    for key in rows[0]:
        assert len({row[key] for row in rows}) > 1, key


def test_checker_accepts_what_was_stored():
    check_delivered(SPEC, delivered(SPEC, 1, 7))
    check_delivered(SPEC, delivered(SPEC, 1, 7)._replace(metadata=None))


@pytest.mark.parametrize(
    "wrong",
    [
        delivered(SPEC, 1, 7)._replace(sample_id=8),
        delivered(SPEC, 1, 7)._replace(cache_id=0),
        delivered(SPEC, 1, 7)._replace(payload=SPEC.payload(1, 7)[:-1]),
        delivered(SPEC, 1, 7)._replace(metadata=SPEC.metadata(1, 8)),
    ],
)
def test_checker_refuses_what_was_not(wrong):
    with pytest.raises(DeliveryError, match="cache"):
        check_delivered(SPEC, wrong)
