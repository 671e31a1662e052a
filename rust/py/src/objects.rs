//! Object storage as the core asks for it, answered by a library of Python.
//!
//! Owns the crossing of one request. Must not retry, check or remember anything. Invariant: the GIL is held while Python code runs and never while the core works on what came.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use dataset_rt_reader::is_object_url;
use dataset_rt_replica::{
    Connect, ObjectFacts, ReplicaError, StoreOptions, TakeBytes, Transport, TransportFault,
    UploadProgress, UploadReport, upload as send,
};
use dataset_rt_storage::StorageError;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyDict;

use crate::convert::integer::whole_number;
use crate::convert::location::local_path;
use crate::error::CoreError;
use crate::runtime::worker_pool;
use crate::tools::Watch;

/// The module that imports the library.
const MODULE: &str = "dataset_rt.integrations.objects";

/// Makes transports by the library.
pub(crate) struct Library;

/// The objects below one URL.
#[derive(Debug)]
struct LibraryTransport(Py<PyAny>);

impl Connect for Library {
    fn connect(
        &self,
        url: &str,
        options: &StoreOptions,
        is_made: bool,
    ) -> Result<Arc<dyn Transport>, TransportFault> {
        attached(|py| {
            let made = py.import(MODULE)?.getattr("Objects")?.call1((
                url,
                options.request_timeout.as_secs_f64(),
                is_made,
            ))?;
            Ok(Arc::new(LibraryTransport(made.unbind())) as Arc<dyn Transport>)
        })
    }
}

impl Transport for LibraryTransport {
    fn facts(&self, name: &str) -> Result<ObjectFacts, TransportFault> {
        attached(|py| {
            let (bytes, tag) = self
                .0
                .bind(py)
                .call_method1("facts", (name,))?
                .extract::<(u64, Option<String>)>()?;
            Ok(ObjectFacts { bytes, tag })
        })
    }

    fn read(
        &self,
        name: &str,
        range: Range<u64>,
        tag: Option<&str>,
        take: &mut TakeBytes<'_>,
    ) -> Result<(), TransportFault> {
        attached(|py| {
            let (data, bytes, tag) = self
                .0
                .bind(py)
                .call_method1("read", (name, range.start, range.end, tag))?
                .extract::<(PyBackedBytes, u64, Option<String>)>()?;
            py.detach(|| take(&data, &ObjectFacts { bytes, tag }));
            Ok(())
        })
    }

    fn put(&self, name: &str, file: &Path) -> Result<(), TransportFault> {
        attached(|py| {
            self.0
                .bind(py)
                .call_method1("put", (name, file))
                .map(|_| ())
        })
    }
}

/// Whether the interpreter is about to end.
static IS_ENDING: AtomicBool = AtomicBool::new(false);
/// Threads that are in Python code, or on their way there.
static INSIDE: AtomicUsize = AtomicUsize::new(0);
/// Longest wait for them: a server that stalls does not keep a process from ending.
const LONGEST_END: Duration = Duration::from_secs(5);
/// Time between two looks at them.
const LOOK_INTERVAL: Duration = Duration::from_millis(2);

/// A thread in Python code.
struct Inside;

