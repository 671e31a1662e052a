"""Failures that people reported with other caches, and faults of the original system, as tests.

=====  ============================================================================================
case   held by
=====  ============================================================================================
C1     here: test_c1; tests/cross, test_hostile_caches.py: test_c1
C2     here: test_c2
C4     test_full_disk.py;
       rust/storage, failing_io: write_onto_a_full_disk_says_so_and_leaves_nothing
C6     rust/storage, publication:
       build_syncs_files_then_folders_then_manifest_then_renames_then_syncs_parent
C7     tests/crash, kill.rs: process_waiting_for_a_builder_that_is_killed_builds_itself;
       test_many_builders.py; test_interrupts.py: test_killed_writer_blocks_nobody
C8     here: test_c8
C10    test_reuse.py: test_unequal_versions_are_refused, test_unequal_version_is_rebuilt_when_asked
C11    test_reuse.py: test_second_run_reuses_without_iterating,
       test_name_alone_decides_without_a_version
C12    here: test_c12
C13    here: test_c13
C14    here: test_c14; test_damage.py: test_wrong_length_is_found_at_open_with_checks_off
C15    here: test_c15; rust/storage, damage:
       flipped_payload_byte_is_found_at_read_and_named_by_verification
C16    here: test_c16
C18    here: test_c18
C19    tests/cross, test_hostile_caches.py: test_c19; test_damage.py:
       test_metadata_cut_before_its_footer_is_found_at_open
C20    rust/storage, any_bytes; rust/format, mutations
C22    tests/cross, test_hostile_caches.py: test_c22
C23    here: test_c23
C25    no test uses a name outside its temporary folder; here: test_c25
C26    here: test_c26; test_damage.py: test_same_error_for_any_number_of_readers
=====  ============================================================================================

============  =====================================================================================
fault         held by
============  =====================================================================================
floats        here: test_floats
integers      test_writing.py: test_first_row_refuses, test_later_row_must_match_the_first;
              here: test_integers
names         test_writing.py: test_first_row_refuses
mappings      test_writing.py: test_any_mapping_works, test_empty_mapping_gives_ids_and_weight_only
payloads      test_writing.py: test_payload_without_a_buffer_is_refused
snapshot      test_table.py: test_snapshot_is_taken_at_creation_not_at_the_first_draw
overflow      test_table.py: test_weights_whose_sum_overflows_are_refused
narrow types  test_table.py: test_weight_dtype_never_matters, test_ids_may_be_integers_of_any_width
wrong         test_table.py: test_wrong_objects_are_type_errors_that_say_what_is_wanted;
argument      test_reuse.py: test_single_path_is_not_walked_letter_by_letter
no-op update  test_table.py: test_update_with_its_own_table_keeps_the_draws
seeds         test_windows.py: test_seeds_that_differ_in_the_upper_half_are_independent
config        test_configs.py: test_seed_outside_is_refused_by_the_model
partial load  test_damage.py: test_one_damaged_cache_never_hides_the_others
damage        test_damage.py: test_wrong_length_is_found_at_open_with_checks_off,
              test_flipped_payload_byte_is_found_as_it_is_read,
              test_flipped_index_byte_is_found_before_anything_is_read
index         tests/cross, test_hostile_caches.py: test_c22
manifest      tests/cross, test_hostile_caches.py: test_manifest_that_leads_out_of_the_cache
codec         tests/cross, test_hostile_caches.py: test_lz4_length_is_exact
writers       test_many_builders.py; here: test_writers_of_one_name_publish_one_source
temporaries   test_reuse.py: test_stray_files_under_tmp_are_nobodys_to_delete
durability    rust/storage, publication and power_cut; tests/crash
paths         test_windows.py: test_relative_paths_survive_a_change_of_directory;
              test_reuse.py: test_base_that_is_a_file_is_an_os_error_value
fork          test_processes.py
throughput    benchmarks
ids           here: test_ids
============  =====================================================================================
"""

import json
import math
import os
import pickle
import random
import shutil
import struct
import threading
from pathlib import Path

import dataset_rt as drt
import pytest
from children import answer, ended, run, start
from support import QUIET, Rows, ids, leftovers, numbered, payload, planned, write_fails, write_ok

SHARD_BYTES = int(os.environ.get("DATASET_RT_SHARD_BYTES", str(8 << 20)))


