//! What is done with a cache beside reading it: verify, inspect, convert.
//!
//! Owns the step from paths to the core's answers, and where signals are seen meanwhile. Must not judge caches. Invariant: damage is a value, and what is no cache is
//! raised.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dataset_rt_format::Compression;
use dataset_rt_storage::durable::Disk;
use dataset_rt_storage::load::VerifyProgress;
use dataset_rt_storage::{
    Conversion, ConvertProgress, Damage, StorageError, read_manifest, read_origin, verify_cache,
};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::classes;
use crate::convert::config::WriterSettings;
use crate::convert::location::local_path;
use crate::error::CoreError;
use crate::report::Report;
use crate::results;
use crate::runtime::worker_pool;
use crate::write::{Failure, Signals, Written};

/// Verifies a cache in full.
#[pyfunction]
#[pyo3(signature = (path, *, num_workers, progress = None))]
pub(crate) fn verify<'py>(
    path: PathBuf,
    num_workers: &Bound<'py, PyAny>,
    progress: Option<Py<PyAny>>,
) -> Result<Bound<'py, PyAny>, CoreError> {
    let py = num_workers.py();
    let path = local_path("path", path)?;
    let pool = worker_pool(num_workers)?;
    let counters = Arc::new(VerifyProgress::default());
    let shown = Arc::clone(&counters);
    let watch = Watch::new(progress, move || (shown.bytes(), shown.total_bytes()));
    let check = watch.signals.check();
    let verified = py.detach(|| verify_cache(&Disk::new(), &path, &pool, &check, &counters));
    let report = verified.map_err(|error| watch.failure(py, error))?;
    watch.finish(py)?;
    let damages = report.damages.into_iter().map(|found| damage(py, found));
    let damages = damages.collect::<PyResult<Vec<_>>>()?;
    let fields = PyDict::new(py);
    fields.set_item("path", path)?;
    fields.set_item("row_count", report.sample_count)?;
    fields.set_item("file_count", report.files)?;
    fields.set_item("byte_count", report.bytes)?;
    fields.set_item("damages", PyTuple::new(py, damages)?)?;
    fields.set_item("omitted_count", report.omitted)?;
    result_of(py, "CacheVerification", &fields)
}

/// Tells what the manifest of a cache says.
#[pyfunction]
#[pyo3(signature = (path, /))]
pub(crate) fn inspect(py: Python<'_>, path: PathBuf) -> Result<Bound<'_, PyAny>, CoreError> {
    let path = local_path("path", path)?;
    let disk = Disk::new();
    let (manifest, origin) = py.detach(|| {
        let manifest = read_manifest(&disk, &path)?;
        Ok::<_, StorageError>((manifest, read_origin(&disk, &path).ok()))
    })?;
    let source = manifest.source();
    let fields = PyDict::new(py);
    let format = if manifest.is_original() {
        "original"
    } else {
        "dataset_rt"
    };
    fields.set_item("format", format)?;
    fields.set_item("format_version", manifest.format_version())?;
    fields.set_item("source_name", source.name)?;
    fields.set_item("source_version", source.version)?;
    fields.set_item("row_count", manifest.sample_count())?;
    fields.set_item("payload_bytes", manifest.payload_bytes())?;
    fields.set_item("stored_bytes", manifest.stored_bytes())?;
    fields.set_item("compression", manifest.compression().to_string())?;
    let schema = PyDict::new(py);
    for column in manifest.schema().columns() {
        schema.set_item(&column.name, column.value_type.name())?;
    }
    fields.set_item("metadata_schema", schema)?;
    let files = manifest.files().into_iter().map(|listed| {
        let class = classes::results(py)?.getattr("CacheFileInfo")?;
        class.call1((listed.file.path(), listed.bytes, listed.hash.to_string()))
    });
    let files = files.collect::<PyResult<Vec<_>>>()?;
    fields.set_item("files", PyTuple::new(py, files)?)?;
    let created_at = origin.as_ref().map(|origin| origin.created_at.to_string());
    fields.set_item("created_at", created_at.unwrap_or_default())?;
    let writer_version = origin.map(|origin| origin.writer_version);
    fields.set_item("writer_version", writer_version.unwrap_or_default())?;
    fields.set_item("content_digest", manifest.content_digest().to_string())?;
    fields.set_item("path", path)?;
    result_of(py, "CacheInspection", &fields)
}

/// Rewrites a cache as format 1; `compression` is a name, or none to keep what the cache has.
#[pyfunction]
#[pyo3(signature = (path, out, config, *, compression, num_workers, progress = None))]
pub(crate) fn convert<'py>(
    path: PathBuf,
    out: PathBuf,
    config: &Bound<'py, PyAny>,
    compression: Option<&str>,
    num_workers: &Bound<'py, PyAny>,
    progress: Option<Py<PyAny>>,
) -> Result<Bound<'py, PyAny>, CoreError> {
    let py = config.py();
    let settings = WriterSettings::extract(config)?;
    let compression = compression.map(compression_named).transpose()?;
    let (path, out) = (local_path("path", path)?, local_path("out", out)?);
    let pool = worker_pool(num_workers)?;
    let counters = Arc::new(ConvertProgress::default());
    let shown = Arc::clone(&counters);
    let watch = Watch::new(progress, move || (shown.samples(), shown.total_samples()));
    let check = watch.signals.check();
    let converted = py.detach(|| {
        let conversion = Conversion {
            disk: &Disk::new(),
            from: &path,
            to: Path::new(&out),
            options: &settings.options,
            compression,
        };
        let report = conversion.run(&pool, &check, &counters)?;
        Ok((report, read_manifest(&Disk::new(), &out)?.source().name))
    });
    let (report, name) = converted.map_err(|error| watch.failure(py, error))?;
    watch.finish(py)?;
    Ok(results::success(py, &name, &Written::Built(report))?)
}