impl Inside {
    fn enter() -> Self {
        INSIDE.fetch_add(1, Ordering::SeqCst);
        Self
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        INSIDE.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Lets no thread into Python code any more, and waits for those that are there: an interpreter that ends stops threads that come back to it, wherever they are.
#[pyfunction]
pub(crate) fn end_requests(py: Python<'_>) {
    IS_ENDING.store(true, Ordering::SeqCst);
    py.detach(|| {
        let begun = Instant::now();
        while INSIDE.load(Ordering::SeqCst) > 0 && begun.elapsed() < LONGEST_END {
            std::thread::sleep(LOOK_INTERVAL);
        }
    });
}

/// Forgets threads of the parent.
pub(crate) fn forget_threads() {
    INSIDE.store(0, Ordering::SeqCst);
}

/// Runs Python code; an interpreter that ends runs none.
fn attached<T>(
    work: impl for<'py> FnOnce(Python<'py>) -> PyResult<T>,
) -> Result<T, TransportFault> {
    let _inside = Inside::enter();
    if IS_ENDING.load(Ordering::SeqCst) {
        return Err(TransportFault::Refused("the interpreter ends".to_owned()));
    }
    Python::try_attach(|py| work(py).map_err(|error| fault_of(py, &error)))
        .unwrap_or_else(|| Err(TransportFault::Refused("the interpreter ends".to_owned())))
}

/// What the module says of a failure; anything else that was raised may pass.
fn fault_of(py: Python<'_>, error: &PyErr) -> TransportFault {
    let told = error
        .value(py)
        .getattr("fault")
        .and_then(|kind| kind.extract::<String>());
    let cause = error.value(py).to_string();
    match told.as_deref() {
        Ok("missing") => TransportFault::Missing(cause),
        Ok("changed") => TransportFault::Changed(cause),
        Ok("refused") => TransportFault::Refused(cause),
        Ok(_) => TransportFault::Failed(cause),
        Err(_) if error.is_instance_of::<PyException>(py) => {
            TransportFault::Refused(error.to_string())
        }
        Err(_) => TransportFault::Failed(error.to_string()),
    }
}

/// Makes sure that what makes requests can be imported.
///
/// # Errors
/// The `ImportError`.
pub(crate) fn require_library(py: Python<'_>) -> PyResult<()> {
    py.import(MODULE).map(drop)
}

/// Reads a `StoreConfig`.
pub(crate) fn store_options(config: &Bound<'_, PyAny>) -> Result<StoreOptions, CoreError> {
    let seconds = |name: &str| -> Result<Duration, CoreError> {
        let value: f64 = config.getattr(name)?.extract()?;
        Duration::try_from_secs_f64(value)
            .map_err(|_| CoreError::option(name, value, "a number of seconds, not negative"))
    };
    let path: PathBuf = config.getattr("path")?.extract()?;
    let options = StoreOptions {
        path: local_path("path", path)?,
        limit_bytes: config.getattr("limit_bytes")?.extract()?,
        look_ahead_bytes: config.getattr("look_ahead_bytes")?.extract()?,
        max_requests: config.getattr("max_requests")?.extract()?,
        attempts: config.getattr("attempts")?.extract()?,
        retry_wait: seconds("retry_wait_seconds")?,
        request_timeout: seconds("request_timeout_seconds")?,
    };
    options.validate()?;
    Ok(options)
}

/// Checks the rules of a store config.
#[pyfunction]
#[pyo3(signature = (config, /))]
pub(crate) fn check_store_config(config: &Bound<'_, PyAny>) -> Result<(), CoreError> {
    store_options(config).map(|_| ())
}

/// Sends a cache to a URL.
#[pyfunction]
#[pyo3(signature = (path, url, *, attempts, request_timeout_seconds, num_workers, progress = None))]
pub(crate) fn upload<'py>(
    path: PathBuf,
    url: &str,
    attempts: &Bound<'py, PyAny>,
    request_timeout_seconds: f64,
    num_workers: &Bound<'py, PyAny>,
    progress: Option<Py<PyAny>>,
) -> Result<Bound<'py, PyDict>, CoreError> {
    let py = num_workers.py();
    if !is_object_url(url) {
        return Err(CoreError::option(
            "url",
            url,
            "a URL that begins with s3://, gs://, az:// or file://",
        ));
    }
    let path = local_path("path", path)?;
    require_library(py)?;
    let pool = worker_pool(num_workers)?;
    let attempts = whole_number("attempts", attempts)?;
    let options = StoreOptions {
        attempts: u32::try_from(attempts).unwrap_or(u32::MAX),
        request_timeout: Duration::try_from_secs_f64(request_timeout_seconds).map_err(|_| {
            let expected = "a number of seconds, not negative";
            CoreError::option("request_timeout_seconds", request_timeout_seconds, expected)
        })?,
        ..StoreOptions::new(PathBuf::new())
    };
    options.validate()?;
    let counters = Arc::new(UploadProgress::default());
    let shown = Arc::clone(&counters);
    let watch = Watch::new(progress, move || (shown.done_bytes(), shown.total_bytes()));
    let check = watch.signals.check();
    let sent = py.detach(|| {
        let transport = Library
            .connect(url, &options, true)
            .map_err(|fault| ReplicaError::unreachable(url, fault))?;
        send(&path, url, transport, &options, &pool, &check, &counters)
    });
    let report = sent.map_err(|error| match error {
        ReplicaError::Storage(stopped @ StorageError::Cancelled) => watch.failure(py, stopped),
        error => error.into(),
    })?;
    watch.finish(py)?;
    let fields = PyDict::new(py);
    let UploadReport {
        sent_files,
        sent_bytes,
        kept_files,
        kept_bytes,
    } = report;
    fields.set_item("url", url.trim_end_matches('/'))?;
    fields.set_item("sent_files", sent_files)?;
    fields.set_item("sent_bytes", sent_bytes)?;
    fields.set_item("kept_files", kept_files)?;
    fields.set_item("kept_bytes", kept_bytes)?;
    Ok(fields)
}
