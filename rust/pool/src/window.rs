//! A bounded window of jobs whose results come back in submission order.
//!
//! Owns: the bound, the order, the translation of panics, cancellation of what is queued.
//! Must not: wait for room on its own (the owner takes the oldest result first), or block when it is dropped.
//! Invariant: at most `capacity` jobs are submitted and not yet taken. A job that has not started when the window is
//! cancelled never starts.

use std::collections::VecDeque;
use std::mem;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, bounded};

use crate::cancel::CancelToken;
use crate::error::PoolError;
use crate::fork;
use crate::pool::WorkerPool;

/// Longest time a wait goes on after its token was cancelled.
const CANCEL_POLL: Duration = Duration::from_millis(10);

/// Jobs in flight on a pool, taken out in the order they were put in.
///
/// A window belongs to one thread. It must not be waited on from a job of the same pool: with one worker, that worker
/// would wait for itself.
///
/// # Guarantees
/// The order of results is the order of submission whatever the jobs' durations and the number of workers. Dropping
/// the window cancels its queued jobs and returns at once; jobs that run already end by themselves.
pub struct OrderedWindow<T> {
    pool: Arc<WorkerPool>,
    capacity: NonZeroUsize,
    cancel: CancelToken,
    generation: u64,
    pending: VecDeque<Receiver<Result<T, PoolError>>>,
}

impl<T: Send + 'static> OrderedWindow<T> {
    /// Makes an empty window of at most `capacity` jobs, cancelled together with `cancel`.
    #[must_use]
    pub fn new(pool: &Arc<WorkerPool>, capacity: NonZeroUsize, cancel: &CancelToken) -> Self {
        Self {
            pool: Arc::clone(pool),
            capacity,
            cancel: cancel.child(),
            generation: fork::generation(),
            pending: VecDeque::with_capacity(capacity.get()),
        }
    }

    /// Says how many jobs are submitted and not yet taken.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pending.len()
    }

    /// Says whether nothing is in flight.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    /// Most jobs that fit.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.capacity.get()
    }

    /// Says whether the oldest result must be taken before another job fits.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.pending.len() >= self.capacity.get()
    }

    /// The token that jobs of this window may look at to stop early.
    #[must_use]
    pub fn cancel_token(&self) -> &CancelToken {
        &self.cancel
    }

    /// Puts `job` into the window, first taking out the oldest result if there is no room.
    ///
    /// Returns that oldest result, if one had to be taken.
    ///
    /// # Errors
    /// As [`take`](Self::take), and [`PoolError::ThreadsUnavailable`] in a forked child. The job is then not submitted.
    pub fn push(
        &mut self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<Option<T>, PoolError> {
        let oldest = if self.is_full() {
            self.take().transpose()?
        } else {
            None
        };
        self.submit(job)?;
        Ok(oldest)
    }

    /// Puts `job` into the window without looking at the bound; for owners that asked [`is_full`](Self::is_full).
    ///
    /// # Errors
    /// [`PoolError::Cancelled`] and [`PoolError::LostInFork`]; [`PoolError::ThreadsUnavailable`] in a forked child.
    pub fn submit(&mut self, job: impl FnOnce() -> T + Send + 'static) -> Result<(), PoolError> {
        self.check_usable()?;
        let (sender, receiver) = bounded(1);
        let cancel = self.cancel.clone();
        self.pool.spawn(move || {
            let outcome = if cancel.is_cancelled() {
                drop(job);
                Err(PoolError::Cancelled)
            } else {
                catch_unwind(AssertUnwindSafe(job))
                    .map_err(|payload| PoolError::from_panic(payload.as_ref()))
            };
            // A receiver that is gone belongs to a dropped window: nobody wants the result.
            let _unwanted = sender.send(outcome);
        })?;
        self.pending.push_back(receiver);
        Ok(())
    }

    /// Waits for the oldest job and takes its result; `None` when nothing is in flight.
    ///
    /// # Errors
    /// [`PoolError::WorkerPanicked`] when that job panicked (the window stays usable), [`PoolError::Cancelled`]
    /// promptly after cancellation, [`PoolError::LostInFork`] in a forked child.
    pub fn take(&mut self) -> Option<Result<T, PoolError>> {
        while !self.pending.is_empty() {
            if let Some(result) = self.take_timeout(Duration::MAX) {
                return Some(result);
            }
        }
        None
    }

    /// Like [`take`](Self::take), but gives up after `timeout` and returns `None` with the job still in flight.
    ///
    /// # Errors
    /// As [`take`](Self::take).
    pub fn take_timeout(&mut self, timeout: Duration) -> Option<Result<T, PoolError>> {
        if let Err(error) = self.check_usable() {
            return Some(Err(error));
        }
        let oldest = self.pending.front()?;
        let deadline = Instant::now().checked_add(timeout);
        loop {
            let left = deadline.map_or(CANCEL_POLL, |end| {
                end.saturating_duration_since(Instant::now())
            });
            match oldest.recv_timeout(left.min(CANCEL_POLL)) {
                Ok(result) => {
                    self.pending.pop_front();
                    return Some(result);
                }
                // The sender lives in the job and sends before it goes, unless the pool dropped the job unrun.
                Err(RecvTimeoutError::Disconnected) => {
                    self.pending.pop_front();
                    return Some(Err(PoolError::Cancelled));
                }
                Err(RecvTimeoutError::Timeout) if self.cancel.is_cancelled() => {
                    return Some(Err(PoolError::Cancelled));
                }
                Err(RecvTimeoutError::Timeout) if left <= CANCEL_POLL && deadline.is_some() => {
                    return None;
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Refuses use after cancellation and in a forked child.
    fn check_usable(&self) -> Result<(), PoolError> {
        if self.generation != fork::generation() {
            return Err(PoolError::LostInFork);
        }
        if self.cancel.is_cancelled() {
            return Err(PoolError::Cancelled);
        }
        Ok(())
    }
}

impl<T> Drop for OrderedWindow<T> {
    fn drop(&mut self) {
        self.cancel.cancel();
        if self.generation != fork::generation() {
            // The other ends are in the parent process; closing ours would take locks their threads may have held.
            mem::forget(mem::take(&mut self.pending));
        }
    }
}

impl<T> std::fmt::Debug for OrderedWindow<T> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("OrderedWindow")
            .field("capacity", &self.capacity)
            .field("in_flight", &self.pending.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
