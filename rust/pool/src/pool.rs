//! The fixed set of worker threads.
//!
//! Owns: rayon's thread pool, its size and the names of its threads, one pool per fork generation.
//! Must not: infer a size from the machine, grow, or run a job in the caller's thread.
//! Invariant: in any process that uses it, exactly `num_workers` threads exist. A lock belongs to one generation, so a
//! forked child never meets one that a thread of its parent may have held.

use std::mem;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::PoolError;
use crate::fork;

/// Longest chain of forks of forks that one pool follows.
const MAX_FORK_DEPTH: usize = 32;

/// The threads of one process generation.
#[derive(Default)]
struct Crew {
    building: Mutex<()>,
    threads: OnceLock<ThreadPool>,
}

/// A pool of exactly as many threads as it was made with, for its whole life.
///
/// # Guarantees
/// Jobs submitted from one thread are started in submission order. Dropping the pool lets submitted jobs finish and
/// does not wait for them. After `fork` the child gets threads of its own (see [`fork::note_forked_child`]).
pub struct WorkerPool {
    num_workers: usize,
    first_generation: u64,
    crews: [Crew; MAX_FORK_DEPTH],
}

impl WorkerPool {
    /// Starts `num_workers` threads.
    ///
    /// # Errors
    /// [`PoolError::NoWorkers`] for zero, [`PoolError::ThreadsUnavailable`] when the operating system refuses.
    pub fn new(num_workers: usize) -> Result<Arc<Self>, PoolError> {
        if num_workers == 0 {
            return Err(PoolError::NoWorkers);
        }
        let pool = Self {
            num_workers,
            first_generation: fork::generation(),
            crews: std::array::from_fn(|_| Crew::default()),
        };
        pool.threads()?;
        Ok(Arc::new(pool))
    }

    /// Says how many threads the pool has.
    #[must_use]
    pub fn num_workers(&self) -> usize {
        self.num_workers
    }

    /// Queues `job` for a worker; its panics must be its own business.
    ///
    /// # Errors
    /// [`PoolError::ThreadsUnavailable`] or [`PoolError::TooManyForks`] when a forked child could not start threads;
    /// the job was then not queued.
    pub fn spawn(&self, job: impl FnOnce() + Send + 'static) -> Result<(), PoolError> {
        self.threads()?.spawn_fifo(job);
        Ok(())
    }

    /// Number of noted forks since the pool was made; the index of this process's crew.
    fn depth(&self) -> usize {
        usize::try_from(fork::generation().saturating_sub(self.first_generation))
            .unwrap_or(usize::MAX)
    }

    /// The threads of this process, started now if a fork left us without.
    fn threads(&self) -> Result<&ThreadPool, PoolError> {
        let crew = self
            .crews
            .get(self.depth())
            .ok_or(PoolError::TooManyForks {
                limit: MAX_FORK_DEPTH,
            })?;
        if let Some(threads) = crew.threads.get() {
            return Ok(threads);
        }
        let _building = crew.building.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(threads) = crew.threads.get() {
            return Ok(threads);
        }
        let threads = ThreadPoolBuilder::new()
            .num_threads(self.num_workers)
            .thread_name(|index| format!("dataset-rt-{index}"))
            .build()
            .map_err(|error| PoolError::ThreadsUnavailable {
                num_workers: self.num_workers,
                reason: error.to_string(),
            })?;
        Ok(crew.threads.get_or_init(|| threads))
    }
}

impl Drop for WorkerPool {
    fn drop(&mut self) {
        let depth = self.depth();
        for (index, crew) in self.crews.iter_mut().enumerate() {
            if index != depth {
                // The threads of an older generation are not in this process; ending them would take their locks.
                mem::forget(crew.threads.take());
            }
        }
    }
}

impl std::fmt::Debug for WorkerPool {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("WorkerPool")
            .field("num_workers", &self.num_workers)
            .finish_non_exhaustive()
    }
}
