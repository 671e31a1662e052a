//! Metadata values between Python mappings and the core.
//!
//! Owns which Python object stands for which metadata type. Must not check rows against each other: the core does. Invariant: a bool is never taken for an
//! integer, and nothing is rounded or cut: what does not fit is handed to the core as what it is, which refuses it by row and column.

use std::borrow::Cow;

use dataset_rt_format::{FormatError, MetadataSchema, MetadataValueRef, RowIndex};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyMapping, PyString};

use crate::error::CoreError;

/// The fields of one row as Python holds them; kept alive while the core looks at them.
#[derive(Default)]
pub(crate) struct RowFields<'py> {
    fields: Vec<(Bound<'py, PyString>, Bound<'py, PyAny>)>,
}

impl<'py> RowFields<'py> {
    /// Takes the items of any mapping with text keys.
    ///
    /// # Errors
    /// `TypeError` when it is no mapping or a key is no text; what the mapping itself raises.
    pub(crate) fn extract(metadata: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(dict) = metadata.cast_exact::<PyDict>() {
            let fields = dict.iter().map(|(key, value)| Ok((text_key(key)?, value)));
            return Ok(Self {
                fields: fields.collect::<PyResult<_>>()?,
            });
        }
        let mapping = metadata.cast::<PyMapping>().map_err(|_| {
            PyTypeError::new_err(format!(
                "metadata has to be a mapping, not {}",
                type_name(metadata)
            ))
        })?;
        let mut fields = Vec::with_capacity(mapping.len()?);
        for item in mapping.items()?.iter() {
            let (key, value) = item.extract::<(Bound<'py, PyAny>, Bound<'py, PyAny>)>()?;
            fields.push((text_key(key)?, value));
        }
        Ok(Self { fields })
    }

    /// The same fields as the core takes them; `schema` is that of the rows before.
    ///
    /// # Errors
    /// [`FormatError::UnsupportedValue`] names row, column, the type of the rows before, and what was found.
    pub(crate) fn values(
        &self,
        row: RowIndex,
        schema: Option<&MetadataSchema>,
    ) -> Result<Vec<(&str, MetadataValueRef<'_>)>, CoreError> {
        let mut values = Vec::with_capacity(self.fields.len());
        for (key, value) in &self.fields {
            let key = key.to_str()?;
            let value = metadata_value(value).ok_or_else(|| FormatError::UnsupportedValue {
                row,
                column: key.to_owned(),
                expected: schema
                    .and_then(|schema| schema.columns().get(schema.position(key)?))
                    .map(|column| column.value_type),
                found: describe(value),
            })?;
            values.push((key, value));
        }
        Ok(values)
    }
}

/// The core's value for a Python object, if it is of one of the four types and fits.
fn metadata_value<'a>(value: &'a Bound<'_, PyAny>) -> Option<MetadataValueRef<'a>> {
    if let Ok(text) = value.cast::<PyString>() {
        return Some(MetadataValueRef::String(Cow::Borrowed(text.to_str().ok()?)));
    }
    if let Ok(flag) = value.cast::<PyBool>() {
        return Some(MetadataValueRef::Bool(flag.is_true()));
    }
    if value.is_instance_of::<PyInt>() {
        return value.extract().ok().map(MetadataValueRef::Int64);
    }
    let number = value.cast::<PyFloat>().ok()?;
    Some(MetadataValueRef::Float64(number.extract().ok()?))
}

/// What a refused value is, in words that fit a message.
fn describe(value: &Bound<'_, PyAny>) -> String {
    if value.is_none() {
        return "None".to_owned();
    }
    if value.is_instance_of::<PyInt>() {
        return value.str().map_or_else(
            |_| "an integer of more than 64 bits".to_owned(),
            |text| format!("the integer {text}, which has more than 64 bits"),
        );
    }
    if value.is_instance_of::<PyString>() {
        return "text that is not valid Unicode".to_owned();
    }
    let kind = value.get_type().fully_qualified_name();
    let kind = kind.map_or_else(|_| type_name(value), |name| name.to_string());
    match value.hasattr("item").unwrap_or(false) {
        true => format!("an object of type {kind}, whose item() is a plain value"),
        false => format!("an object of type {kind}"),
    }
}

fn text_key(key: Bound<'_, PyAny>) -> PyResult<Bound<'_, PyString>> {
    key.cast_into::<PyString>().map_err(|error| {
        PyTypeError::new_err(format!(
            "metadata keys have to be text, not {}",
            type_name(&error.into_inner())
        ))
    })
}

/// Name of an object's type, for messages.
pub(crate) fn type_name(object: &Bound<'_, PyAny>) -> String {
    object
        .get_type()
        .name()
        .map_or_else(|_| "an unknown type".to_owned(), |name| name.to_string())
}

/// The Python object for a metadata value.
pub(crate) fn python_value<'py>(
    py: Python<'py>,
    value: &MetadataValueRef<'_>,
) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        MetadataValueRef::Bool(flag) => PyBool::new(py, *flag).to_owned().into_any(),
        MetadataValueRef::Int64(number) => number.into_pyobject(py)?.into_any(),
        MetadataValueRef::Float64(number) => PyFloat::new(py, *number).into_any(),
        MetadataValueRef::String(text) => PyString::new(py, text).into_any(),
    })
}
