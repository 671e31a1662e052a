//! Batches against the draws that were planned, over small caches.

use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::{
    Batch, BatchIterator, BatchShape, BatchSink, CacheSet, Dataset, OnCorrupt, ReaderError,
    ReaderOptions, Readiness, SampleIterator, Undelivered, VecBatchSink, VecSink, batch_metadata,
};
use dataset_rt_format::{Compression, ErrorKind, MetadataValueRef, Seed};
use dataset_rt_pool::WorkerPool;
use dataset_rt_storage::durable::Disk;
use dataset_rt_storage::{Begin, CacheWriter, InterruptCheck, Pushed, WriteOptions};

const ROWS: u64 = 40;

fn payload(row: u64) -> Vec<u8> {
    let length = usize::try_from(row % 5 * 7).unwrap();
    vec![row.to_le_bytes()[0]; length]
}

fn write_cache(base: &Path, pool: &Arc<WorkerPool>, compression: Compression) {
    let options = WriteOptions {
        compression,
        ..WriteOptions::default()
    };
    let never = InterruptCheck::never();
    let begin = CacheWriter::begin(&Disk::new(), base, "cache", &options, pool, &never).unwrap();
    let Begin::Building(mut writer) = begin else {
        panic!("it exists already");
    };
    for row in 0..ROWS {
        let number = MetadataValueRef::Int64(i64::try_from(row).unwrap());
        match writer.push(payload(row), &[("number", number)]).unwrap() {
            Pushed::Room => {}
            Pushed::BlockFull => writer.dispatch().unwrap(),
        }
    }
    writer.finish().unwrap();
}

struct Fixture {
    folder: tempfile::TempDir,
    pool: Arc<WorkerPool>,
}

impl Fixture {
    fn new(compression: Compression) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let pool = WorkerPool::new(2).unwrap();
        write_cache(folder.path(), &pool, compression);
        Self { folder, pool }
    }

    fn open(&self, change: impl FnOnce(&mut ReaderOptions)) -> Dataset {
        let mut options = ReaderOptions::new(Seed::new(7));
        change(&mut options);
        let paths = [self.folder.path().join("cache")];
        let never = InterruptCheck::never();
        let caches = CacheSet::open(&paths, &options, &self.pool, &never).unwrap();
        Dataset::new(caches, options, Arc::clone(&self.pool)).unwrap()
    }

    /// Changes the first byte of a sample's record; records stand in sample order.
    fn damage(&self, sample: u64) {
        let path = self.folder.path().join("cache/shards/000000.bin");
        let mut bytes = std::fs::read(&path).unwrap();
        let offset: usize = (0..sample).map(|row| payload(row).len()).sum();
        bytes[offset] ^= 1;
        std::fs::write(path, bytes).unwrap();
    }
}

fn batches(dataset: &Dataset, size: u64) -> BatchIterator {
    let shape = BatchShape::new(size, false).unwrap();
    dataset.claim_batches(shape).unwrap()
}

fn samples<D>(batch: &Batch<D>) -> Vec<u64> {
    batch.draws.iter().map(|draw| draw.sample.get()).collect()
}

/// A batch, or the sample that failed in place of one.
type Outcome = Result<Vec<u64>, Option<u64>>;

fn outcomes(iterator: &mut BatchIterator) -> Vec<Outcome> {
    let mut all = Vec::new();
    loop {
        match iterator.next_batch(&mut VecBatchSink) {
            Ok(None) => return all,
            Ok(Some(batch)) => {
                let expected: Vec<u8> = samples(&batch).into_iter().flat_map(payload).collect();
                assert_eq!(batch.data, expected);
                assert_eq!(batch.offsets.len(), batch.draws.len() + 1);
                assert_eq!(batch.offsets.last(), Some(&batch.data.len()));
                all.push(Ok(samples(&batch)));
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Corrupt);
                all.push(Err(error.facts().sample_id));
            }
        }
    }
}

fn chunked(rows: &[u64], size: u64) -> Vec<Outcome> {
    let chunks = rows.chunks(usize::try_from(size).unwrap());
    chunks.map(|chunk| Ok(chunk.to_vec())).collect()
}

