//! A claimed window: the unit of work between threads and processes.
//!
//! Owns (snapshot, part of a window) as one value. Must not have a cursor. Invariant: two windows claimed from one dataset never overlap.

use std::path::Path;
use std::sync::Arc;

use dataset_rt_pool::WorkerPool;
use dataset_rt_sampler::{Partition, StreamState, Tail, Window, WindowProgress};

use crate::batch::BatchIterator;
use crate::deliver::SampleIterator;
use crate::error::ReaderError;
use crate::share::WindowText;
use crate::snapshot::Snapshot;

/// A part of a window as a frozen view.
///
/// # Cost
/// A clone shares the snapshot.
#[derive(Clone, Debug)]
pub struct ClaimedWindow {
    snapshot: Arc<Snapshot>,
    pool: Arc<WorkerPool>,
    window: Window,
    partition: Partition,
}

impl ClaimedWindow {
    /// A part of a window over a snapshot.
    #[must_use]
    pub fn new(
        snapshot: Arc<Snapshot>,
        pool: Arc<WorkerPool>,
        window: Window,
        partition: Partition,
    ) -> Self {
        Self {
            snapshot,
            pool,
            window,
            partition,
        }
    }

    /// What is drawn from.
    #[must_use]
    pub fn snapshot(&self) -> &Arc<Snapshot> {
        &self.snapshot
    }

    /// The threads that read ahead.
    #[must_use]
    pub fn pool(&self) -> &Arc<WorkerPool> {
        &self.pool
    }

    /// The whole window.
    #[must_use]
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// The part of it.
    #[must_use]
    pub fn partition(&self) -> Partition {
        self.partition
    }

    /// Part `index` of `count` of this part.
    ///
    /// # Errors
    /// As [`Snapshot::part_of`].
    pub fn part(&self, index: u64, count: u64, tail: Tail) -> Result<Self, ReaderError> {
        let partition = self.snapshot.part_of(self.partition, index, count, tail)?;
        Ok(Self {
            partition,
            ..self.clone()
        })
    }

    /// Draws of the part.
    #[must_use]
    pub fn draws(&self) -> u64 {
        self.partition.draws_of(self.window.draws())
    }

    /// The part with nothing delivered.
    #[must_use]
    pub fn progress(&self) -> WindowProgress {
        WindowProgress::new(self.window, self.partition)
    }

    /// State after `delivered` draws of the part have reached the consumer; behind the whole window for `None`.
    ///
    /// # Errors
    /// [`ReaderError::OutsideWindow`] when the part has fewer.
    pub fn state(&self, delivered: Option<u64>) -> Result<StreamState, ReaderError> {
        let mut progress = self.progress();
        match delivered {
            None => progress.finish(),
            Some(draws) => {
                self.check_range(0, draws)?;
                progress.advance(draws);
            }
        }
        Ok(StreamState::of_window(self.snapshot.key(), &progress))
    }

    /// The full window that comes `windows` windows later, same part; 0 is this one.
    ///
    /// # Errors
    /// [`SamplerError::Position`](dataset_rt_sampler::SamplerError::Position) behind the end of the stream.
    pub fn following(&self, windows: u64) -> Result<Self, ReaderError> {
        let Some(between) = windows.checked_sub(1) else {
            return Ok(self.clone());
        };
        let draws = self.window.epoch_length();
        let start = u128::from(self.window.end()) + u128::from(draws) * u128::from(between);
        let start = u64::try_from(start).unwrap_or(u64::MAX);
        Ok(Self {
            window: Window::new(start, draws)?,
            ..self.clone()
        })
    }

    /// The window that a state describes, from its position on; same snapshot, same part.
    ///
    /// # Errors
    /// [`SamplerError::StateMismatch`](dataset_rt_sampler::SamplerError::StateMismatch) and its like.
    pub fn resumed(&self, state: &StreamState) -> Result<Self, ReaderError> {
        let window = state.cursor(&self.snapshot.key())?.take_window()?;
        Ok(Self {
            window,
            ..self.clone()
        })
    }

    /// Text by which another process of the host opens the window; its snapshot is backed by files from then on.
    ///
    /// # Errors
    /// As writing those files.
    pub fn share(&self) -> Result<String, ReaderError> {
        let handle = self.snapshot.shared().share(&self.snapshot)?;
        if self.draws() > 0 {
            self.snapshot.share_order(self.window.start())?;
        }
        Ok(WindowText::of(&self.window, self.partition, &handle).to_string())
    }

    /// Opens a window that another process shared; `snapshot` opens the handle, if it is not open already.
    ///
    /// # Errors
    /// [`ReaderError::InvalidOption`] for another text, and what `snapshot` answers.
    pub fn open(
        text: &str,
        pool: &Arc<WorkerPool>,
        snapshot: impl FnOnce(&Path) -> Result<Arc<Snapshot>, ReaderError>,
    ) -> Result<Self, ReaderError> {
        let text: WindowText = text.parse()?;
        let snapshot = snapshot(&text.handle)?;
        let window = text.window(&snapshot.key())?;
        Ok(Self::new(
            snapshot,
            Arc::clone(pool),
            window,
            text.partition()?,
        ))
    }

    /// Iterates over the draws `start..stop` of the part, a unit of work that is read to its end.
    ///
    /// # Errors
    /// [`ReaderError::OutsideWindow`].
    pub fn iterate(&self, start: u64, stop: u64) -> Result<SampleIterator, ReaderError> {
        self.check_range(start, stop)?;
        Ok(SampleIterator::over_unit(self.clone(), start, stop))
    }

    /// The draws `start..stop` of the part as one batch: the first one of the iterator, or the error of the first draw that fails; no batch where none is left.
    ///
    /// # Errors
    /// [`ReaderError::OutsideWindow`].
    pub fn iterate_whole(&self, start: u64, stop: u64) -> Result<BatchIterator, ReaderError> {
        Ok(BatchIterator::whole(self.iterate(start, stop)?))
    }

    fn check_range(&self, start: u64, stop: u64) -> Result<(), ReaderError> {
        let draws = self.draws();
        if start <= stop && stop <= draws {
            return Ok(());
        }
        Err(ReaderError::OutsideWindow { start, stop, draws })
    }
}
