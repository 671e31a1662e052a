//! Payload bytes out of Python objects.
//!
//! Owns how an object with the buffer protocol becomes bytes that outlive the GIL. Must not interpret them. Invariant: what the core sees can't change under it:
//! `bytes` are immutable and borrowed, everything else is copied once, in C order.

use dataset_rt_format::{SampleId, check_payload_bytes};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyMemoryView};

use super::metadata::type_name;
use crate::error::CoreError;

/// The bytes of a payload, which need no GIL to be read.
pub(crate) struct PayloadBytes(PyBackedBytes);

impl PayloadBytes {
    /// Takes any object with the buffer protocol.
    ///
    /// # Errors
    /// `TypeError` names the type of anything else: neither integers nor lists nor text are bytes. What is longer than
    /// a record can be is refused before it is copied.
    pub(crate) fn extract(payload: &Bound<'_, PyAny>, sample: SampleId) -> PyResult<Self> {
        if let Ok(bytes) = payload.cast::<PyBytes>() {
            return Ok(Self(bytes.clone().into()));
        }
        let view = PyMemoryView::from(payload).map_err(|_| {
            PyTypeError::new_err(format!(
                "data has to be bytes or another object with the buffer protocol, not {}",
                type_name(payload)
            ))
        })?;
        if !view
            .getattr(pyo3::intern!(payload.py(), "c_contiguous"))?
            .extract::<bool>()?
        {
            return Err(PyTypeError::new_err(format!(
                "data of type {} is not contiguous in C order; make a contiguous copy first",
                type_name(payload)
            )));
        }
        let length = view
            .getattr(pyo3::intern!(payload.py(), "nbytes"))?
            .extract()?;
        check_payload_bytes(sample, length).map_err(CoreError::from)?;
        let bytes = view
            .call_method0(pyo3::intern!(payload.py(), "tobytes"))?
            .cast_into::<PyBytes>()?;
        Ok(Self(bytes.into()))
    }
}

impl AsRef<[u8]> for PayloadBytes {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}
