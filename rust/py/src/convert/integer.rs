//! Integers that a user gives as arguments.
//!
//! Owns what counts as one. Must not know bounds beyond 64 bits: the core checks its own arguments. Invariant: a flag or a float is never taken for an integer, and
//! an integer that does not fit is refused by the argument's name.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBool;

use super::metadata::type_name;
use crate::error::CoreError;

/// The value of an argument that counts or numbers something.
///
/// # Errors
/// `TypeError` for anything that is no integer, `InvalidConfigError` for one outside of 0 to 2^64 - 1.
pub(crate) fn whole_number(argument: &str, value: &Bound<'_, PyAny>) -> Result<u64, CoreError> {
    if value.is_instance_of::<PyBool>() || !value.hasattr("__index__")? {
        let given = type_name(value);
        return Err(PyTypeError::new_err(format!(
            "{argument} wants an integer, a {given} was given"
        ))
        .into());
    }
    value
        .extract()
        .map_err(|_| CoreError::option(argument, value, "an integer from 0 to 2**64 - 1"))
}
