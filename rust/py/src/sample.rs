//! `CachedSample` objects from delivered draws.
//!
//! Owns how payload, metadata and ids become one Python object. Must not read records. Invariant: payload bytes are copied once, into the object that is handed out;
//! metadata keys are one interned string each for the life of an iterator.

use dataset_rt_format::{CacheId, MetadataSchema, SampleId};
use dataset_rt_reader::{CacheSet, ItemSink, PayloadSink, ReaderError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};

use crate::classes;
use crate::convert::metadata::python_value;
use crate::error::CoreError;

/// Payloads from this many bytes on are copied with the GIL released: the copy then takes longer than the hand-over.
const DETACHED_COPY_BYTES: usize = 1024 * 1024;

/// A sink of Python bytes objects.
pub(crate) struct BytesSink<'py>(pub(crate) Python<'py>);

impl<'py> PayloadSink for BytesSink<'py> {
    type Payload = Bound<'py, PyBytes>;
    type Error = PyErr;

    fn copy(&mut self, bytes: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        if bytes.len() < DETACHED_COPY_BYTES {
            return Ok(PyBytes::new(self.0, bytes));
        }
        PyBytes::new_with(self.0, bytes.len(), |target: &mut [u8]| {
            self.0.detach(|| target.copy_from_slice(bytes));
            Ok(())
        })
    }

    fn bytes<'a>(&'a self, payload: &'a Bound<'py, PyBytes>) -> &'a [u8] {
        payload.as_bytes()
    }
}

impl ItemSink for BytesSink<'_> {
    fn away(&mut self, work: &mut (dyn FnMut() + Send)) -> PyResult<()> {
        self.0.detach(work);
        self.0.check_signals()
    }
}

/// Makes samples of one dataset.
pub(crate) struct SampleFactory {
    keys: Vec<Py<PyString>>,
}

impl SampleFactory {
    /// A factory for caches with these columns.
    pub(crate) fn new(py: Python<'_>, schema: &MetadataSchema) -> Self {
        let keys = schema
            .columns()
            .iter()
            .map(|column| PyString::intern(py, &column.name).unbind());
        Self {
            keys: keys.collect(),
        }
    }

    /// The object for a sample with this payload.
    ///
    /// # Errors
    /// `CorruptCacheError` when a metadata value can't be read.
    pub(crate) fn make<'py>(
        &self,
        caches: &CacheSet,
        cache: CacheId,
        sample: SampleId,
        payload: Bound<'py, PyBytes>,
    ) -> Result<Bound<'py, PyAny>, CoreError> {
        let py = payload.py();
        let metadata = self.metadata(py, caches, cache, sample)?;
        let Ok(cache) = cache.get().into_pyobject(py);
        let Ok(sample) = sample.get().into_pyobject(py);
        let fields = [
            payload.into_any(),
            metadata.into_any(),
            cache.into_any(),
            sample.into_any(),
        ];
        Ok(classes::cached_sample(py)?.instance(py, fields)?)
    }

    fn metadata<'py>(
        &self,
        py: Python<'py>,
        caches: &CacheSet,
        cache: CacheId,
        sample: SampleId,
    ) -> Result<Bound<'py, PyDict>, CoreError> {
        let opened = caches
            .get(cache)
            .ok_or(ReaderError::NoSuchSample { cache, sample })?;
        let in_cache = |source| ReaderError::Cache { cache, source };
        let row = opened.metadata_row(sample).map_err(in_cache)?;
        let metadata = PyDict::new(py);
        for (column, key) in self.keys.iter().enumerate() {
            let value = row.value(column).map_err(in_cache)?;
            metadata.set_item(key.bind(py), python_value(py, &value)?)?;
        }
        Ok(metadata)
    }
}
