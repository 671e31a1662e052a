//! The Python classes that native code makes instances of.
//!
//! Owns their lookup, once per process. Must not import anything but the light modules named below. Invariant: importing the native module imports none of them;
//! the first use does.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyModule, PyType};

use crate::convert::sample_object::SampleClass;

static ERRORS: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
static RESULTS: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
static CACHED_SAMPLE: PyOnceLock<SampleClass> = PyOnceLock::new();
static PAYLOAD_BUFFER: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// `dataset_rt.errors`
pub(crate) fn errors(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    module(py, &ERRORS, "dataset_rt.errors")
}

/// `dataset_rt.results`
pub(crate) fn results(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    module(py, &RESULTS, "dataset_rt.results")
}

/// `dataset_rt.sample.CachedSample`
pub(crate) fn cached_sample(py: Python<'_>) -> PyResult<&'static SampleClass> {
    CACHED_SAMPLE.get_or_try_init(py, || {
        let class = py.import("dataset_rt.sample")?.getattr("CachedSample")?;
        SampleClass::new(class.cast_into::<PyType>()?)
    })
}

/// `dataset_rt.batch.PayloadBuffer`
pub(crate) fn payload_buffer(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    PAYLOAD_BUFFER.import(py, "dataset_rt.batch", "PayloadBuffer")
}

fn module<'py>(
    py: Python<'py>,
    cell: &'static PyOnceLock<Py<PyModule>>,
    name: &str,
) -> PyResult<&'py Bound<'py, PyModule>> {
    Ok(cell
        .get_or_try_init(py, || py.import(name).map(Bound::unbind))?
        .bind(py))
}
