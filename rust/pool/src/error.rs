//! What can go wrong in the pool.
//!
//! Owns: the one error type of this crate.
//! Must not: carry prepared sentences; fields are typed and `Display` makes the sentence.
//! Invariant: every variant says whether the work was done, so that a caller never has to guess.

use std::any::Any;

/// An error of the worker pool or of a window on it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PoolError {
    /// A pool of zero threads was asked for; nothing was started.
    #[error("a worker pool needs at least one thread")]
    NoWorkers,
    /// The operating system refused a thread; no pool exists.
    #[error("could not start {num_workers} worker threads: {reason}")]
    ThreadsUnavailable {
        /// Threads that were asked for.
        num_workers: usize,
        /// What the operating system said.
        reason: String,
    },
    /// The job panicked; it has no result, and the worker goes on.
    #[error("a worker job panicked: {message}")]
    WorkerPanicked {
        /// The panic's own message, or a placeholder when it carried none.
        message: String,
    },
    /// The work was given up before its result was there.
    #[error("the work was cancelled")]
    Cancelled,
    /// The window was made before a fork: its jobs run in the parent process and never arrive here.
    #[error("the work was submitted before this process was forked and runs in the parent only")]
    LostInFork,
    /// The process is the end of a longer chain of forks than one pool can follow.
    #[error("a worker pool follows at most {limit} forks of forks")]
    TooManyForks {
        /// The longest chain of forks.
        limit: usize,
    },
}

impl PoolError {
    /// Names the panic in `payload`, as handed out by `catch_unwind`.
    pub(crate) fn from_panic(payload: &(dyn Any + Send)) -> Self {
        let message = payload
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| payload.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "panic without a message".to_owned());
        Self::WorkerPanicked { message }
    }
}