#[test]
fn batches_of_every_size_hold_the_planned_draws() {
    for compression in [Compression::None, Compression::Lz4] {
        let fixture = Fixture::new(compression);
        for (is_mapped, prefetch_size, size) in
            [(true, 64, 7), (true, 1, 64), (false, 3, 16), (false, 64, 1)]
        {
            let dataset = fixture.open(|options| {
                options.is_mapped = is_mapped;
                options.prefetch_size = prefetch_size;
            });
            let plan = dataset.plan(ROWS, None).unwrap();
            let planned: Vec<_> = plan.iter().map(|draw| draw.sample.get()).collect();
            let found = outcomes(&mut batches(&dataset, size));
            assert_eq!(found, chunked(&planned, size));
        }
    }
}

#[test]
fn damaged_draw_ends_its_batch_and_no_other_draw_is_lost() {
    let fixture = Fixture::new(Compression::None);
    for sample in [4, 12, 39] {
        fixture.damage(sample);
    }
    for is_mapped in [true, false] {
        let dataset = fixture.open(|options| {
            options.is_shuffled = false;
            options.is_mapped = is_mapped;
        });
        let mut iterator = batches(&dataset, 8);
        let first = iterator.next_batch(&mut VecBatchSink).unwrap().unwrap();
        assert_eq!(samples(&first), [0, 1, 2, 3]);
        assert_eq!((iterator.position(), iterator.state().position), (4, 4));
        assert!(iterator.next_batch(&mut VecBatchSink).is_err());
        assert_eq!(iterator.position(), 5);
        let rest = [
            Ok((5..12).collect()),
            Err(Some(12)),
            Ok((13..21).collect()),
            Ok((21..29).collect()),
            Ok((29..37).collect()),
            Ok(vec![37, 38]),
            Err(Some(39)),
        ];
        assert_eq!(outcomes(&mut iterator), rest);
        assert_eq!(iterator.position(), ROWS);
    }
}

#[test]
fn left_out_draws_are_made_up_for_by_the_next_ones() {
    let fixture = Fixture::new(Compression::None);
    let damaged = [2, 3, 9, 10, 39];
    for sample in damaged.into_iter().filter(|sample| sample % 5 > 0) {
        fixture.damage(sample);
    }
    for is_mapped in [true, false] {
        let dataset = fixture.open(|options| {
            options.is_shuffled = false;
            options.is_mapped = is_mapped;
            options.on_corrupt = OnCorrupt::Skip;
        });
        // Sample 10 has no bytes that could be damaged.
        let good: Vec<u64> = (0..ROWS)
            .filter(|row| *row == 10 || !damaged.contains(row))
            .collect();
        for size in [1, 5, 10, 36, 37] {
            let found = outcomes(&mut batches(&dataset, size));
            assert_eq!(found, chunked(&good, size), "batches of {size}");
        }
        let shape = BatchShape::new(37, true).unwrap();
        let mut iterator = dataset.claim_batches(shape).unwrap();
        assert_eq!(outcomes(&mut iterator), []);
        assert_eq!(iterator.position(), iterator.window().window().end());
    }
}

thread_local! {
    /// Waits until one of them gives up.
    static PATIENCE: Cell<Option<u32>> = const { Cell::new(None) };
}

/// Gives up at a wait, once.
struct Impatient;

impl BatchSink for Impatient {
    type Data = Vec<u8>;
    type Error = ReaderError;

    fn make(
        &mut self,
        bytes: usize,
        is_long: bool,
        fill: &mut (dyn FnMut(&mut [u8]) + Send),
    ) -> Result<Vec<u8>, ReaderError> {
        VecBatchSink.make(bytes, is_long, fill)
    }

    fn shorten(&mut self, data: &mut Vec<u8>, bytes: usize) -> Result<(), ReaderError> {
        VecBatchSink.shorten(data, bytes)
    }

