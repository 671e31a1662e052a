//! Config objects of Python as options of the core.
//!
//! Owns which attribute becomes which option. Must not know bounds: the core checks its own options. Invariant: every attribute is read, so a config of another shape
//! is an error and not a default.

use dataset_rt_format::{Compression, Seed};
use dataset_rt_reader::{OnCorrupt, ReaderOptions};
use dataset_rt_storage::{OnVersionChange, WriteOptions};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::CoreError;

/// Checks the rules of a reader config that span its fields.
#[pyfunction]
#[pyo3(signature = (config, /))]
pub(crate) fn check_reader_config(config: &Bound<'_, PyAny>) -> Result<(), CoreError> {
    reader_options(config).map(|_| ())
}

/// Checks the rules of a writer config that span its fields.
#[pyfunction]
#[pyo3(signature = (config, /))]
pub(crate) fn check_writer_config(config: &Bound<'_, PyAny>) -> Result<(), CoreError> {
    WriterSettings::extract(config).map(|_| ())
}

/// Reads a `ReaderConfig`.
pub(crate) fn reader_options(config: &Bound<'_, PyAny>) -> Result<ReaderOptions, CoreError> {
    let on_corrupt: String = config.getattr("on_corrupt")?.extract()?;
    let options = ReaderOptions {
        seed: Seed::new(config.getattr("seed")?.extract()?),
        prefetch_size: config.getattr("prefetch_size")?.extract()?,
        is_shuffled: config.getattr("shuffle")?.extract()?,
        has_replacement: config.getattr("replacement")?.extract()?,
        validates_caches: config.getattr("validate_cache")?.extract()?,
        verifies_records: config.getattr("verify_records")?.extract()?,
        on_corrupt: match on_corrupt.as_str() {
            "raise" => OnCorrupt::Raise,
            "skip" => OnCorrupt::Skip,
            other => {
                return Err(CoreError::option(
                    "on_corrupt",
                    other,
                    "\"raise\" or \"skip\"",
                ));
            }
        },
        is_mapped: config.getattr("mapped")?.extract()?,
    };
    options.validate()?;
    Ok(options)
}

/// The fields of a `ReaderConfig` with these options.
pub(crate) fn reader_fields<'py>(
    py: Python<'py>,
    options: &ReaderOptions,
) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    fields.set_item("seed", options.seed.get())?;
    fields.set_item("prefetch_size", options.prefetch_size)?;
    fields.set_item("shuffle", options.is_shuffled)?;
    fields.set_item("validate_cache", options.validates_caches)?;
    fields.set_item("replacement", options.has_replacement)?;
    fields.set_item("verify_records", options.verifies_records)?;
    fields.set_item(
        "on_corrupt",
        match options.on_corrupt {
            OnCorrupt::Raise => "raise",
            OnCorrupt::Skip => "skip",
        },
    )?;
    fields.set_item("mapped", options.is_mapped)?;
    Ok(fields)
}

/// A `WriterConfig`: options of the core, and what concerns the binding alone.
pub(crate) struct WriterSettings {
    /// How each cache is written; without a source version.
    pub(crate) options: WriteOptions,
    /// Whether progress is shown.
    pub(crate) shows_progress: bool,
    /// Where stage times go, if they are wanted.
    pub(crate) profile_path: Option<std::path::PathBuf>,
}

impl WriterSettings {
    /// Reads a `WriterConfig`.
    pub(crate) fn extract(config: &Bound<'_, PyAny>) -> Result<Self, CoreError> {
        let compression = config.getattr("shard_compression")?;
        let algo: String = compression.getattr("algo")?.extract()?;
        let ratio: f64 = compression.getattr("ratio")?.extract()?;
        let on_version_change: String = config.getattr("on_version_change")?.extract()?;
        let profiler = config.getattr("profiler")?;
        let is_profiled: bool = profiler.getattr("enabled")?.extract()?;
        let options = WriteOptions {
            prefetch_size: config.getattr("prefetch_size")?.extract()?,
            max_shard_bytes: config.getattr("max_shard_bytes")?.extract()?,
            compression: compression_of(&algo, ratio)?,
            source_version: None,
            on_version_change: match on_version_change.as_str() {
                "refuse" => OnVersionChange::Refuse,
                "rebuild" => OnVersionChange::Rebuild,
                other => {
                    return Err(CoreError::option(
                        "on_version_change",
                        other,
                        "\"refuse\" or \"rebuild\"",
                    ));
                }
            },
            validates_reused: config.getattr("validate_cache")?.extract()?,
            ..WriteOptions::default()
        };
        options.check()?;
        Ok(Self {
            options,
            shows_progress: config.getattr("show_progress")?.extract()?,
            profile_path: if is_profiled {
                Some(profiler.getattr("path")?.extract()?)
            } else {
                None
            },
        })
    }
}

fn compression_of(algo: &str, ratio: f64) -> Result<Compression, CoreError> {
    let compression = Compression::from_name(algo)
        .ok_or_else(|| CoreError::option("algo", algo, "\"none\" or \"lz4\""))?;
    if compression == Compression::None && ratio.to_bits() != 1.0_f64.to_bits() {
        return Err(CoreError::option(
            "ratio",
            ratio,
            "1.0 when nothing is compressed",
        ));
    }
    if !(ratio.is_finite() && ratio > 0.0) {
        return Err(CoreError::option(
            "ratio",
            ratio,
            "a finite number above zero",
        ));
    }
    Ok(compression)
}
