//! The native module of `dataset_rt`: registration only.
//!
//! Owns the list of what Python sees. Must not decide anything. Invariant: importing it imports no other Python module.
#![deny(unsafe_code)]

mod batch;
mod batches;
mod classes;
mod convert;
mod dataset;
mod error;
mod fork;
mod iterator;
mod objects;
mod processes;
mod profile;
mod progress;
mod report;
mod results;
mod runtime;
mod sample;
mod shared;
mod source;
mod tools;
mod window;
mod write;
mod write_many;

use pyo3::pymodule;

/// Native module of `dataset_rt`.
#[pymodule]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::batch::SampleBatch;
    #[pymodule_export]
    use crate::batches::BatchIterator;
    #[pymodule_export]
    use crate::convert::arrow::ArrowTable;
    #[pymodule_export]
    use crate::convert::config::{check_reader_config, check_writer_config};
    #[pymodule_export]
    use crate::dataset::Dataset;
    #[pymodule_export]
    use crate::iterator::SampleIterator;
    #[pymodule_export]
    use crate::objects::{check_store_config, end_requests, upload};
    #[pymodule_export]
    use crate::processes::{WriteProgress, sweep_temporaries, write_profile};
    #[pymodule_export]
    use crate::runtime::Runtime;
    #[pymodule_export]
    use crate::tools::{convert, inspect, verify};
    #[pymodule_export]
    use crate::window::Window;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add(
            "__build_profile__",
            if cfg!(debug_assertions) {
                "debug"
            } else {
                "release"
            },
        )?;
        crate::fork::register(module.py())
    }
}
