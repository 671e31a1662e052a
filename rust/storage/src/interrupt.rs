//! How a long wait asks whether it is still wanted.
//!
//! Owns: the check and the rhythm in which waits make it. Must not: know what an interrupt is (a signal, another
//! thread's wish); whoever made the check does.
//! Invariant: no wait of this crate lasts longer than [`CHECK_INTERVAL`] without the check being made.

use std::sync::Arc;
use std::time::Duration;

use dataset_rt_pool::OrderedWindow;

use crate::error::StorageError;

/// Longest time between two checks of a wait.
pub const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// Answers `true` when the work is to stop. Called in the thread that waits, every [`CHECK_INTERVAL`] at least.
#[derive(Clone)]
pub struct InterruptCheck(Arc<dyn Fn() -> bool + Send + Sync>);

impl InterruptCheck {
    /// Makes a check of a function.
    pub fn new(check: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(check))
    }

    /// A check that never stops anything.
    #[must_use]
    pub fn never() -> Self {
        Self::new(|| false)
    }

    /// Makes the check.
    ///
    /// # Errors
    /// [`StorageError::Cancelled`] when the work is to stop.
    pub fn check(&self) -> Result<(), StorageError> {
        if (self.0)() {
            Err(StorageError::Cancelled)
        } else {
            Ok(())
        }
    }

    /// Takes the oldest result of `window`, making the check while it waits; `None` when nothing is in flight.
    pub(crate) fn take<T: Send + 'static>(
        &self,
        window: &mut OrderedWindow<T>,
    ) -> Result<Option<T>, StorageError> {
        while !window.is_empty() {
            if let Some(result) = window.take_timeout(CHECK_INTERVAL) {
                return Ok(Some(result?));
            }
            self.check()?;
        }
        Ok(None)
    }
}

impl std::fmt::Debug for InterruptCheck {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("InterruptCheck")
    }
}
