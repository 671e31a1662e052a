//! States of a stream as plain dicts.
//!
//! Owns the keys. Must not check values against a dataset: the sampler does. Invariant: a dict holds integers and text only, so that JSON keeps it.

use dataset_rt_format::{Digest128, Seed};
use dataset_rt_sampler::{DrawMode, StreamKey, StreamState};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::CoreError;

/// The dict of a state.
pub(crate) fn state_to_dict<'py>(
    py: Python<'py>,
    state: &StreamState,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("version", state.version)?;
    dict.set_item("mode", state.key.mode.name())?;
    dict.set_item("seed", state.key.seed.get())?;
    dict.set_item("epoch_length", state.epoch_length)?;
    dict.set_item("position", state.position)?;
    dict.set_item("window_end", state.window_end)?;
    dict.set_item("skipped", state.skipped)?;
    dict.set_item("caches_digest", state.key.caches_digest.to_string())?;
    dict.set_item("table_digest", state.key.table_digest.to_string())?;
    Ok(dict)
}

/// The state of a dict.
///
/// # Errors
/// `StateMismatchError` names a key that is missing or holds something else.
pub(crate) fn state_from_dict(dict: &Bound<'_, PyDict>) -> Result<StreamState, CoreError> {
    let number = |key| field::<u64>(dict, key, "an integer from 0 to 2**64 - 1");
    let digest = |key| {
        let text = field::<String>(dict, key, "32 hexadecimal digits")?;
        Digest128::parse_hex(&text)
            .ok_or_else(|| CoreError::state(key, &text, "32 hexadecimal digits"))
    };
    Ok(StreamState {
        version: number("version")?,
        key: StreamKey {
            mode: DrawMode::from_name(&field::<String>(dict, "mode", "the name of a mode")?)?,
            seed: Seed::new(number("seed")?),
            caches_digest: digest("caches_digest")?,
            table_digest: digest("table_digest")?,
        },
        epoch_length: number("epoch_length")?,
        position: number("position")?,
        window_end: number("window_end")?,
        skipped: number("skipped")?,
    })
}

fn field<'py, T: FromPyObjectOwned<'py>>(
    dict: &Bound<'py, PyDict>,
    key: &str,
    wanted: &str,
) -> Result<T, CoreError> {
    let Some(value) = dict.get_item(key)? else {
        return Err(CoreError::state(key, "missing", wanted));
    };
    value
        .extract()
        .map_err(|_| CoreError::state(key, &value.to_string(), wanted))
}
