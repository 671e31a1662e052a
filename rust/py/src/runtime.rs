//! The runtime: one pool, and what is done with it.
//!
//! Owns the pool of a Python runtime. Must not decide which cache is reused. Invariant: results stand in source order, one per source, whatever happened to the others.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use dataset_rt_pool::WorkerPool;
use dataset_rt_reader::{
    CacheSet, ClaimedWindow, Dataset as CoreDataset, Place, Snapshot, StoreAccess, check_schema,
    open_cache, open_dump, open_places, open_shared,
};
use dataset_rt_storage::load::LoadedCache;
use pyo3::prelude::*;

use crate::convert::config::{WriterSettings, reader_options};
use crate::convert::integer::number_between;
use crate::convert::location::{local_path, place_of};
use crate::dataset::Dataset;
use crate::error::CoreError;
use crate::objects::{Library, require_library, store_options};
use crate::progress::Progress;
use crate::report::Report;
use crate::results;
use crate::source::source_names;
use crate::window::Window;
use crate::write::{Failure, Signals, WriteCall, Written};
use crate::write_many::{ManyWrites, Outcome, accept};

/// Most threads a runtime may have: more would be a mistake on any machine.
const MAX_WORKERS: usize = 1024;

/// One source's name and its result; `None` when it is to be written.
type Found<'py> = (String, Option<Bound<'py, PyAny>>);

/// Exactly `num_workers` named threads, shared by writing, opening and reading.
#[pyclass(frozen, module = "dataset_rt._native")]
pub(crate) struct Runtime {
    pool: Arc<WorkerPool>,
    /// The snapshot opened last: consecutive windows mostly share one.
    opened: Mutex<Option<(PathBuf, Arc<Snapshot>)>>,
}

impl Runtime {
    /// Writes or finds the cache of each source.
    fn write(
        &self,
        sources: &[Bound<'_, PyAny>],
        base: &Path,
        config: &Bound<'_, PyAny>,
        reuse: bool,
        screen: impl FnOnce(bool) -> Progress,
    ) -> Result<Vec<Outcome>, CoreError> {
        let settings = WriterSettings::extract(config)?;
        let names = source_names(sources)?;
        let base = local_path("path", base.to_owned())?;
        let call = WriteCall {
            base: &base,
            options: &settings.options,
            pool: &self.pool,
            is_profiled: settings.profile_path.is_some(),
        };
        let progress = screen(settings.shows_progress);
        ManyWrites::new(call, reuse, progress).write(config.py(), sources, names, &settings)
    }
}

#[pymethods]
impl Runtime {
    #[new]
    fn new(num_workers: &Bound<'_, PyAny>) -> Result<Self, CoreError> {
        Ok(Self {
            pool: worker_pool(num_workers)?,
            opened: Mutex::new(None),
        })
    }

    #[getter]
    fn num_workers(&self) -> usize {
        self.pool.num_workers()
    }

