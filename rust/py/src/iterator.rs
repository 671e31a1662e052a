//! Iterators over a claimed window.
//!
//! Owns the crossing of one draw into Python: planning with the GIL, waiting without it. Must not decide what is drawn. Invariant: nothing waits while it holds the
//! GIL, and a signal is seen while it waits.

use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::Duration;

use dataset_rt_reader::{ClaimedWindow, Readiness, SampleIterator as CoreIterator, Undelivered};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::integer::whole_number;
use crate::convert::state::{state_from_dict, state_to_dict};
use crate::error::CoreError;
use crate::sample::{BytesSink, SampleFactory};

/// Longest wait between two looks for signals.
pub(crate) const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);

/// The samples of one claimed window, in draw order, prefetched within bounds.
#[pyclass(frozen, module = "dataset_rt._native")]
pub(crate) struct SampleIterator {
    core: Mutex<CoreIterator>,
    factory: SampleFactory,
}

impl SampleIterator {
    /// Iterates over a whole window.
    pub(crate) fn new(py: Python<'_>, window: ClaimedWindow) -> Self {
        Self::over(py, CoreIterator::new(window))
    }

    /// Wraps an iterator of the core.
    pub(crate) fn over(py: Python<'_>, core: CoreIterator) -> Self {
        let factory = SampleFactory::new(py, core.window().snapshot().caches().schema());
        Self {
            core: Mutex::new(core),
            factory,
        }
    }

    /// The next sample with its position; `None` at the end.
    pub(crate) fn next_sample<'py>(
        &self,
        py: Python<'py>,
    ) -> Result<Option<(Bound<'py, PyAny>, u64)>, CoreError> {
        let mut core = self.lock(py)?;
        loop {
            match core.prepare()? {
                Readiness::Ended => return Ok(None),
                Readiness::Waiting => wait(py, &mut core)?,
                Readiness::Ready => {}
            }
            match core.deliver(&mut BytesSink(py)) {
                None => {}
                Some(Err(Undelivered::Read(error))) => return Err(error.into()),
                Some(Err(Undelivered::Sink(error))) => return Err(error.into()),
                Some(Ok(delivered)) => {
                    let draw = delivered.draw;
                    let caches = core.window().snapshot().caches();
                    let sample =
                        self.factory
                            .make(caches, draw.cache, draw.sample, delivered.payload)?;
                    return Ok(Some((sample, draw.position)));
                }
            }
        }
    }

    fn lock(&self, py: Python<'_>) -> Result<MutexGuard<'_, CoreIterator>, CoreError> {
        lock(py, &self.core)
    }
}

/// An iterator of the core; where another thread works in it, this one waits without the GIL.
pub(crate) fn lock<'a, T>(
    py: Python<'_>,
    core: &'a Mutex<T>,
) -> Result<MutexGuard<'a, T>, CoreError> {
    loop {
        match core.try_lock() {
            Ok(core) => return Ok(core),
            Err(TryLockError::Poisoned(poisoned)) => return Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => {
                py.check_signals()?;
                py.detach(|| std::thread::sleep(Duration::from_millis(1)));
            }
        }
    }
}

/// Waits for the block that comes next, with the GIL released, until it is there or a signal says otherwise.
fn wait(py: Python<'_>, core: &mut CoreIterator) -> Result<(), CoreError> {
    while !py.detach(|| core.wait(SIGNAL_INTERVAL))? {
        py.check_signals()?;
    }
    Ok(())
}

#[pymethods]
impl SampleIterator {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> Result<Option<Bound<'py, PyAny>>, CoreError> {
        Ok(self.next_sample(py)?.map(|(sample, _)| sample))
    }

    fn __length_hint__(&self, py: Python<'_>) -> Result<u64, CoreError> {
        Ok(self.lock(py)?.remaining())
    }

    #[getter]
    fn position(&self, py: Python<'_>) -> Result<u64, CoreError> {
        Ok(self.lock(py)?.position())
    }

    fn skip(&self, py: Python<'_>, draws: &Bound<'_, PyAny>) -> Result<(), CoreError> {
        let draws = whole_number("n", draws)?;
        self.lock(py)?.skip(draws);
        Ok(())
    }

    fn state_dict<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>, CoreError> {
        Ok(state_to_dict(py, &self.lock(py)?.state())?)
    }

    fn load_state_dict(&self, py: Python<'_>, state: &Bound<'_, PyDict>) -> Result<(), CoreError> {
        Ok(self.lock(py)?.load_state(&state_from_dict(state)?)?)
    }
}
