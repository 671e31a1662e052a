//! One cache source as Python holds it.
//!
//! Owns how names, versions and rows are taken from a source, and the time that takes. Must not check rows: the core does. Invariant: what a source raises travels as
//! the very exception it raised.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use dataset_rt_format::SampleId;
use pyo3::exceptions::{PyAttributeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyIterator, PyString, PyTuple};

use crate::convert::bytes::PayloadBytes;
use crate::convert::metadata::{RowFields, type_name};
use crate::error::CoreError;

/// The name of a source, or the label it gets when its name can't be read, and why it can't.
pub(crate) type SourceName = Result<String, (String, PyErr)>;

/// The names of all sources of a call.
///
/// # Errors
/// `InvalidConfigError` when two sources share a name.
pub(crate) fn source_names(sources: &[Bound<'_, PyAny>]) -> Result<Vec<SourceName>, CoreError> {
    let names: Vec<SourceName> = sources
        .iter()
        .enumerate()
        .map(|(number, source)| source_name(source, number))
        .collect();
    let mut seen = HashSet::new();
    for name in names.iter().flatten() {
        if !seen.insert(name.as_str()) {
            return Err(CoreError::option(
                "name",
                format!("{name:?} for two sources"),
                "a name of its own for every source",
            ));
        }
    }
    Ok(names)
}

fn source_name(source: &Bound<'_, PyAny>, number: usize) -> SourceName {
    let label = || format!("source[{number}]");
    let name = source.getattr("name").map_err(|error| {
        let is_property = source.get_type().hasattr("name").unwrap_or(true);
        let error = match !is_property && error.is_instance_of::<PyAttributeError>(source.py()) {
            true => PyAttributeError::new_err(format!(
                "{} has no name: a source is an object with a name that yields CacheInput when it is iterated over",
                type_name(source)
            )),
            false => error,
        };
        (label(), error)
    })?;
    let Ok(text) = name.cast::<PyString>() else {
        return Err((
            label(),
            PyTypeError::new_err(format!(
                "a source's name has to be text, not {}",
                type_name(&name)
            )),
        ));
    };
    text.to_str()
        .map(str::to_owned)
        .map_err(|error| (label(), error))
}

/// The version of a source; `None` where it has none.
pub(crate) fn source_version(source: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    let Some(version) = source.getattr_opt("version")? else {
        return Ok(None);
    };
    if version.is_none() {
        return Ok(None);
    }
    match version.cast::<PyString>() {
        Ok(text) => text.to_str().map(|text| Some(text.to_owned())),
        Err(_) => Err(PyTypeError::new_err(format!(
            "a source's version has to be text or None, not {}",
            type_name(&version)
        ))),
    }
}

/// Time spent in Python for one source.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SourceTimes {
    /// In the source's iterator.
    pub(crate) next: Duration,
    /// Taking payload and metadata out of what it yielded.
    pub(crate) extract: Duration,
}

/// One row on its way to the core.
pub(crate) struct SourceRow<'py> {
    pub(crate) payload: PayloadBytes,
    pub(crate) fields: RowFields<'py>,
}

/// The rows of a source, taken one by one.
pub(crate) struct SourceRows<'py> {
    rows: Bound<'py, PyIterator>,
    taken: u64,
    is_timed: bool,
    pub(crate) times: SourceTimes,
}

impl<'py> SourceRows<'py> {
    /// Asks the source for its iterator; times are taken where they are wanted.
    pub(crate) fn new(source: &Bound<'py, PyAny>, is_timed: bool) -> PyResult<Self> {
        Ok(Self {
            rows: source.try_iter()?,
            taken: 0,
            is_timed,
            times: SourceTimes::default(),
        })
    }

    /// The next row; `None` at the end.
    ///
    /// # Errors
    /// What the iterator raises, and `TypeError` for an item, payload or mapping of a wrong kind.
    pub(crate) fn next_row(&mut self) -> PyResult<Option<SourceRow<'py>>> {
        let sample = SampleId::new(self.taken);
        self.taken += 1;
        if !self.is_timed {
            return self
                .rows
                .next()
                .transpose()?
                .map(|item| extract_row(&item, sample))
                .transpose();
        }
        let before = Instant::now();
        let item = self.rows.next().transpose()?;
        let taken = Instant::now();
        self.times.next += taken - before;
        let row = item.map(|item| extract_row(&item, sample)).transpose();
        self.times.extract += taken.elapsed();
        row
    }
}

fn extract_row<'py>(item: &Bound<'py, PyAny>, sample: SampleId) -> PyResult<SourceRow<'py>> {
    let (payload, metadata) = match item.cast::<PyTuple>() {
        Ok(pair) if pair.len() == 2 => (pair.get_item(0)?, pair.get_item(1)?),
        _ => match (item.getattr_opt("data")?, item.getattr_opt("metadata")?) {
            (Some(payload), Some(metadata)) => (payload, metadata),
            _ => {
                return Err(PyTypeError::new_err(format!(
                    "a source has to yield CacheInput(data, metadata), not {}",
                    type_name(item)
                )));
            }
        },
    };
    Ok(SourceRow {
        payload: PayloadBytes::extract(&payload, sample)?,
        fields: RowFields::extract(&metadata)?,
    })
}
