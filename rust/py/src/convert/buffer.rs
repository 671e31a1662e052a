//! Buffers that batches are read into.
//!
//! Owns the making of one and the short time in which native code writes in it. Must not know what is written. Invariant: an object that Python can reach is never
//! written to here.

#![expect(
    unsafe_code,
    reason = "a subclass of bytearray has no safe way to be filled in place"
)]

use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyMemoryView};

use crate::classes;

/// A `PayloadBuffer` of `bytes` bytes, as `fill` leaves them; `fill` may release the GIL.
///
/// # Errors
/// `MemoryError`.
pub(crate) fn filled_buffer<'py>(
    py: Python<'py>,
    bytes: usize,
    fill: impl FnOnce(&mut [u8]),
) -> PyResult<Bound<'py, PyByteArray>> {
    let buffer = classes::payload_buffer(py)?
        .call1((bytes,))?
        .cast_into::<PyByteArray>()?;
    // SAFETY: the object was made on the line above by a class of ours that keeps no reference, so `buffer` is the only one: nobody can read, write or resize it while
    // the slice lives, with the GIL or without. The slice ends before the object is handed out.
    fill(unsafe { buffer.as_bytes_mut() });
    Ok(buffer)
}

/// A writable `memoryview` of numbers, over memory of its own, from the bytes of each as the host has them; `format` is that of Python's `struct`.
pub(crate) fn numbers_view<'py, const WIDTH: usize>(
    py: Python<'py>,
    format: &str,
    values: impl ExactSizeIterator<Item = [u8; WIDTH]>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut bytes = Vec::with_capacity(values.len().saturating_mul(WIDTH));
    for value in values {
        bytes.extend_from_slice(&value);
    }
    PyMemoryView::from(&PyByteArray::new(py, &bytes))?.call_method1("cast", (format,))
}

/// The same for whole numbers: `"q"` or `"Q"`.
pub(crate) fn integers_view<'py>(
    py: Python<'py>,
    format: &str,
    values: impl ExactSizeIterator<Item = u64>,
) -> PyResult<Bound<'py, PyAny>> {
    numbers_view(py, format, values.map(u64::to_ne_bytes))
}
