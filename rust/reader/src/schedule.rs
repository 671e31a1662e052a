//! Which draws are read where: warm records by the consumer itself, cold and compressed ones in blocks on the pool.
//!
//! Owns that judgement, made once per block of draws, and the bound of what is in flight. Must not deliver. Invariant: at most `prefetch_size` draws are read ahead
//! of the consumer, and blocks come back in the order they were submitted.

use std::hint::black_box;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use dataset_rt_pool::{CancelToken, OrderedWindow, PoolError, WorkerPool};
use dataset_rt_storage::load::{LoadedCache, RecordPlace};

use crate::arrivals::Arrivals;
use crate::caches::CacheSet;
use crate::error::ReaderError;
use crate::fetch::{Undelivered, VecSink, cache_of, fetch};
use crate::lengths::LengthWatch;
use crate::plan::PlannedDraw;
use crate::snapshot::Snapshot;

/// Blocks in a row that were in memory after which one look is enough for the next: the looks are the dearest part of planning. Before, each draw is looked at:
/// one that is missed and then read by the consumer makes the system read its surroundings too, of which the next look would conclude that all is there.
const SURE_BLOCKS: u32 = 4;

/// Draws of one job at most.
pub(crate) const JOB_DRAWS: usize = 16;

/// Compressed bytes that the consumer decodes itself in one block; more of them are worth a hand-over.
const INLINE_DECODE_BYTES: u64 = 16 * 1024;

/// Where a block of draws is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    /// In the consumer's thread.
    Inline,
    /// On the pool, because it is not in memory.
    Cold,
    /// On the pool, because there is much to decode.
    Decode,
}

/// Judges a block by its codecs and by whether its records are in memory; `warm_blocks` were in a row before it.
pub(crate) fn judge(snapshot: &Snapshot, block: &[PlannedDraw], warm_blocks: u32) -> Lane {
    let caches = snapshot.caches();
    if !snapshot.options().is_mapped {
        return Lane::Cold;
    }
    let is_cold = looked_at(block, warm_blocks)
        .iter()
        .any(|draw| locate(caches, draw).is_some_and(|(cache, place)| !cache.is_resident(&place)));
    if is_cold {
        return Lane::Cold;
    }
    if !caches.may_hold_compressed() {
        return Lane::Inline;
    }
    let mut decoded_bytes = 0;
    for draw in block {
        // A row that can't be read is an error of its draw, wherever that is read.
        if let Some((_, place)) = locate(caches, draw) {
            decoded_bytes += u64::from(place.decoded_bytes);
            if decoded_bytes > INLINE_DECODE_BYTES {
                return Lane::Decode;
            }
        }
    }
    Lane::Inline
}

/// The draws of a block whose records are looked for in memory.
fn looked_at(block: &[PlannedDraw], warm_blocks: u32) -> &[PlannedDraw] {
    match warm_blocks >= SURE_BLOCKS {
        true => block.get(..1).unwrap_or_default(),
        false => block,
    }
}

/// Payloads of one job, in the order of its draws.
#[derive(Debug)]
pub(crate) struct FetchedBlock {
    payloads: Vec<Result<Vec<u8>, ReaderError>>,
    decode_time: Duration,
}

impl FetchedBlock {
    /// Time spent decoding, told once.
    pub(crate) fn take_decode_time(&mut self) -> Duration {
        std::mem::take(&mut self.decode_time)
    }

    /// Takes the payload of the draw with this number in the block, once.
    pub(crate) fn take(&mut self, number: usize) -> Result<Vec<u8>, ReaderError> {
        self.payloads.get_mut(number).map_or_else(
            || Ok(Vec::new()),
            |payload| std::mem::replace(payload, Ok(Vec::new())),
        )
    }
}

/// What reads ahead on the pool.
#[derive(Debug)]
pub(crate) struct Prefetch {
    caches: Arc<CacheSet>,
    pool: Arc<WorkerPool>,
    jobs: OrderedWindow<FetchedBlock>,
    capacity: NonZeroUsize,
    job_draws: u64,
    is_mapped: bool,
    verifies: bool,
}

impl Prefetch {
    /// Read-ahead of at most the snapshot's `prefetch_size` draws.
    pub(crate) fn new(snapshot: &Snapshot, pool: &Arc<WorkerPool>) -> Self {
        let prefetch_size = snapshot.options().prefetch_size;
        let job_draws = (prefetch_size / (2 * pool.num_workers())).clamp(1, JOB_DRAWS);
        let capacity = NonZeroUsize::new(prefetch_size / job_draws).unwrap_or(NonZeroUsize::MIN);
        Self {
            caches: Arc::clone(snapshot.caches()),
            pool: Arc::clone(pool),
            jobs: OrderedWindow::new(pool, capacity, &CancelToken::new()),
            capacity,
            job_draws: job_draws as u64,
            is_mapped: snapshot.options().is_mapped,
            verifies: snapshot.options().verifies_records,
        }
    }

