//! The frozen view behind every iterator: caches, population, stream.
//!
//! Owns what an iterator keeps when the dataset moves on. Must not have a cursor: windows come from the dataset. Invariant: nothing in it changes after it was made.

use std::sync::Arc;

use dataset_rt_format::CacheId;
use dataset_rt_sampler::{
    ActiveTable, DrawMode, DrawStream, Partition, Population, StreamKey, Tail,
};
use dataset_rt_storage::LoadedCache;

use crate::caches::CacheSet;
use crate::config::{OnCorrupt, ReaderOptions};
use crate::error::ReaderError;
use crate::orders::CycleOrders;
use crate::share::SharedFiles;
use crate::table::unedited_table;

/// Caches, rows and weights as they were when it was made.
#[derive(Debug)]
pub struct Snapshot {
    caches: Arc<CacheSet>,
    options: ReaderOptions,
    population: Population,
    stream: DrawStream,
    orders: CycleOrders,
    shared: SharedFiles,
}

impl Snapshot {
    /// The view of a population.
    #[must_use]
    pub fn new(caches: Arc<CacheSet>, options: ReaderOptions, population: Population) -> Self {
        let stream = DrawStream::new(mode(&options), options.seed, population.tables().clone());
        Self {
            caches,
            options,
            population,
            stream,
            orders: CycleOrders::default(),
            shared: SharedFiles::default(),
        }
    }

    /// The same view, backed by files that exist already.
    #[must_use]
    pub(crate) fn with_shared(mut self, shared: SharedFiles) -> Self {
        self.shared = shared;
        self
    }

    /// The caches.
    #[must_use]
    pub fn caches(&self) -> &Arc<CacheSet> {
        &self.caches
    }

    /// Whether checksums of the cache's records are compared as they are read.
    #[inline]
    pub(crate) fn checks_records_of(&self, cache: CacheId) -> bool {
        self.options().verifies_records
            && self
                .caches
                .get(cache)
                .is_some_and(LoadedCache::has_record_checksums)
    }

    /// How it draws and reads.
    #[must_use]
    pub fn options(&self) -> &ReaderOptions {
        &self.options
    }

    /// Rows and weights.
    #[must_use]
    pub fn population(&self) -> &Population {
        &self.population
    }

    /// The draw stream; consumers draw from clones of it.
    #[must_use]
    pub fn stream(&self) -> &DrawStream {
        &self.stream
    }

    /// What makes the stream: states of streams with one key fit each other.
    #[must_use]
    pub fn key(&self) -> StreamKey {
        StreamKey {
            mode: self.stream.mode(),
            seed: self.options.seed,
            caches_digest: self.caches.digest(),
            table_digest: self.population.digest(),
        }
    }

    /// The files that back it for other processes.
    pub(crate) fn shared(&self) -> &SharedFiles {
        &self.shared
    }

    /// Makes `stream`, a clone of this snapshot's, ready for draws of the cycle of `position`.
    ///
    /// # Errors
    /// What the sampler finds.
    pub(crate) fn prepare(
        &self,
        stream: &mut DrawStream,
        position: u64,
    ) -> Result<(), ReaderError> {
        self.orders.prepare(stream, position, &self.shared)
    }

    /// Keeps what a clone of this snapshot's stream knows of its cycle.
    pub(crate) fn keep(&self, stream: &DrawStream) {
        self.orders.keep(stream);
    }

    /// Files the order that draws at `position` need, so that no process that shares the snapshot makes it again.
    ///
    /// # Errors
    /// What the sampler finds.
    pub(crate) fn share_order(&self, position: u64) -> Result<(), ReaderError> {
        self.orders
            .share(self.stream.clone(), position, &self.shared)
    }

    /// Part `index` of `count` of `whole`.
    ///
    /// # Errors
    /// [`SamplerError::Partition`](dataset_rt_sampler::SamplerError::Partition); [`ReaderError::InvalidOption`] where damaged samples are skipped, for lengths of
    /// parts would then differ.
    pub fn part_of(
        &self,
        whole: Partition,
        index: u64,
        count: u64,
        tail: Tail,
    ) -> Result<Partition, ReaderError> {
        if count > 1 && self.options.on_corrupt == OnCorrupt::Skip {
            return Err(ReaderError::InvalidOption {
                option: "on_corrupt",
                found: "\"skip\" with more than one rank".to_owned(),
                expected: "\"raise\": skipping would make the ranks' lengths differ",
            });
        }
        Ok(whole.part(index, count, tail)?)
    }

    /// The active table: as it was given, or as the caches come with it.
    ///
    /// # Errors
    /// What storage finds in `metadata.arrow`, or in the file of a table that another process wrote.
    ///
    /// # Cost
    /// Clones of columns, or for an unedited table 24 bytes per row.
    pub fn table(&self) -> Result<ActiveTable, ReaderError> {
        let schema = self.caches.schema();
        match (self.population.table(), self.shared.table()?) {
            (Some(table), _) => Ok(table.canonical(schema)?),
            (None, Some(table)) => Ok(table.canonical(schema)?),
            (None, None) => unedited_table(&self.caches),
        }
    }
}

/// How rows are drawn under these options.
fn mode(options: &ReaderOptions) -> DrawMode {
    match (options.is_shuffled, options.has_replacement) {
        (false, _) => DrawMode::Ordered,
        (true, true) => DrawMode::WithReplacement,
        (true, false) => DrawMode::EachOnce,
    }
}
