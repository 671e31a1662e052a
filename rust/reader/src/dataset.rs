//! The dataset: caches, the current snapshot, and a cursor.
//!
//! Owns which snapshot and window the next iterator gets. Must not read payloads for iterators: they keep what they were given. Invariant: a table is swapped whole
//! or not at all, and two windows claimed here never overlap.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dataset_rt_pool::WorkerPool;
use dataset_rt_sampler::{
    ActiveTable, Cursor, LAST_POSITION, Partition, Population, PositionRun, SamplerError,
    StreamState, Tail,
};

use crate::batch::{BatchIterator, BatchShape};
use crate::caches::CacheSet;
use crate::config::ReaderOptions;
use crate::error::ReaderError;
use crate::item_watch::ItemWatch;
use crate::plan::{PlannedDraw, Planner};
use crate::snapshot::Snapshot;
use crate::stats::ReadStats;
use crate::window::ClaimedWindow;

/// What a dataset changes: held for moments only, and never across a wait or a read.
#[derive(Clone, Debug)]
struct Current {
    snapshot: Arc<Snapshot>,
    cursor: Cursor,
}

/// Samples of one or more caches, drawn as one table says.
#[derive(Debug)]
pub struct Dataset {
    pool: Arc<WorkerPool>,
    partition: Partition,
    current: Mutex<Current>,
    /// Of reads by identity; nobody waits for it.
    item_watch: Mutex<ItemWatch>,
}

impl Dataset {
    /// Every sample of the caches once, from position 0.
    ///
    /// # Errors
    /// [`ReaderError::InvalidOption`]; [`ReaderError::Sampler`] when there are no samples, or more than rows can be.
    pub fn new(
        caches: CacheSet,
        options: ReaderOptions,
        pool: Arc<WorkerPool>,
    ) -> Result<Self, ReaderError> {
        options.validate()?;
        let population = Population::unedited(Arc::clone(caches.identity()))?;
        let cursor = Cursor::new(population.rows())?;
        let snapshot = Arc::new(Snapshot::new(Arc::new(caches), options, population));
        Ok(Self::resumed(snapshot, cursor, Partition::WHOLE, pool))
    }

    /// A dataset, or a view of one, that another process described.
    pub(crate) fn resumed(
        snapshot: Arc<Snapshot>,
        cursor: Cursor,
        partition: Partition,
        pool: Arc<WorkerPool>,
    ) -> Self {
        Self {
            pool,
            partition,
            current: Mutex::new(Current { snapshot, cursor }),
            item_watch: Mutex::default(),
        }
    }

    /// Directories of the caches in `cache_id` order.
    #[must_use]
    pub fn cache_paths(&self) -> Vec<PathBuf> {
        self.snapshot().caches().paths()
    }

    /// Where each cache comes from, in `cache_id` order; `None` for a directory.
    #[must_use]
    pub fn cache_urls(&self) -> Vec<Option<String>> {
        let snapshot = self.snapshot();
        let store = snapshot.caches().store();
        let url = |cache| Some(store?.replica(cache)?.url().to_owned());
        snapshot.caches().iter().map(|(id, _)| url(id)).collect()
    }

    /// Snapshot and cursor at one moment.
    pub(crate) fn current(&self) -> (Arc<Snapshot>, Cursor) {
        let current = self.lock();
        (Arc::clone(&current.snapshot), current.cursor)
    }

    /// The worker threads.
    #[must_use]
    pub fn pool(&self) -> &Arc<WorkerPool> {
        &self.pool
    }

    pub(crate) fn item_watch(&self) -> &Mutex<ItemWatch> {
        &self.item_watch
    }

