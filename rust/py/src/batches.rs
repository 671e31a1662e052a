//! Iterators that hand out batches.
//!
//! Owns the crossing of one batch into Python. Must not decide where it ends. Invariant: nothing waits while it holds the GIL, a signal is seen while it waits, and a
//! batch that a signal ended is read again, whole.

use std::sync::Arc;

use dataset_rt_reader::{BatchIterator as CoreIterator, BatchSink, SampleIterator as CoreSamples};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyDict};

use crate::batch::SampleBatch;
use crate::convert::buffer::filled_buffer;
use crate::convert::integer::whole_number;
use crate::convert::state::{state_from_dict, state_to_dict};
use crate::error::CoreError;
use crate::iterator::SIGNAL_INTERVAL;
use crate::sample::SampleFactory;
use crate::shared::Shared;

/// A sink of `PayloadBuffer` objects; takes the GIL for itself, so that it can be used without.
struct BufferSink;

impl BatchSink for BufferSink {
    type Data = Py<PyByteArray>;
    type Error = CoreError;

    fn make(
        &mut self,
        bytes: usize,
        is_long: bool,
        fill: &mut (dyn FnMut(&mut [u8]) + Send),
    ) -> Result<Py<PyByteArray>, CoreError> {
        Python::attach(|py| {
            let buffer = filled_buffer(py, bytes, |out| match is_long {
                true => py.detach(|| fill(out)),
                false => fill(out),
            })?;
            Ok(buffer.unbind())
        })
    }

    fn shorten(&mut self, data: &mut Py<PyByteArray>, bytes: usize) -> Result<(), CoreError> {
        Ok(Python::attach(|py| data.bind(py).resize(bytes))?)
    }

    fn wait(samples: &mut CoreSamples) -> Result<bool, CoreError> {
        Python::attach(|py| {
            let is_there = py.detach(|| samples.wait(SIGNAL_INTERVAL))?;
            py.check_signals()?;
            Ok(is_there)
        })
    }
}

/// The draws of one claimed window in batches, read ahead within bounds.
#[pyclass(frozen, module = "dataset_rt._native")]
pub(crate) struct BatchIterator {
    core: Shared<CoreIterator>,
    factory: Arc<SampleFactory>,
}

impl BatchIterator {
    /// Wraps an iterator of the core.
    pub(crate) fn new(py: Python<'_>, core: CoreIterator) -> Self {
        let factory = SampleFactory::new(py, core.window().snapshot().caches().schema());
        Self {
            core: Shared::new(core),
            factory: Arc::new(factory),
        }
    }
}

/// The next batch of an iterator of the core.
pub(crate) fn read_batch(
    py: Python<'_>,
    core: &mut CoreIterator,
    factory: &Arc<SampleFactory>,
) -> Result<Option<SampleBatch>, CoreError> {
    let is_long = core.is_long();
    let batch = match is_long {
        true => py.detach(|| core.next_batch(&mut BufferSink)),
        false => core.next_batch(&mut BufferSink),
    };
    let caches = core.window().snapshot().caches();
    Ok(batch?.map(|batch| SampleBatch::new(batch, caches, factory, is_long)))
}

#[pymethods]
impl BatchIterator {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> Result<Option<SampleBatch>, CoreError> {
        let mut working = self.core.work(py)?;
        working.tell();
        read_batch(py, &mut working, &self.factory)
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
