//! Outcomes of sources as the classes of `dataset_rt.results`.
//!
//! Owns which fields they get. Must not judge outcomes. Invariant: an error value carries the exception itself.

use std::path::PathBuf;

use dataset_rt_format::Origin;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::classes;
use crate::write::Written;

/// `CacheWriteSuccess` of a cache that is there.
pub(crate) fn success<'py>(
    py: Python<'py>,
    name: &str,
    written: &Written,
) -> PyResult<Bound<'py, PyAny>> {
    let (path, status, samples, origin) = match written {
        Written::Built(report) => (
            &report.path,
            "built",
            report.sample_count,
            Some(&report.origin),
        ),
        Written::Found(found) => (
            &found.path,
            "reused",
            found.sample_count,
            found.origin.as_ref(),
        ),
    };
    let fields = PyDict::new(py);
    fields.set_item("status", status)?;
    fields.set_item("row_count", samples)?;
    fields.set_item(
        "created_at",
        origin.map_or_else(String::new, |origin: &Origin| origin.created_at.to_string()),
    )?;
    fields.set_item(
        "writer_version",
        origin.map_or("", |origin| origin.writer_version.as_str()),
    )?;
    classes::results(py)?
        .getattr("CacheWriteSuccess")?
        .call((name, path), Some(&fields))
}

/// The cache of a value that says there is one.
pub(crate) fn path_of_success(result: &Bound<'_, PyAny>) -> PyResult<Option<PathBuf>> {
    let class = classes::results(result.py())?.getattr("CacheWriteSuccess")?;
    if !result.is_instance(&class)? {
        return Ok(None);
    }
    result.getattr("path")?.extract().map(Some)
}

/// `CacheWriteError` of an exception.
pub(crate) fn failure<'py>(
    py: Python<'py>,
    name: &str,
    error: &PyErr,
) -> PyResult<Bound<'py, PyAny>> {
    // Taken as a whole, the exception brings its traceback along.
    let value = error.clone_ref(py).into_value(py).into_bound(py);
    classes::results(py)?
        .getattr("CacheWriteError")?
        .call1((name, message_of(&value)?, value))
}

/// What an exception says; the name of its class before it, if that is not one of ours.
///
/// # Errors
/// Those of Python.
pub(crate) fn message_of(error: &Bound<'_, PyAny>) -> PyResult<String> {
    let is_ours = error.is_instance(&classes::errors(error.py())?.getattr("DatasetError")?)?;
    let text = error
        .str()
        .map_or_else(|_| String::new(), |text| text.to_string());
    Ok(match (is_ours, text.is_empty()) {
        (true, _) => text,
        (false, true) => error.get_type().name()?.to_string(),
        (false, false) => format!("{}: {text}", error.get_type().name()?),
    })
}
