//! Stored columns of a batch as Python objects, for readers without an Arrow library.
//!
//! Owns the mapping of the four column types. Must not decode: the core's table has the values. Invariant: numbers are writable memory of their own.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::convert::buffer::numbers_view;
use crate::error::CoreError;

/// A `memoryview` of `"q"`, `"d"` or `"?"`, or a list of texts.
pub(crate) fn column_values<'py>(
    py: Python<'py>,
    values: &ArrayRef,
) -> Result<Bound<'py, PyAny>, CoreError> {
    Ok(match values.data_type() {
        DataType::Int64 => {
            let numbers = values.as_primitive::<Int64Type>().values().iter();
            numbers_view(py, "q", numbers.copied().map(i64::to_ne_bytes))?
        }
        DataType::Float64 => {
            let numbers = values.as_primitive::<Float64Type>().values().iter();
            numbers_view(py, "d", numbers.copied().map(f64::to_ne_bytes))?
        }
        DataType::Boolean => {
            let flags = values.as_boolean().values().iter();
            numbers_view(py, "?", flags.map(|flag| [u8::from(flag)]))?
        }
        DataType::LargeUtf8 => {
            let texts = values.as_string::<i64>();
            let texts = (0..texts.len()).map(|place| texts.value(place));
            PyList::new(py, texts)?.into_any()
        }
        other => return Err(CoreError::internal(format_args!("a column of {other}"))),
    })
}