def tree(path: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(path)): file.read_bytes()
        for file in sorted(path.rglob("*"))
        if file.is_file()
    }


def flip(file: Path, offset: int) -> None:
    with file.open("r+b") as data:
        data.seek(offset)
        (byte,) = data.read(1)
        data.seek(offset)
        data.write(bytes([byte ^ 0x10]))


def opened(runtime, *paths: Path, **config) -> drt.CachedDataset:
    config = {"seed": 7, "shuffle": False, **config}
    return runtime.cached_dataset(list(paths), reader_config=drt.ReaderConfig(**config))


def test_c1_records_far_out_in_one_shard_come_back(runtime, tmp_path) -> None:
    """A manual target makes the shard longer than 2^32 bytes."""
    block = random.Random(1).randbytes(1 << 20)

    class Long:
        name = "long"

        def __iter__(self):
            for number in range(SHARD_BYTES >> 20):
                yield drt.CacheInput(number.to_bytes(8, "little") + block[8:-3], {"i": number})

    limit = max(6 << 30, SHARD_BYTES)
    path = write_ok(runtime, Long(), tmp_path, max_shard_bytes=limit).path
    (shard,) = (path / "shards").iterdir()
    count = SHARD_BYTES >> 20
    assert shard.stat().st_size == count * ((1 << 20) - 3)
    for mapped in (True, False):
        dataset = opened(runtime, path, mapped=mapped, prefetch_size=2)
        for number, sample in enumerate(dataset):
            assert sample.data == number.to_bytes(8, "little") + block[8:-3], number
        assert number == count - 1


def test_c1_payload_beyond_32_bits_is_refused_before_it_is_copied(tmp_path) -> None:
    code = """
from mmap import mmap

def peak_kib():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))

before = peak_kib()
with mmap(-1, 2**32 + 1) as zeros:
    source = Rows("huge", [(b"small", {}), (zeros, {})])
    (outcome,) = drt.DatasetRuntime(num_workers=1).write_cache(
        source, sys.argv[1], writer_config=QUIET
    )
    source.rows.clear()
say([told(outcome), peak_kib() - before])
"""
    failure, grown_kib = run(code, tmp_path)
    assert failure["class"] == "InvalidConfigError"
    assert str(2**32 + 1) in failure["message"]
    assert str(2**32 - 1) in failure["message"]
    assert grown_kib < 128 * 1024
    assert list(tmp_path.iterdir()) == []


class Failing(Rows):
    def __iter__(self):
        yield from super().__iter__()
        raise RuntimeError("late")


def test_c2_finished_caches_are_never_touched(runtime, tmp_path) -> None:
    path = write_ok(runtime, numbered(20), tmp_path).path
    other = write_ok(runtime, numbered(5, "other"), tmp_path).path
    foreign = tmp_path / "tmp" / "numbers.1-0123456789abcdef"
    foreign.mkdir(parents=True)
    (foreign / "file").write_text("mine")
    before = tree(tmp_path)
    stamps = {file: file.stat() for file in path.rglob("*")}

    rebuilding = QUIET.model_copy(update={"on_version_change": "rebuild"})
    source = Failing("numbers", numbered(3).rows)
    source.version = "new"
    rebuilt = runtime.from_cache_sources(
        source, tmp_path, reader_config=drt.ReaderConfig(seed=1), writer_config=rebuilding
    )
    assert isinstance(rebuilt.results[0].error, RuntimeError)
    for again in (numbered(4), Failing("numbers", []), Failing("third", numbered(2).rows)):
        write_fails(runtime, again, tmp_path)
    write_ok(runtime, numbered(1, "fourth"), tmp_path)
    shutil.rmtree(tmp_path / "fourth")

    assert tree(tmp_path) == before
    assert {file: file.stat() for file in path.rglob("*")} == stamps
    assert opened(runtime, path, other, validate_cache=True).cache_paths == [path, other]


POLL = """
path = sys.argv[1]
runtime = drt.DatasetRuntime(num_workers=1)
config = drt.ReaderConfig(seed=1, shuffle=False, validate_cache=True)
say("ready")
missing = 0
while True:
    try:
        dataset = runtime.cached_dataset([path], reader_config=config)
    except FileNotFoundError:
        missing += 1
        continue
    say([missing, [sample.sample_id for sample in dataset] == list(range(2000))])
    break
"""


