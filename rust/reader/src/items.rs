//! Samples by identity.
//!
//! Owns in which order they are read, and which of them on the pool. Must not look at the table, nor move a cursor. Invariant: payloads
//! come back in the order asked for; the consumer is never kept while the disk or a decoder works.

use std::sync::{Arc, PoisonError, TryLockError};
use std::time::Duration;

use dataset_rt_format::{CacheId, RowIndex, SampleId};
use dataset_rt_pool::WorkerPool;

use crate::caches::CacheSet;
use crate::dataset::Dataset;
use crate::error::ReaderError;
use crate::fetch::{PayloadSink, Undelivered, fetch};
use crate::item_watch::ItemWatch;
use crate::plan::PlannedDraw;
use crate::schedule::{FetchedBlock, JOB_DRAWS, Lane, Prefetch};
use crate::snapshot::Snapshot;
use crate::stats::ReadStats;

/// Longest wait for the pool between two looks at the consumer.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);

/// Where samples that were asked for by identity go.
pub trait ItemSink: PayloadSink {
    /// Does work that waits, while others run.
    ///
    /// # Errors
    /// Whatever ends the consumer's patience.
    fn away(&mut self, work: &mut (dyn FnMut() + Send)) -> Result<(), Self::Error>;
}

impl Dataset {
    /// Reads samples by identity, whatever the table says, in the order of their places on disk: in the caller's thread what is in memory, on the pool what is not.
    ///
    /// # Errors
    /// [`ReaderError::NoSuchSample`] before anything is read; otherwise what reading one of them found.
    ///
    /// # Guarantees
    /// Payloads come back in the order of `ids`; no cursor moves.
    pub fn read_samples<S: ItemSink>(
        &self,
        ids: &[(CacheId, SampleId)],
        sink: &mut S,
    ) -> Result<Vec<S::Payload>, Undelivered<S::Error>> {
        let snapshot = self.snapshot();
        let caches = snapshot.caches();
        check_identities(caches, ids)?;
        let mut order: Vec<_> = (0..).zip(ids).map(|(place, id)| (*id, place)).collect();
        order.sort_unstable();
        let draws: Vec<_> = order.iter().map(|(id, _)| draw_of(*id)).collect();
        let payloads = self.read_in_order(&snapshot, &draws, sink)?;
        let mut placed: Vec<(usize, _)> = order
            .into_iter()
            .map(|(_, place)| place)
            .zip(payloads)
            .collect();
        placed.sort_unstable_by_key(|(place, _)| *place);
        Ok(placed.into_iter().map(|(_, payload)| payload).collect())
    }

    /// Reads one sample by identity, as [`read_samples`](Self::read_samples) does.
    ///
    /// # Errors
    /// As there.
    pub fn read_sample<S: ItemSink>(
        &self,
        snapshot: &Snapshot,
        id: (CacheId, SampleId),
        sink: &mut S,
    ) -> Result<S::Payload, Undelivered<S::Error>> {
        check_identities(snapshot.caches(), &[id])?;
        let mut payloads = self.read_in_order(snapshot, &[draw_of(id)], sink)?;
        let (cache, sample) = id;
        Ok(payloads
            .pop()
            .ok_or(ReaderError::NoSuchSample { cache, sample })?)
    }

    fn read_in_order<S: ItemSink>(
        &self,
        snapshot: &Snapshot,
        draws: &[PlannedDraw],
        sink: &mut S,
    ) -> Result<Vec<S::Payload>, Undelivered<S::Error>> {
        // Whoever finds another thread reading by identity looks for itself.
        let mut own = ItemWatch::default();
        let mut common = match self.item_watch().try_lock() {
            Ok(watch) => Some(watch),
            Err(TryLockError::Poisoned(poisoned)) => Some(PoisonError::into_inner(poisoned)),
            Err(TryLockError::WouldBlock) => None,
        };
        let mut reader = ItemReader {
            snapshot,
            pool: self.pool(),
            watch: common.as_deref_mut().unwrap_or(&mut own),
            stats: ReadStats::default(),
            sink,
        };
        let mut payloads = Vec::with_capacity(draws.len());
        for block in draws.chunks(JOB_DRAWS) {
            reader.read(block, &mut payloads)?;
        }
        snapshot.caches().counters().add(&reader.stats);
        Ok(payloads)
    }
}

/// Reads samples for one consumer.
struct ItemReader<'a, S> {
    snapshot: &'a Snapshot,
    pool: &'a Arc<WorkerPool>,
    watch: &'a mut ItemWatch,
    stats: ReadStats,
    sink: &'a mut S,
}

impl<S: ItemSink> ItemReader<'_, S> {
    /// Appends the payloads of a block, in its order.
    fn read(
        &mut self,
        block: &[PlannedDraw],
        payloads: &mut Vec<S::Payload>,
    ) -> Result<(), Undelivered<S::Error>> {
        let caches = self.snapshot.caches();
        let verifies = self.snapshot.options().verifies_records;
        let before = payloads.len();
        let lane = match caches.store() {
            Some(_) => Lane::Cold,
            None => self.watch.lane(self.snapshot, block),
        };
        if lane != Lane::Inline {
            let mut fetched = self.fetch_on_pool(block, lane == Lane::Cold)?;
            self.stats.decode_time += fetched.take_decode_time();
            for number in 0..block.len() {
                let payload = fetched.take(number)?;
                payloads.push(self.sink.copy(&payload).map_err(Undelivered::Sink)?);
            }
        } else {
            for draw in block {
                self.watch
                    .lengths
                    .look(caches, std::slice::from_ref(draw), draw)?;
                let decode_time = &mut self.stats.decode_time;
                payloads.push(fetch(caches, draw, None, verifies, self.sink, decode_time)?);
            }
        }
        let read = payloads.get(before..).unwrap_or_default();
        for (draw, payload) in block.iter().zip(read) {
            self.stats.item_reads += 1;
            self.stats.checked_records += u64::from(self.snapshot.checks_records_of(draw.cache));
            self.stats.payload_bytes += self.sink.bytes(payload).len() as u64;
        }
        Ok(())
    }

    fn fetch_on_pool(
        &mut self,
        block: &[PlannedDraw],
        is_cold: bool,
    ) -> Result<FetchedBlock, Undelivered<S::Error>> {
        let mut prefetch = Prefetch::new(self.snapshot, self.pool);
        prefetch.submit(block, is_cold).map_err(ReaderError::from)?;
        loop {
            let mut taken = None;
            self.sink
                .away(&mut || taken = prefetch.take(LOOK_INTERVAL))
                .map_err(Undelivered::Sink)?;
            if let Some(fetched) = taken {
                return Ok(fetched.map_err(ReaderError::from)?);
            }
        }
    }
}

fn check_identities(caches: &CacheSet, ids: &[(CacheId, SampleId)]) -> Result<(), ReaderError> {
    let identity = caches.identity();
    let unknown = ids
        .iter()
        .find(|(cache, sample)| identity.global_of(*cache, *sample).is_none());
    match unknown {
        None => Ok(()),
        Some((cache, sample)) => Err(ReaderError::NoSuchSample {
            cache: *cache,
            sample: *sample,
        }),
    }
}

/// Only who the sample is matters: it has no position.
fn draw_of((cache, sample): (CacheId, SampleId)) -> PlannedDraw {
    PlannedDraw {
        position: 0,
        row: RowIndex::new(0),
        cache,
        sample,
    }
}
