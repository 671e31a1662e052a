//! What a warm draw costs without Python: single reads and batches of 256.
//!
//! Owns two small caches in a temporary folder. Must not measure their writing. Invariant: a window never ends while it is measured.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use criterion::{Criterion, Throughput};
use dataset_rt_format::{MetadataValueRef, Seed};
use dataset_rt_pool::WorkerPool;
use dataset_rt_reader::{
    BatchIterator, BatchShape, CacheSet, Dataset, ReaderError, ReaderOptions, Readiness,
    SampleIterator, VecBatchSink, VecSink,
};
use dataset_rt_storage::durable::Disk;
use dataset_rt_storage::{Begin, CacheWriter, InterruptCheck, Pushed, WriteOptions};

const SIZES: [(&str, usize, i64); 2] = [("64b", 64, 8192), ("16k", 16 * 1024, 1024)];
const BATCH: u64 = 256;
const WINDOW: u64 = 1 << 40;

fn write(
    base: &Path,
    pool: &Arc<WorkerPool>,
    bytes: usize,
    rows: i64,
) -> Result<(), Box<dyn Error>> {
    let (options, never) = (WriteOptions::default(), InterruptCheck::never());
    let begin = CacheWriter::begin(&Disk::new(), base, "cache", &options, pool, &never)?;
    let Begin::Building(mut writer) = begin else {
        return Err("the folder is not empty".into());
    };
    for row in 0..rows {
        let payload = row
            .to_le_bytes()
            .into_iter()
            .cycle()
            .take(bytes)
            .collect::<Vec<u8>>();
        match writer.push(payload, &[("number", MetadataValueRef::Int64(row))])? {
            Pushed::Room => {}
            Pushed::BlockFull => writer.dispatch()?,
        }
    }
    writer.finish()?;
    Ok(())
}

/// One draw, as the binding takes it.
fn next(samples: &mut SampleIterator) -> Result<usize, ReaderError> {
    loop {
        if samples.prepare()? == Readiness::Waiting {
            samples.wait(std::time::Duration::from_secs(1))?;
        }
        if let Some(delivered) = samples.deliver(&mut VecSink) {
            return match delivered {
                Ok(delivered) => Ok(delivered.payload.len()),
                Err(error) => Err(match error {
                    dataset_rt_reader::Undelivered::Read(error)
                    | dataset_rt_reader::Undelivered::Sink(error) => error,
                }),
            };
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut criterion = Criterion::default().configure_from_args();
    let pool = WorkerPool::new(2)?;
    for (name, bytes, rows) in SIZES {
        let folder = tempfile::tempdir()?;
        write(folder.path(), &pool, bytes, rows)?;
        let options = ReaderOptions::new(Seed::new(7));
        let paths = [folder.path().join("cache")];
        let caches = CacheSet::open(&paths, &options, &pool, &InterruptCheck::never())?;
        let dataset = Dataset::new(caches, options, Arc::clone(&pool))?;
        dataset.set_epoch_length(WINDOW)?;
        let mut samples = SampleIterator::new(dataset.claim_window()?);
        let mut batches =
            BatchIterator::new(dataset.claim_window()?, BatchShape::new(BATCH, false)?);
        let mut group = criterion.benchmark_group(format!("warm-{name}"));
        group.throughput(Throughput::Elements(1));
        group.bench_function("single", |bencher| bencher.iter(|| next(&mut samples)));
        group.throughput(Throughput::Elements(BATCH));
        group.bench_function("batch-256", |bencher| {
            bencher.iter(|| batches.next_batch(&mut VecBatchSink));
        });
        group.finish();
    }
    criterion.final_summary();
    Ok(())
}