def test_c8_readers_that_poll_see_nothing_or_the_whole_cache(runtime, tmp_path) -> None:
    readers = [start(POLL, tmp_path / "numbers") for _ in range(8)]
    assert {reader.stdout.readline() for reader in readers} == {'"ready"\n'}
    write_ok(runtime, numbered(2000), tmp_path, max_shard_bytes=4000)
    assert [answer(reader)[1] for reader in readers] == [True] * 8


def test_c12_moved_copied_and_touched_caches_are_the_same(runtime, tmp_path) -> None:
    path = write_ok(runtime, numbered(30), tmp_path).path
    dataset = opened(runtime, path, shuffle=True)
    order, state = planned(dataset, 60), dataset.state_dict()
    copied = shutil.copytree(path, tmp_path / "elsewhere" / "copy")
    moved = path.rename(tmp_path / "moved")
    for file in [*copied.rglob("*"), *moved.rglob("*")]:
        os.utime(file, ns=(1, 1))
    for place in (copied, moved):
        again = opened(runtime, place, shuffle=True)
        assert planned(again, 60) == order
        assert again.state_dict() == state
        again.load_state_dict(state)
    digests = {
        json.loads((p / "manifest.json").read_text())["content_digest"] for p in (copied, moved)
    }
    assert len(digests) == 1


def test_c13_source_that_fails_late_keeps_nothing_and_is_started_anew(runtime, tmp_path) -> None:
    rows = numbered(1000).rows
    failure = write_fails(runtime, Failing("numbers", rows[:900]), tmp_path, max_shard_bytes=500)
    assert isinstance(failure.error, RuntimeError)
    assert list(tmp_path.iterdir()) == []
    source = Rows("numbers", rows)
    result = write_ok(runtime, source, tmp_path, max_shard_bytes=500)
    assert (result.status, result.row_count, source.iterations) == ("built", 1000, 1)
    guide = Path(__file__).parents[2] / "docs" / "guide" / "writing.md"
    assert "keeps nothing" in guide.read_text(encoding="utf-8")


def test_c14_last_shard_cut_by_one_byte_is_named_at_open(runtime, tmp_path) -> None:
    path = write_ok(runtime, numbered(40), tmp_path, max_shard_bytes=300).path
    last = max((path / "shards").iterdir())
    os.truncate(last, last.stat().st_size - 1)
    with pytest.raises(drt.CorruptCacheError) as caught:
        opened(runtime, path, verify_records=False)
    error = caught.value
    assert (error.path, error.file) == (str(path), f"shards/{last.name}")
    assert error.shard == int(last.stem)
    assert int(error.expected) == int(error.found) + 1


def ten_shards(runtime, base: Path) -> Path:
    """A cache of 10 shards of 4 records, of 100 bytes each."""
    rows = [(bytes([number]) * 100, {"i": number}) for number in range(40)]
    path = write_ok(runtime, Rows("ten", rows), base, max_shard_bytes=400).path
    assert len(list((path / "shards").iterdir())) == 10
    return path


def test_c15_verification_names_shard_and_sample(runtime, tmp_path) -> None:
    path = ten_shards(runtime, tmp_path)
    flip(path / "shards" / "000003.bin", 150)
    with pytest.raises(drt.CorruptCacheError) as caught:
        opened(runtime, path, validate_cache=True)
    error = caught.value
    assert (error.file, error.shard, error.sample_id) == ("shards/000003.bin", 3, 13)
    assert error.byte_range == (100, 200)


@pytest.mark.parametrize("workers", [1, 4])
def test_c16_bad_record_is_raised_or_left_out(tmp_path, workers: int) -> None:
    runtime = drt.DatasetRuntime(num_workers=workers)
    path = ten_shards(runtime, tmp_path)
    reference = planned(opened(runtime, path, shuffle=True), 80)
    flip(path / "shards" / "000003.bin", 150)
    with pytest.raises(drt.CorruptCacheError) as caught:
        ids(opened(runtime, path, shuffle=True))
    assert (caught.value.path, caught.value.cache_id, caught.value.sample_id) == (str(path), 0, 13)
    dataset = opened(runtime, path, shuffle=True, on_corrupt="skip")
    dataset.set_epoch_len(80)
    iterator = iter(dataset)
    assert reference.count(13) > 1
    assert ids(iterator) == [sample_id for sample_id in reference if sample_id != 13]
    assert iterator.position == 80