    /// The current snapshot.
    #[must_use]
    pub fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.lock().snapshot)
    }

    /// Draws of the next full window, of this part.
    #[must_use]
    pub fn epoch_length(&self) -> u64 {
        self.partition.draws_of(self.lock().cursor.epoch_length())
    }

    /// Sets the draws of full windows, of all parts together.
    ///
    /// # Errors
    /// [`SamplerError::EpochLength`].
    pub fn set_epoch_length(&self, draws: u64) -> Result<(), ReaderError> {
        Ok(self.lock().cursor.set_epoch_length(draws)?)
    }

    /// The cursor: position where the next window starts.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.lock().cursor.position()
    }

    /// Passes over `draws` positions.
    ///
    /// # Errors
    /// [`SamplerError::Position`] at the end of the stream.
    pub fn skip(&self, draws: u64) -> Result<(), ReaderError> {
        Ok(self.lock().cursor.skip(draws)?)
    }

    /// The active table.
    ///
    /// # Errors
    /// As [`Snapshot::table`].
    pub fn table(&self) -> Result<ActiveTable, ReaderError> {
        self.snapshot().table()
    }

    /// Validates a table and draws from it from now on, from position 0 and with windows of its length.
    ///
    /// # Errors
    /// What the sampler finds; nothing has changed then.
    pub fn update_table(&self, table: ActiveTable) -> Result<(), ReaderError> {
        let before = self.snapshot();
        let caches = before.caches();
        let population =
            Population::from_table(Arc::clone(caches.identity()), caches.schema(), table)?;
        let cursor = Cursor::new(population.rows())?;
        let snapshot = Arc::new(Snapshot::new(
            Arc::clone(caches),
            before.options().clone(),
            population,
        ));
        *self.lock() = Current { snapshot, cursor };
        Ok(())
    }

    /// Claims the next window and moves the cursor past it.
    ///
    /// # Errors
    /// [`SamplerError::Position`] at the end of the stream; the cursor stays where it was.
    pub fn claim_window(&self) -> Result<ClaimedWindow, ReaderError> {
        let mut current = self.lock();
        let window = current.cursor.take_window()?;
        Ok(ClaimedWindow::new(
            Arc::clone(&current.snapshot),
            Arc::clone(&self.pool),
            window,
            self.partition,
        ))
    }

    /// Claims the next window to be read in batches.
    ///
    /// # Errors
    /// As [`claim_window`](Self::claim_window).
    pub fn claim_batches(&self, shape: BatchShape) -> Result<BatchIterator, ReaderError> {
        Ok(BatchIterator::new(self.claim_window()?, shape))
    }

    /// The window that [`claim_window`](Self::claim_window) would claim; the cursor stays where it is.
    ///
    /// # Errors
    /// As claiming it.
    pub fn coming_window(&self) -> Result<ClaimedWindow, ReaderError> {
        let (snapshot, mut cursor) = self.current();
        Ok(ClaimedWindow::new(
            snapshot,
            Arc::clone(&self.pool),
            cursor.take_window()?,
            self.partition,
        ))
    }

    /// Which part of the draws this view has.
    #[must_use]
    pub fn part(&self) -> Partition {
        self.partition
    }

    /// The view of part `index` of `count`: same snapshot, a cursor of its own that starts at this one's.
    ///
    /// # Errors
    /// [`SamplerError::Partition`]; [`ReaderError::InvalidOption`] where damaged samples are skipped, for lengths of parts would then differ.
    pub fn partition(&self, index: u64, count: u64, tail: Tail) -> Result<Self, ReaderError> {
        let Current { snapshot, cursor } = self.lock().clone();
        let partition = snapshot.part_of(self.partition, index, count, tail)?;
        let pool = Arc::clone(&self.pool);
        Ok(Self::resumed(snapshot, cursor, partition, pool))
    }

    /// What resumes the stream at the cursor.
    #[must_use]
    pub fn state(&self) -> StreamState {
        let current = self.lock();
        StreamState::of_cursor(current.snapshot.key(), &current.cursor)
    }

    /// Continues where a state was saved; the rest of its window comes next.
    ///
    /// # Errors
    /// [`SamplerError::StateMismatch`] and its like; nothing has changed then.
    pub fn load_state(&self, state: &StreamState) -> Result<(), ReaderError> {
        let mut current = self.lock();
        current.cursor = state.cursor(&current.snapshot.key())?;
        Ok(())
    }

    /// Checks that another process, whose state this is, goes on with the same draws.
    ///
    /// # Errors
    /// [`SamplerError::StateMismatch`] and its like.
    pub fn check_equal(&self, state: &StreamState) -> Result<(), ReaderError> {
        Ok(state.check_equal(&self.state())?)
    }

    /// Draws to come, of all parts, from `start` or the cursor on; moves nothing and reads no payload.
    ///
    /// # Errors
    /// [`SamplerError::Position`] when they lie behind the end of the stream.
    pub fn plan(&self, draws: u64, start: Option<u64>) -> Result<Vec<PlannedDraw>, ReaderError> {
        let (snapshot, cursor) = {
            let current = self.lock();
            (Arc::clone(&current.snapshot), current.cursor.position())
        };
        let start = start.unwrap_or(cursor);
        if start
            .checked_add(draws)
            .is_none_or(|end| end > LAST_POSITION + 1)
        {
            let position = start.saturating_add(draws);
            return Err(SamplerError::Position {
                position,
                limit: LAST_POSITION,
            }
            .into());
        }
        let mut plan = Vec::new();
        Planner::new(&snapshot).plan_run(
            PositionRun {
                start,
                stride: 1,
                draws,
            },
            &mut plan,
        )?;
        Ok(plan)
    }

    /// What was read since the dataset was opened, by its iterators and views too.
    #[must_use]
    pub fn stats(&self) -> ReadStats {
        let snapshot = self.snapshot();
        let mut stats = snapshot.caches().counters().stats();
        if let Some(store) = snapshot.caches().store() {
            let fetched = store.stats();
            stats.fetch_requests = fetched.requests;
            stats.fetch_repeats = fetched.repeats;
            stats.fetched_bytes = fetched.bytes;
        }
        stats
    }

    fn lock(&self) -> MutexGuard<'_, Current> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
