//! Syncing of files while more is being written.
//!
//! Owns: the files on their way to the disk. Must not: sync directories, or decide when the cache is complete.
//! Invariant: after `wait_all` every submitted file is durable as it was when it was submitted. A wait for a slow disk can be interrupted, because the
//! syncs themselves happen on the pool.

use std::num::NonZeroUsize;
use std::sync::Arc;

use dataset_rt_pool::{CancelToken, OrderedWindow, WorkerPool};

use crate::durable::DiskFile;
use crate::error::StorageError;
use crate::interrupt::InterruptCheck;

/// Files that are being synced.
pub(super) struct Syncs {
    /// `None` where the caller syncs itself, because it is a job of the pool.
    window: Option<OrderedWindow<Result<(), StorageError>>>,
    interrupt: InterruptCheck,
}

impl Syncs {
    pub(super) fn new(pool: &Arc<WorkerPool>, interrupt: &InterruptCheck) -> Self {
        let capacity = NonZeroUsize::new(pool.num_workers()).unwrap_or(NonZeroUsize::MIN);
        Self {
            window: Some(OrderedWindow::new(pool, capacity, &CancelToken::new())),
            interrupt: interrupt.clone(),
        }
    }

    /// From now on syncs where it is called, asking `interrupt`; nothing may be in flight.
    pub(super) fn sync_here(&mut self, interrupt: &InterruptCheck) {
        self.window = None;
        self.interrupt = interrupt.clone();
    }

    /// Starts syncing what is in a file by now, first waiting for the oldest sync if there are as many as workers.
    pub(super) fn submit(&mut self, file: DiskFile) -> Result<(), StorageError> {
        let Some(window) = &mut self.window else {
            self.interrupt.check()?;
            return file.sync();
        };
        if window.is_full()
            && let Some(outcome) = self.interrupt.take(window)?
        {
            outcome?;
        }
        window.submit(move || file.sync())?;
        Ok(())
    }

    /// Waits until every submitted file is durable.
    pub(super) fn wait_all(&mut self) -> Result<(), StorageError> {
        let Some(window) = &mut self.window else {
            return Ok(());
        };
        while let Some(outcome) = self.interrupt.take(window)? {
            outcome?;
        }
        Ok(())
    }
}
