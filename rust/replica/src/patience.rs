//! Waiting for the pool while the caller may lose patience.
//!
//! Owns how often that is asked. Must not know what is waited for. Invariant: nobody waits longer than one interval after an interrupt.

use dataset_rt_pool::OrderedWindow;
use dataset_rt_storage::{CHECK_INTERVAL, InterruptCheck, StorageError};

/// The oldest result of a window that is not empty.
pub(crate) fn take<T: Send + 'static>(
    interrupt: &InterruptCheck,
    window: &mut OrderedWindow<T>,
) -> Result<T, StorageError> {
    loop {
        if let Some(result) = window.take_timeout(CHECK_INTERVAL) {
            return Ok(result?);
        }
        interrupt.check()?;
    }
}
