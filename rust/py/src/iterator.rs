//! Iterators over a claimed window.
//!
//! Owns the crossing of one draw into Python: planning with the GIL, waiting without it. Must not decide what is drawn. Invariant: nothing waits while it holds the
//! GIL, and a signal is seen while it waits.

use std::time::Duration;

use dataset_rt_reader::{ClaimedWindow, Readiness, SampleIterator as CoreIterator};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::integer::whole_number;
use crate::convert::state::{state_from_dict, state_to_dict};
use crate::error::CoreError;
use crate::sample::{BytesSink, SampleFactory};
use crate::shared::{Shared, Working};

/// Longest wait between two looks for signals.
pub(crate) const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);

/// The samples of one claimed window, in draw order, prefetched within bounds.
#[pyclass(frozen, module = "dataset_rt._native")]
pub(crate) struct SampleIterator {
    core: Shared<CoreIterator>,
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
            core: Shared::new(core),
            factory,
        }
    }

    /// The next sample with its position; `None` at the end.
    pub(crate) fn next_sample<'py>(
        &self,
        py: Python<'py>,
    ) -> Result<Option<(Bound<'py, PyAny>, u64)>, CoreError> {
        let mut core = self.core.work(py)?;
        loop {
            match core.prepare()? {
                Readiness::Ended => return Ok(None),
                Readiness::Waiting => wait(py, &mut core)?,
                Readiness::Ready => {}
            }
            match core.deliver(&mut BytesSink(py)) {
                None => {}
                Some(Err(error)) => return Err(error.into()),
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
}

/// Waits for the block that comes next, with the GIL released, until it is there or a signal says otherwise.
fn wait(py: Python<'_>, core: &mut Working<'_, CoreIterator>) -> Result<(), CoreError> {
    core.tell();
    let core: &mut CoreIterator = core;
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
        self.core
            .ask(py, CoreIterator::remaining, |told| told.remaining)
    }

    #[getter]
    fn position(&self, py: Python<'_>) -> Result<u64, CoreError> {
        self.core
            .ask(py, CoreIterator::position, |told| told.position)
    }

    fn skip(&self, py: Python<'_>, draws: &Bound<'_, PyAny>) -> Result<(), CoreError> {
        let draws = whole_number("n", draws)?;
        self.core.work(py)?.skip(draws);
        Ok(())
    }

    fn state_dict<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>, CoreError> {
        let state = self.core.ask(py, CoreIterator::state, |told| told.state)?;
        Ok(state_to_dict(py, &state)?)
    }

    fn load_state_dict(&self, py: Python<'_>, state: &Bound<'_, PyDict>) -> Result<(), CoreError> {
        let state = state_from_dict(state)?;
        Ok(self.core.work(py)?.load_state(&state)?)
    }
}