    #[pyo3(signature = (sources, base, config, *, reuse))]
    fn find_caches<'py>(
        &self,
        sources: Vec<Bound<'py, PyAny>>,
        base: PathBuf,
        config: &Bound<'py, PyAny>,
        reuse: bool,
    ) -> Result<Vec<Found<'py>>, CoreError> {
        let py = config.py();
        let settings = WriterSettings::extract(config)?;
        let names = source_names(&sources)?;
        let base = local_path("path", base)?;
        let call = WriteCall {
            base: &base,
            options: &settings.options,
            pool: &self.pool,
            is_profiled: false,
        };
        let mut found = Vec::with_capacity(sources.len());
        for (source, name) in sources.iter().zip(names) {
            let (name, outcome) = match name {
                Ok(name) => {
                    let outcome = call.find_source(source, &name);
                    (name, outcome)
                }
                Err((label, error)) => (label, Err(Failure::of(py, error))),
            };
            let accepted = outcome.and_then(|found| match found {
                Some(written) => accept(py, written, reuse).map(Some),
                None => Ok(None),
            });
            let value = match accepted {
                Ok(Some(written)) => Some(results::success(py, &name, &written)?),
                Ok(None) => None,
                Err(Failure::Value(error)) => Some(results::failure(py, &name, &error)?),
                Err(Failure::Raise(error)) => return Err(error.into()),
            };
            found.push((name, value));
        }
        Ok(found)
    }

    #[pyo3(signature = (sources, base, config, *, reuse, progress = None, report = None))]
    fn write_caches<'py>(
        &self,
        sources: Vec<Bound<'py, PyAny>>,
        base: PathBuf,
        config: &Bound<'py, PyAny>,
        reuse: bool,
        progress: Option<Py<PyAny>>,
        report: Option<Py<PyAny>>,
    ) -> Result<Vec<Bound<'py, PyAny>>, CoreError> {
        let py = config.py();
        let screen = |is_shown| match report {
            Some(report) => Progress::watched(Report::new(report)),
            None => Progress::new(is_shown, progress, sources.len()),
        };
        let outcomes = self.write(&sources, &base, config, reuse, screen)?;
        outcomes
            .iter()
            .map(|(name, outcome)| Ok(outcome_value(py, name, outcome)?))
            .collect()
    }

    #[pyo3(signature = (paths, config, store = None))]
    fn open_dataset(
        &self,
        py: Python<'_>,
        paths: Vec<PathBuf>,
        config: &Bound<'_, PyAny>,
        store: Option<&Bound<'_, PyAny>>,
    ) -> Result<Dataset, CoreError> {
        let mut options = reader_options(config)?;
        let places = paths
            .into_iter()
            .map(place_of)
            .collect::<Result<Vec<_>, _>>()?;
        if places.iter().any(|place| matches!(place, Place::Url(_))) {
            require_library(py)?;
        }
        let access = store
            .map(|store| -> Result<_, CoreError> {
                Ok(StoreAccess {
                    options: store_options(store)?,
                    connect: &Library,
                })
            })
            .transpose()?;
        let signals = Signals::default();
        let check = signals.check();
        let opened =
            py.detach(|| open_places(&places, &mut options, access.as_ref(), &self.pool, &check));
        let caches = opened.map_err(|error| signals.read_failure(py, error))?;
        Ok(Dataset::new(CoreDataset::new(
            caches,
            options,
            Arc::clone(&self.pool),
        )?))
    }

    fn open_written<'py>(
        &self,
        mut results: Vec<Bound<'py, PyAny>>,
        config: &Bound<'py, PyAny>,
    ) -> Result<(Option<Dataset>, Vec<Bound<'py, PyAny>>), CoreError> {
        let py = config.py();
        let options = reader_options(config)?;
        let mut caches: Vec<Arc<LoadedCache>> = Vec::new();
        for result in &mut results {
            let Some(path) = results::path_of_success(result)? else {
                continue;
            };
            let signals = Signals::default();
            let check = signals.check();
            let opened = py
                .detach(|| open_cache(&path, &options, &self.pool, &check))
                .map_err(|error| signals.failure(py, error));
            let fits = opened.and_then(|cache| match caches.first() {
                Some(first) => match check_schema(
                    cache.path(),
                    first.manifest().schema(),
                    cache.manifest().schema(),
                ) {
                    Ok(()) => Ok(cache),
                    Err(error) => Err(Failure::Value(CoreError::from(error).into_pyerr())),
                },
                None => Ok(cache),
            });
            match fits {
                Ok(cache) => caches.push(cache),
                Err(Failure::Value(error)) => {
                    let name: String = result.getattr("source_name")?.extract()?;
                    *result = results::failure(py, &name, &error)?;
                }
                Err(Failure::Raise(error)) => return Err(error.into()),
            }
        }
        if caches.is_empty() {
            return Ok((None, results));
        }
        let dataset = CoreDataset::new(CacheSet::new(caches)?, options, Arc::clone(&self.pool))?;
        Ok((Some(Dataset::new(dataset)), results))
    }

    fn open_dump(&self, py: Python<'_>, file: PathBuf) -> Result<Dataset, CoreError> {
        let file = std::path::absolute(file)?;
        let pool = Arc::clone(&self.pool);
        Ok(Dataset::new(
            py.detach(|| open_dump(&file, Some(pool), &Library))?,
        ))
    }

    fn open_window(&self, py: Python<'_>, handle: &str) -> Result<Window, CoreError> {
        let window = py.detach(|| {
            ClaimedWindow::open(handle, &self.pool, |path| {
                let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
                match &*opened {
                    Some((known, snapshot)) if known == path => Ok(Arc::clone(snapshot)),
                    _ => {
                        let snapshot = open_shared(path, &self.pool, &Library)?;
                        *opened = Some((path.to_owned(), Arc::clone(&snapshot)));
                        Ok(snapshot)
                    }
                }
            })
        })?;
        Ok(Window::new(window))
    }
}

/// A pool of that many threads.
///
/// # Errors
/// `InvalidConfigError` for a number out of range, `TypeError` for no integer.
pub(crate) fn worker_pool(num_workers: &Bound<'_, PyAny>) -> Result<Arc<WorkerPool>, CoreError> {
    let workers = number_between("num_workers", num_workers, 1, MAX_WORKERS as u64)?;
    Ok(WorkerPool::new(
        usize::try_from(workers).unwrap_or(MAX_WORKERS),
    )?)
}

fn outcome_value<'py>(
    py: Python<'py>,
    name: &str,
    outcome: &Result<Written, PyErr>,
) -> PyResult<Bound<'py, PyAny>> {
    match outcome {
        Ok(written) => results::success(py, name, written),
        Err(error) => results::failure(py, name, error),
    }
}
