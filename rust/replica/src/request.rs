//! One run of records on its way.
//!
//! Owns who waits for it and what became of it. Must not fetch. Invariant: it ends exactly once, however its thread ends, and everybody who waits hears of it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dataset_rt_pool::CancelToken;

use crate::error::ReplicaError;
use crate::plan::Run;
use crate::replica::Replica;

/// What became of a request.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    /// Its records were written.
    Filled,
    /// They were not.
    Failed(Arc<ReplicaError>),
    /// Nobody wanted them any more when its turn came.
    Dropped,
}

/// A run of records that is to be fetched, or is being fetched.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) replica: Arc<Replica>,
    pub(crate) run: Run,
    /// The reader that will need it; `None` where somebody waits already.
    interest: Option<CancelToken>,
    /// Whether somebody waits.
    is_awaited: AtomicBool,
    outcome: Mutex<Option<Outcome>>,
    ended: Condvar,
}

impl Request {
    pub(crate) fn new(replica: &Arc<Replica>, run: Run, interest: Option<CancelToken>) -> Self {
        Self {
            replica: Arc::clone(replica),
            run,
            is_awaited: AtomicBool::new(interest.is_none()),
            interest,
            outcome: Mutex::new(None),
            ended: Condvar::new(),
        }
    }

    /// Notes that somebody waits; says whether that is new.
    pub(crate) fn demand(&self) -> bool {
        !self.is_awaited.swap(true, Ordering::AcqRel)
    }

    /// Whether anybody wants it still.
    pub(crate) fn is_wanted(&self) -> bool {
        self.is_awaited.load(Ordering::Acquire)
            || self
                .interest
                .as_ref()
                .is_some_and(|interest| !interest.is_cancelled())
    }

    /// Says what became of it; the first word counts.
    pub(crate) fn end(&self, outcome: Outcome) {
        self.lock().get_or_insert(outcome);
        self.ended.notify_all();
    }

    /// What became of it; `None` if that is not known after `timeout`.
    pub(crate) fn wait(&self, timeout: Duration) -> Option<Outcome> {
        let outcome = self.lock();
        let waited = self
            .ended
            .wait_timeout_while(outcome, timeout, |outcome| outcome.is_none());
        let (outcome, _) = waited.unwrap_or_else(PoisonError::into_inner);
        outcome.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Option<Outcome>> {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
