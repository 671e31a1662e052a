//! Completing caches on the pool while the rows of the next source come in.
//!
//! Owns: the caches of one call that have all their rows, in the order of their sources. Must not: take rows, or decide
//! what becomes of the sources.
//! Invariant: together with the blocks in flight of the writer that takes rows there are never more tasks than
//! `min(prefetch_size, num_workers)`, so one window bounds all sources of a call. A job here waits for no other job.
//! Format text: `FORMAT.md`, "Publication".

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use dataset_rt_pool::{CancelToken, OrderedWindow, PoolError, WorkerPool};

use super::block::Block;
use super::cache_writer::CacheWriter;
use super::finish::WriteReport;
use super::options::WriteOptions;
use crate::error::StorageError;
use crate::interrupt::InterruptCheck;

/// How long dropping waits for jobs that remove their private directory.
const STOP_TIMEOUT: Duration = Duration::from_millis(300);

/// What became of a cache, and the payloads that its owner is to drop.
type Ended<P> = (Result<WriteReport, StorageError>, Vec<Block<P>>);

/// How many tasks of a window other owners have; shared between [`Endings`] and the writer that takes rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Elsewhere(Arc<AtomicUsize>);

impl Elsewhere {
    pub(super) fn tasks(&self) -> usize {
        self.0.load(Ordering::Acquire)
    }
}

/// Counts a job as long as it lives, however it ends.
struct Running {
    elsewhere: Elsewhere,
    _alive: Sender<()>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.elsewhere.0.fetch_sub(1, Ordering::Release);
    }
}

/// Caches that are being completed and published, oldest source first.
///
/// # Guarantees
/// Results come in the order of [`push`](Self::push). Dropping stops what is not published and waits for a moment until
/// the private directories are gone; what a slow disk holds up longer removes them itself.
pub struct Endings<P> {
    window: Option<OrderedWindow<Ended<P>>>,
    limit: usize,
    elsewhere: Elsewhere,
    alive: Option<Sender<()>>,
    gone: Receiver<()>,
}

impl<P: AsRef<[u8]> + Send + 'static> Endings<P> {
    /// No caches yet; one task of the window stays with the writer that takes rows.
    #[must_use]
    pub fn new(pool: &Arc<WorkerPool>, options: &WriteOptions) -> Self {
        let limit = options.tasks_in_flight(pool).get() - 1;
        let (alive, gone) = channel();
        Self {
            window: NonZeroUsize::new(limit)
                .map(|limit| OrderedWindow::new(pool, limit, &CancelToken::new())),
            limit,
            elsewhere: Elsewhere::default(),
            alive: Some(alive),
            gone,
        }
    }

    /// Says whether caches can be completed here at all; with a window of one task each is finished by its caller.
    #[must_use]
    pub fn is_possible(&self) -> bool {
        self.window.is_some()
    }

    /// Says whether the oldest result has to be taken before another cache fits.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.len() >= self.limit
    }

    /// Number of caches whose results have not been taken.
    #[must_use]
    pub fn len(&self) -> usize {
        self.window.as_ref().map_or(0, OrderedWindow::len)
    }

    /// Says whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many of them are not complete yet, for the writer that takes rows.
    pub(super) fn elsewhere(&self) -> Elsewhere {
        self.elsewhere.clone()
    }

    /// Commits what a writer has in flight, then completes and publishes its cache on the pool.
    ///
    /// # Errors
    /// As [`CacheWriter::dispatch`]; the cache is then given up.
    pub fn push(&mut self, mut writer: CacheWriter<P>) -> Result<(), StorageError> {
        writer.settle()?;
        let Some(window) = &mut self.window else {
            return Err(PoolError::Cancelled.into());
        };
        self.elsewhere.0.fetch_add(1, Ordering::AcqRel);
        let running = self.alive.clone().map(|alive| Running {
            elsewhere: self.elsewhere.clone(),
            _alive: alive,
        });
        let cancel = window.cancel_token().clone();
        let check = InterruptCheck::new(move || cancel.is_cancelled());
        window.submit(move || {
            let ended = writer.finish_here(check);
            drop(running);
            ended
        })?;
        Ok(())
    }

    /// Takes the oldest result, waiting for it; `None` when there is none.
    ///
    /// # Errors
    /// [`StorageError::Cancelled`] when the interrupt check says so. The inner one is what became of the cache, as
    /// [`CacheWriter::finish`].
    pub fn take(
        &mut self,
        interrupt: &InterruptCheck,
    ) -> Result<Option<Result<WriteReport, StorageError>>, StorageError> {
        let Some(window) = &mut self.window else {
            return Ok(None);
        };
        while !window.is_empty() {
            match window.take_timeout(crate::interrupt::CHECK_INTERVAL) {
                Some(Ok((outcome, _payloads))) => return Ok(Some(outcome)),
                Some(Err(lost)) => return Ok(Some(Err(lost.into()))),
                None => interrupt.check()?,
            }
        }
        Ok(None)
    }

    /// Takes the oldest result if it is there already.
    pub fn take_ready(&mut self) -> Option<Result<WriteReport, StorageError>> {
        match self.window.as_mut()?.take_timeout(Duration::ZERO)? {
            Ok((outcome, _payloads)) => Some(outcome),
            Err(lost) => Some(Err(lost.into())),
        }
    }
}

impl<P> Drop for Endings<P> {
    fn drop(&mut self) {
        let has_jobs = self.elsewhere.tasks() > 0;
        // Dropping the window cancels its jobs; the last of them to go closes the channel.
        drop(self.window.take());
        drop(self.alive.take());
        if has_jobs {
            let _closed_or_late = self.gone.recv_timeout(STOP_TIMEOUT);
        }
    }
}

impl<P> std::fmt::Debug for Endings<P> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Endings")
            .field("limit", &self.limit)
            .field("running", &self.elsewhere.tasks())
            .finish_non_exhaustive()
    }
}