fn compression_named(name: &str) -> Result<Compression, CoreError> {
    Compression::from_name(name)
        .ok_or_else(|| CoreError::option("compression", name, "\"none\" or \"lz4\""))
}

/// Signals of a long call, and the callback that is told how far it is.
pub(crate) struct Watch {
    pub(crate) signals: Signals,
    told: Option<(Arc<Report>, Counts)>,
}

/// How much is done, and of how much.
type Counts = Arc<dyn Fn() -> (u64, u64) + Send + Sync>;

impl Watch {
    pub(crate) fn new(
        callback: Option<Py<PyAny>>,
        counts: impl Fn() -> (u64, u64) + Send + Sync + 'static,
    ) -> Self {
        let counts: Counts = Arc::new(counts);
        let told = callback.map(|callback| (Arc::new(Report::new(callback)), counts));
        let signals = match told.clone() {
            None => Signals::default(),
            Some((report, counts)) => Signals::with_look(move |py| {
                let (done, total) = counts();
                report.tell(py, done, total, false)
            }),
        };
        Self { signals, told }
    }

    pub(crate) fn finish(&self, py: Python<'_>) -> PyResult<()> {
        let Some((report, counts)) = &self.told else {
            return Ok(());
        };
        let (done, total) = counts();
        report.tell(py, done, total, true)
    }

    pub(crate) fn failure(&self, py: Python<'_>, error: StorageError) -> CoreError {
        match self.signals.failure(py, error) {
            Failure::Value(error) | Failure::Raise(error) => error.into(),
        }
    }
}

fn damage(py: Python<'_>, found: Damage) -> PyResult<Bound<'_, PyAny>> {
    let samples = found.samples.map(|samples| {
        let range = py.import("builtins")?.getattr("range")?;
        range.call1((samples.start, samples.end))
    });
    let error = CoreError::from(found.error).into_pyerr();
    classes::results(py)?
        .getattr("CacheDamage")?
        .call1((error.into_value(py), samples.transpose()?))
}

fn result_of<'py>(
    py: Python<'py>,
    class: &str,
    fields: &Bound<'py, PyDict>,
) -> Result<Bound<'py, PyAny>, CoreError> {
    Ok(classes::results(py)?
        .getattr(class)?
        .call((), Some(fields))?)
}