class Evil:
    """Makes a file when it is unpickled."""

    def __init__(self, file: Path) -> None:
        self.file = str(file)

    def __reduce__(self):
        return open, (self.file, "w")


def test_c18_payloads_are_never_unpickled(runtime, tmp_path) -> None:
    evidence = tmp_path / "evidence"
    evil = pickle.dumps(Evil(evidence))
    path = write_ok(runtime, Rows("evil", [(evil, {"name": "x.pkl"})] * 3), tmp_path).path
    dataset = opened(runtime, path, validate_cache=True)
    assert [sample.data for sample in dataset] == [evil] * 3
    assert dataset.get_item(0, 1).data == evil
    assert len(list(dataset.to_torch_iterable_dataset())) == 3
    loader = dataset.to_torch_dataloader(batch_size=2, num_workers=0, collate_fn=list)
    assert sum(len(batch) for batch in loader) == 3
    assert len(drt.CachedDataset.from_config(dataset.dump_config(tmp_path / "dump"))) == 3
    assert not evidence.exists()
    pickle.loads(evil).close()
    assert evidence.exists()


def test_c18_only_what_two_processes_say_to_each_other_is_unpickled() -> None:
    package = Path(drt.__file__).parent
    found = {
        str(file.relative_to(package))
        for file in package.rglob("*.py")
        if any(
            word in file.read_text() for word in ("pickle.load", "Unpickler", "marshal", "eval(")
        )
    }
    assert found == {"source_outcome.py"}


TRUNCATED = """
path, mapped = sys.argv[1], sys.argv[2] == "mapped"
config = drt.ReaderConfig(seed=1, mapped=mapped)
dataset = drt.DatasetRuntime(num_workers=2).cached_dataset([path], reader_config=config)
dataset.set_epoch_len(10**6)
iterator = iter(dataset)
first = [next(iterator) for _ in range(100)]
say("open")
sys.stdin.readline()
# A look at the lengths of files is trusted for a millisecond; this is about what comes later.
threading.Event().wait(0.05)
try:
    for sample in iterator:
        pass
except drt.CorruptCacheError as error:
    say([error.path, error.file])
    raise
"""


@pytest.mark.parametrize("mapped", ["mapped", "positioned"])
@pytest.mark.parametrize("name", ["index.bin", "metadata.arrow", "shards/000000.bin", "all"])
def test_c23_files_cut_to_nothing_end_a_reader_by_exception(
    runtime, tmp_path, mapped: str, name: str
) -> None:
    path = write_ok(runtime, numbered(500), tmp_path).path
    child = start(TRUNCATED, path, mapped)
    assert child.stdout.readline() == '"open"\n'
    names = ["index.bin", "metadata.arrow", "shards/000000.bin"] if name == "all" else [name]
    for file in names:
        os.truncate(path / file, 0)
    output, errors = ended(child, "go on\n")
    assert child.returncode == 1, (child.returncode, errors)
    said_path, said_file = json.loads(output)
    assert said_path == str(path)
    assert said_file in names
    assert "CorruptCacheError" in errors


def test_c25_same_names_under_other_roots_do_not_meet(tmp_path) -> None:
    code = """
runtime = drt.DatasetRuntime(num_workers=1)
for number in range(5):
    base = f"{sys.argv[1]}/{number}"
    (outcome,) = runtime.write_cache(numbered(200), base, writer_config=QUIET)
    reader = drt.ReaderConfig(seed=1, shuffle=False)
    dataset = runtime.cached_dataset([f"{base}/numbers"], reader_config=reader)
    assert (outcome.status, len(list(dataset))) == ("built", 200)
say(sorted(os.listdir(sys.argv[1])))
"""
    children = [start(code, tmp_path / str(number)) for number in range(8)]
    assert [answer(child) for child in children] == [["0", "1", "2", "3", "4"]] * 8
    assert sorted(path.name for path in tmp_path.iterdir()) == [str(n) for n in range(8)]


