//! Counts of a write for whoever watches it from another process.
//!
//! Owns when they are told. Must not show anything. Invariant: while rows come in or the core waits, the watcher hears something every [`INTERVAL`] or so; it hears
//! nothing while the source is silent.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyException;
use pyo3::prelude::*;

/// Least time between two calls, except for the last one of a source.
const INTERVAL: Duration = Duration::from_millis(100);

/// A watcher, called with samples and payload bytes that are committed.
pub(crate) struct Report {
    callback: Py<PyAny>,
    told: Mutex<Told>,
}

#[derive(Clone, Copy)]
struct Told {
    at: Instant,
    samples: u64,
    bytes: u64,
}

impl Report {
    /// A watcher that has heard nothing yet.
    pub(crate) fn new(callback: Py<PyAny>) -> Self {
        let told = Told {
            at: Instant::now(),
            samples: 0,
            bytes: 0,
        };
        Self {
            callback,
            told: Mutex::new(told),
        }
    }

    /// Tells counts if it is time to, or if they are the last ones.
    ///
    /// # Errors
    /// What the watcher raises, if it is no `Exception`.
    pub(crate) fn tell(
        &self,
        py: Python<'_>,
        samples: u64,
        bytes: u64,
        is_last: bool,
    ) -> PyResult<()> {
        let is_due = {
            let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
            let is_due = is_last || told.at.elapsed() >= INTERVAL;
            if is_due {
                let at = Instant::now();
                *told = Told { at, samples, bytes };
            }
            is_due
        };
        if is_due {
            unless_signal(py, self.callback.call1(py, (samples, bytes)))
        } else {
            Ok(())
        }
    }

    /// Tells the same counts again if it is time to: a wait of the core is no silence.
    ///
    /// # Errors
    /// As [`tell`](Self::tell).
    pub(crate) fn repeat(&self, py: Python<'_>) -> PyResult<()> {
        let told = *self.told.lock().unwrap_or_else(PoisonError::into_inner);
        self.tell(py, told.samples, told.bytes, false)
    }
}

/// What came of calling what shows progress: an `Exception` is dropped, a signal that arrived in it is raised.
pub(crate) fn unless_signal<T>(py: Python<'_>, called: PyResult<T>) -> PyResult<()> {
    match called {
        Err(error) if !error.is_instance_of::<PyException>(py) => Err(error),
        _ => Ok(()),
    }
}