    /// Draws of one job.
    pub(crate) fn job_draws(&self) -> u64 {
        self.job_draws
    }

    /// Whether no further job fits.
    pub(crate) fn is_full(&self) -> bool {
        self.jobs.is_full()
    }

    /// Has the payloads of `draws` read on the pool; of draws that are not in memory, their metadata too.
    ///
    /// # Errors
    /// [`PoolError`] when no job could be submitted.
    pub(crate) fn submit(&mut self, draws: &[PlannedDraw], is_cold: bool) -> Result<(), PoolError> {
        // Where files are not mapped, asking for a place is a read: it belongs to the pool.
        if self.is_mapped {
            will_need(&self.caches, draws);
        }
        let (caches, draws, verifies) = (Arc::clone(&self.caches), draws.to_vec(), self.verifies);
        let (is_mapped, cancel) = (self.is_mapped, self.jobs.cancel_token().clone());
        self.jobs.submit(move || {
            if !is_mapped {
                will_need(&caches, &draws);
            }
            fetch_block(&caches, &draws, is_cold, verifies, &cancel)
        })
    }

    /// Waits for the oldest job; `None` when it is still running after `timeout`.
    pub(crate) fn take(&mut self, timeout: Duration) -> Option<Result<FetchedBlock, PoolError>> {
        self.jobs.take_timeout(timeout)
    }

    /// Forgets all jobs: their results are not wanted, or they run in the parent of this process.
    pub(crate) fn reset(&mut self) {
        self.jobs = OrderedWindow::new(&self.pool, self.capacity, &CancelToken::new());
    }
}

/// The cache of a draw and where its record is, if that can be told.
fn locate<'a>(caches: &'a CacheSet, draw: &PlannedDraw) -> Option<(&'a LoadedCache, RecordPlace)> {
    let cache = cache_of(caches, draw).ok()?;
    Some((cache, cache.record_place(draw.sample).ok()?))
}

/// Asks the operating system to read records ahead.
fn will_need(caches: &CacheSet, draws: &[PlannedDraw]) {
    for draw in draws {
        if let Some((cache, place)) = locate(caches, draw) {
            cache.will_need(&place);
        }
    }
}

/// Reads the metadata of a draw, so that its consumer finds it in memory. What is wrong with it the consumer is told.
fn read_metadata(caches: &CacheSet, draw: &PlannedDraw) {
    let row = cache_of(caches, draw).ok();
    if let Some(row) = row.and_then(|cache| cache.metadata_row(draw.sample).ok()) {
        for column in 0..caches.schema().len() {
            black_box(row.value(column).is_ok());
        }
    }
}

fn fetch_block(
    caches: &CacheSet,
    draws: &[PlannedDraw],
    is_cold: bool,
    verifies: bool,
    cancel: &CancelToken,
) -> FetchedBlock {
    let mut block = FetchedBlock {
        payloads: Vec::with_capacity(draws.len()),
        decode_time: Duration::ZERO,
    };
    let mut lengths = LengthWatch::default();
    let mut awaited = caches
        .store()
        .map(|store| Arrivals::of(store, draws, cancel));
    for (number, draw) in draws.iter().enumerate() {
        let coming = draws.get(number..).unwrap_or_default();
        let mut read = || {
            let payload = match lengths.look(caches, coming, draw) {
                Ok(()) => {
                    if is_cold {
                        read_metadata(caches, draw);
                    }
                    let decode_time = &mut block.decode_time;
                    fetch(caches, draw, None, verifies, &mut VecSink, decode_time)
                }
                Err(error) => Err(Undelivered::Read(error)),
            };
            payload.map_err(|error| match error {
                Undelivered::Read(error) | Undelivered::Sink(error) => error,
            })
        };
        let payload = match &mut awaited {
            None => read(),
            Some(arrivals) => arrivals.read(number, draw, read),
        };
        block.payloads.push(payload);
    }
    block
}

#[cfg(test)]
mod tests {
    use dataset_rt_format::{CacheId, RowIndex, SampleId};

    use super::*;

    #[test]
    fn every_record_is_looked_for_until_blocks_were_in_memory_for_a_while() {
        let draw = |sample| PlannedDraw {
            position: sample,
            row: RowIndex::new(sample),
            cache: CacheId::new(0),
            sample: SampleId::new(sample),
        };
        let block: Vec<_> = (0..16).map(draw).collect();
        for warm_blocks in 0..SURE_BLOCKS {
            assert_eq!(looked_at(&block, warm_blocks).len(), 16);
        }
        assert_eq!(looked_at(&block, SURE_BLOCKS).len(), 1);
        assert!(looked_at(&[], SURE_BLOCKS).is_empty());
    }
}