def test_c26_error_in_the_middle_of_training_names_what_can_be_looked_up(tmp_path) -> None:
    told = []
    for workers in (1, 4):
        runtime = drt.DatasetRuntime(num_workers=workers)
        base = tmp_path / str(workers)
        good = write_ok(runtime, numbered(40, "good"), base).path
        rows = [(payload(i), {**numbered(40).rows[i][1]}) for i in range(40)]
        bad = write_ok(runtime, Rows("bad", rows), base, max_shard_bytes=200).path
        flip(bad / "shards" / "000001.bin", 3)
        with pytest.raises(drt.CorruptCacheError) as caught:
            ids(opened(runtime, good, bad, shuffle=True, replacement=False))
        error = caught.value
        assert error.path == str(bad)
        told.append((error.cache_id, error.sample_id, error.shard, error.byte_range, error.file))
    assert told[0] == told[1]
    cache_id, sample_id, shard, (begin, end), file = told[0]
    assert (cache_id, shard, file) == (1, 1, "shards/000001.bin")
    assert begin <= 3 < end
    assert end - begin == len(payload(sample_id))


def test_floats_come_back_bit_for_bit(runtime, tmp_path) -> None:
    random_bits = random.Random(5)
    special = [0, 1 << 63, 0x7FF0 << 48, 0xFFF0 << 48, 0x7FF8 << 48, 0xFFF8_0000_0000_0001, 1]
    bits = [*special, *(random_bits.getrandbits(64) for _ in range(20_000))]
    values = [struct.unpack("<d", struct.pack("<Q", number))[0] for number in bits]
    source = Rows("floats", [(b"", {"value": value}) for value in values])
    dataset = opened(runtime, write_ok(runtime, source, tmp_path).path, validate_cache=True)

    def bits_of(numbers):
        return [struct.pack("<d", number) for number in numbers]

    assert any(math.isnan(value) for value in values)
    assert bits_of(sample.metadata["value"] for sample in dataset) == bits_of(values)
    assert bits_of(dataset.get_metadata()["value"].to_list()) == bits_of(values)


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, 2**64])
@pytest.mark.parametrize("row", [0, 3])
def test_integers_beyond_64_bits_are_refused_with_row_column_and_value(
    runtime, tmp_path, value: int, row: int
) -> None:
    rows = [(b"x", {"a": number}) for number in range(row)]
    error = write_fails(runtime, Rows("large", [*rows, (b"x", {"a": value})]), tmp_path).error
    assert isinstance(error, drt.InvalidMetadataError)
    assert (error.rows, error.column) == ((row,), "a")
    assert str(value) in error.found
    assert leftovers(tmp_path) == []


def test_writers_of_one_name_publish_one_source(tmp_path) -> None:
    kinds = {number: [(bytes([number]) * 50, {"kind": number})] * 300 for number in range(4)}
    outcomes = {}

    def write(number: int) -> None:
        runtime = drt.DatasetRuntime(num_workers=1)
        (outcome,) = runtime.write_cache(Rows("one", kinds[number]), tmp_path, writer_config=QUIET)
        outcomes[number] = outcome

    threads = [threading.Thread(target=write, args=(number,)) for number in kinds]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (winner,) = [n for n, outcome in outcomes.items() if isinstance(outcome, drt.CacheWriteSuccess)]
    runtime = drt.DatasetRuntime(num_workers=1)
    samples = list(opened(runtime, tmp_path / "one", validate_cache=True))
    assert [(sample.data, sample.metadata) for sample in samples] == kinds[winner]
    losers = [outcome.error for number, outcome in outcomes.items() if number != winner]
    assert [type(error) for error in losers] == [drt.CacheExistsError] * 3
    assert leftovers(tmp_path) == []


def test_ids_two_caches_of_one_name_load_together(runtime, tmp_path) -> None:
    paths = [write_ok(runtime, numbered(n), tmp_path / str(n)).path for n in (3, 5)]
    dataset = opened(runtime, *paths)
    found = [(sample.cache_id, sample.sample_id) for sample in dataset]
    assert found == [(0, n) for n in range(3)] + [(1, n) for n in range(5)]
    result = runtime.from_cache_sources(
        numbered(3), tmp_path / "3", reader_config=drt.ReaderConfig(seed=1), writer_config=QUIET
    )
    assert result.dataset.cache_paths == [paths[0]]
