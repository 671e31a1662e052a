//! Claimed windows as Python sees them: the unit of work between processes.
//!
//! Owns reads by index within a window. Must not have a cursor. Invariant: a window opened from a text reads what the one that was shared would read.

use std::sync::{Arc, Mutex, TryLockError};

use dataset_rt_reader::{ClaimedWindow, ComingUnits};
use dataset_rt_sampler::Tail;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::batch::SampleBatch;
use crate::batches::read_batch;
use crate::convert::buffer::integers_view;
use crate::convert::state::{state_from_dict, state_to_dict};
use crate::error::CoreError;
use crate::iterator::SampleIterator;
use crate::sample::SampleFactory;

/// A claimed window as a frozen view: draws by their index in it, from any process.
#[pyclass(frozen, module = "dataset_rt._native")]
pub(crate) struct Window(ClaimedWindow, Mutex<Option<ComingUnits>>);

impl Window {
    pub(crate) fn new(window: ClaimedWindow) -> Self {
        let coming = ComingUnits::of(&window);
        Self(window, Mutex::new(coming))
    }

    /// Part `index` of `count` of a window.
    pub(crate) fn part(
        window: &ClaimedWindow,
        index: u64,
        count: u64,
        drop_uneven: bool,
        pad: bool,
    ) -> Result<Self, CoreError> {
        let tail = Tail::of_switches(drop_uneven, pad)?;
        Ok(Self::new(window.part(index, count, tail)?))
    }

    /// Calls `take` with each sample of the draws `start..stop` and its position.
    fn for_each<'py>(
        &self,
        py: Python<'py>,
        start: u64,
        stop: u64,
        mut take: impl FnMut(Bound<'py, PyAny>, u64),
    ) -> Result<(), CoreError> {
        let samples = SampleIterator::over(py, self.0.iterate(start, stop)?);
        while let Some((sample, position)) = samples.next_sample(py)? {
            take(sample, position);
        }
        Ok(())
    }
}

#[pymethods]
impl Window {
    fn __len__(&self) -> Result<usize, CoreError> {
        usize::try_from(self.0.draws()).map_err(CoreError::internal)
    }

    fn __iter__(&self, py: Python<'_>) -> SampleIterator {
        SampleIterator::new(py, self.0.clone())
    }

    fn samples<'py>(
        &self,
        py: Python<'py>,
        start: u64,
        stop: u64,
    ) -> Result<Vec<Bound<'py, PyAny>>, CoreError> {
        let mut samples = Vec::new();
        self.for_each(py, start, stop, |sample, _| samples.push(sample))?;
        Ok(samples)
    }

    fn seeded_samples<'py>(
        &self,
        py: Python<'py>,
        start: u64,
        stop: u64,
    ) -> Result<Vec<(Bound<'py, PyAny>, u64)>, CoreError> {
        let mut samples = Vec::new();
        let stream = self.0.snapshot().stream();
        self.for_each(py, start, stop, |sample, position| {
            samples.push((sample, stream.draw_seed(position)))
        })?;
        Ok(samples)
    }

    fn batch(
        &self,
        py: Python<'_>,
        start: u64,
        stop: u64,
    ) -> Result<Option<SampleBatch>, CoreError> {
        let factory = SampleFactory::new(py, self.0.snapshot().caches().schema());
        let mut draws = self.0.iterate_whole(start, stop)?;
        read_batch(py, &mut draws, &Arc::new(factory))
    }

    #[getter]
    fn fetches(&self) -> bool {
        self.0.snapshot().caches().store().is_some()
    }

    fn expect_units(&self, start: u64, span: u64, stride: u64) -> Result<(), CoreError> {
        let mut coming = match self.1.try_lock() {
            Ok(coming) => coming,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            // Another thread announces, here or in the process this one was forked from.
            Err(TryLockError::WouldBlock) => return Ok(()),
        };
        match &mut *coming {
            Some(coming) => Ok(coming.advance(start, span, stride)?),
            None => Ok(()),
        }
    }

    fn payload_bytes(&self, start: u64, stop: u64) -> Result<usize, CoreError> {
        Ok(self.0.iterate_whole(start, stop)?.expected_bytes()?)
    }

    fn seeds_of<'py>(&self, py: Python<'py>, batch: &SampleBatch) -> PyResult<Bound<'py, PyAny>> {
        let stream = self.0.snapshot().stream();
        let positions = batch.draws().iter().map(|draw| draw.position);
        integers_view(
            py,
            "Q",
            positions.map(|position| stream.draw_seed(position)),
        )
    }

    fn following(&self, windows: u64) -> Result<Self, CoreError> {
        Ok(Self::new(self.0.following(windows)?))
    }

    fn resumed(&self, state: &Bound<'_, PyDict>) -> Result<Self, CoreError> {
        Ok(Self::new(self.0.resumed(&state_from_dict(state)?)?))
    }

    #[pyo3(signature = (delivered))]
    fn state_dict<'py>(
        &self,
        py: Python<'py>,
        delivered: Option<u64>,
    ) -> Result<Bound<'py, PyDict>, CoreError> {
        Ok(state_to_dict(py, &self.0.state(delivered)?)?)
    }

    fn share(&self, py: Python<'_>) -> Result<String, CoreError> {
        Ok(py.detach(|| self.0.share())?)
    }
}
