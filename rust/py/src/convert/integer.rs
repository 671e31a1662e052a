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

/// The same within bounds, both of them allowed.
///
/// # Errors
/// As [`whole_number`], with these bounds.
pub(crate) fn number_between(
    argument: &str,
    value: &Bound<'_, PyAny>,
    least: u64,
    most: u64,
) -> Result<u64, CoreError> {
    let expected = || format!("an integer from {least} to {most}");
    match whole_number(argument, value) {
        Ok(number) if (least..=most).contains(&number) => Ok(number),
        Err(error @ CoreError::Python(_)) => Err(error),
        _ => Err(CoreError::option(argument, value, &expected())),
    }
}
