//! What a write in several processes asks the core, apart from writing.
//!
//! Owns its functions and the class that shows progress for others. Must not start or know processes. Invariant: the rules are those of a write in one process,
//! because they are the same code.

use std::path::PathBuf;
use std::time::Duration;

use dataset_rt_storage::durable::Disk;
use pyo3::prelude::*;

use crate::error::CoreError;
use crate::profile::{Profile, Stages};
use crate::progress::Progress;

/// Removes what dead writers left below `base`, without waiting for living ones.
#[pyfunction]
#[pyo3(signature = (base, /))]
pub(crate) fn sweep_temporaries(py: Python<'_>, base: PathBuf) {
    py.detach(|| dataset_rt_storage::sweep_temporaries(&Disk::new(), &base));
}

/// Writes the profile of a call whose sources were each written by a call of its own.
#[pyfunction]
#[pyo3(signature = (path, sources, *, outcome, seconds))]
pub(crate) fn write_profile(
    path: PathBuf,
    sources: Vec<(String, String, Option<String>)>,
    outcome: &str,
    seconds: f64,
) -> Result<(), CoreError> {
    let wall = Duration::try_from_secs_f64(seconds).map_err(CoreError::internal)?;
    let mut profile = Profile::new(outcome, wall);
    for (name, outcome, text) in sources {
        let stages = match text {
            Some(text) => Stages::total_of(&text)?,
            None => Stages::default(),
        };
        profile.add(name, &outcome, stages);
    }
    profile.write(&path)
}

/// Progress of sources that are written elsewhere.
#[pyclass(module = "dataset_rt._native")]
pub(crate) struct WriteProgress(Progress);

#[pymethods]
impl WriteProgress {
    #[new]
    fn new(show: bool, sources: usize, callback: Option<Py<PyAny>>) -> Self {
        Self(Progress::new(show, callback, sources))
    }

    fn begin(&mut self, name: &str) {
        self.0.begin_source(name);
    }

    fn count(
        &mut self,
        py: Python<'_>,
        name: &str,
        samples: u64,
        payload_bytes: u64,
    ) -> PyResult<()> {
        self.0.committed(py, name, samples, payload_bytes)
    }

    fn end(
        &mut self,
        py: Python<'_>,
        name: &str,
        outcome: &str,
        samples: u64,
        payload_bytes: u64,
    ) -> PyResult<()> {
        self.0.end_source(py, name, outcome, samples, payload_bytes)
    }

    fn finish(&self) {
        self.0.finish();
    }
}