    fn wait(samples: &mut SampleIterator) -> Result<bool, ReaderError> {
        let left = PATIENCE.take();
        PATIENCE.set(left.and_then(|left| left.checked_sub(1)));
        if left == Some(0) {
            return Err(ReaderError::NoCaches);
        }
        VecBatchSink::wait(samples)
    }
}

#[test]
fn batch_that_the_consumer_gave_up_is_read_again_whole() {
    let fixture = Fixture::new(Compression::None);
    let dataset = fixture.open(|options| {
        options.is_shuffled = false;
        options.is_mapped = false;
        options.prefetch_size = 2;
    });
    for patience in 0..4 {
        let mut iterator = batches(&dataset, 16);
        let first = iterator.next_batch(&mut Impatient).unwrap().unwrap();
        let position = iterator.position();
        PATIENCE.set(Some(patience));
        assert!(iterator.next_batch(&mut Impatient).is_err());
        assert_eq!(iterator.position(), position);
        let second = iterator.next_batch(&mut Impatient).unwrap().unwrap();
        let together = [samples(&first), samples(&second)].concat();
        assert_eq!(together, (0..32).collect::<Vec<_>>());
        dataset.load_state(&dataset_start(&dataset)).unwrap();
    }
}

fn dataset_start(dataset: &Dataset) -> dataset_rt_sampler::StreamState {
    let mut state = dataset.state();
    (state.position, state.window_end) = (0, 0);
    state
}

#[test]
fn unit_of_work_is_one_batch_or_the_error_of_its_first_bad_draw() {
    let fixture = Fixture::new(Compression::None);
    let dataset = fixture.open(|options| options.is_shuffled = false);
    fixture.damage(13);
    let window = dataset.claim_window().unwrap();
    let unit = |start, stop| {
        let mut draws = window.iterate_whole(start, stop)?;
        draws.next_batch(&mut VecBatchSink)
    };
    let numbers = samples(&unit(3, 13).unwrap().unwrap());
    assert_eq!(numbers, (3..13).collect::<Vec<_>>());
    assert_eq!(unit(10, 20).unwrap_err().kind(), ErrorKind::Corrupt);
    assert!(unit(5, 5).unwrap().is_none());
    let bytes = (3..13).map(|row| payload(row).len()).sum::<usize>();
    let mut ahead = window.iterate_whole(3, 13).unwrap();
    assert_eq!(ahead.expected_bytes().unwrap(), bytes);
    assert!(unit(0, window.draws() + 1).is_err());
}

#[test]
fn batch_of_no_draws_is_refused_by_name() {
    let refused = BatchShape::new(0, false).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidInput);
    assert_eq!(refused.facts().field.as_deref(), Some("batch_size"));
}

#[test]
fn metadata_of_a_batch_has_a_line_per_draw() {
    let fixture = Fixture::new(Compression::None);
    let dataset = fixture.open(|_| {});
    let batch = batches(&dataset, 9).next_batch(&mut VecBatchSink);
    let batch = batch.unwrap().unwrap();
    let table = batch_metadata(dataset.snapshot().caches(), &batch.draws).unwrap();
    assert_eq!(table.num_rows(), 9);
    let numbers = table.column(0).as_any();
    let numbers = numbers.downcast_ref::<arrow_array::Int64Array>().unwrap();
    let numbers = numbers.values().iter().map(|number| number.cast_unsigned());
    assert_eq!(numbers.collect::<Vec<_>>(), samples(&batch));
}

#[test]
fn planning_what_is_not_mapped_leaves_its_files_to_the_pool() {
    let fixture = Fixture::new(Compression::None);
    let dataset = fixture.open(|options| options.is_mapped = false);
    std::fs::write(fixture.folder.path().join("cache/index.bin"), b"").unwrap();
    let mut samples = SampleIterator::new(dataset.claim_window().unwrap());
    assert_eq!(samples.prepare().unwrap(), Readiness::Waiting);
    while !samples.wait(Duration::from_millis(50)).unwrap() {}
    match samples.deliver(&mut VecSink).unwrap() {
        Err(Undelivered::Read(error)) => assert_eq!(error.kind(), ErrorKind::Corrupt),
        other => panic!("{other:?}"),
    }
}
