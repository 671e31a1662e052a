//! Python binding: registration only.
use pyo3::prelude::*;
/// Native module of `dataset_rt`.
#[pymodule]
mod _native {}
