//! Syncing of complete files while others are still being written.
//!
//! Owns: the files on their way to the disk. Must not: sync directories, or decide when the cache is complete.
//! Invariant: after `wait_all` every submitted file is durable. A wait for a slow disk can be interrupted, because the
//! syncs themselves happen on the pool.

use std::num::NonZeroUsize;
use std::sync::Arc;

use dataset_rt_pool::{CancelToken, OrderedWindow, WorkerPool};

use crate::durable::DiskFile;
use crate::error::StorageError;
use crate::interrupt::InterruptCheck;

/// Files that are being synced.
pub(super) struct Syncs {
    window: OrderedWindow<Result<(), StorageError>>,
    interrupt: InterruptCheck,
}

impl Syncs {
    pub(super) fn new(pool: &Arc<WorkerPool>, interrupt: &InterruptCheck) -> Self {
        let capacity = NonZeroUsize::new(pool.num_workers()).unwrap_or(NonZeroUsize::MIN);
        Self {
            window: OrderedWindow::new(pool, capacity, &CancelToken::new()),
            interrupt: interrupt.clone(),
        }
    }

    /// Starts syncing a complete file, first waiting for the oldest sync if there are as many as workers.
    pub(super) fn submit(&mut self, file: DiskFile) -> Result<(), StorageError> {
        if self.window.is_full() {
            self.wait_oldest()?;
        }
        self.window.submit(move || file.sync())?;
        Ok(())
    }

    /// Waits until every submitted file is durable.
    pub(super) fn wait_all(&mut self) -> Result<(), StorageError> {
        while self.wait_oldest()? {}
        Ok(())
    }

    fn wait_oldest(&mut self) -> Result<bool, StorageError> {
        match self.interrupt.take(&mut self.window)? {
            Some(outcome) => outcome.map(|()| true),
            None => Ok(false),
        }
    }
}
