//! Writing one source: rows from Python into the core's writer.
//!
//! Owns the loop over a source, and where in it signals are seen and the GIL is released. Must not know files. Invariant: a source that fails becomes a value; what is
//! not an `Exception`, such as Ctrl-C, is raised, and either way nothing half-written is left.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use dataset_rt_format::RowIndex;
use dataset_rt_pool::WorkerPool;
use dataset_rt_reader::ReaderError;
use dataset_rt_replica::ReplicaError;
use dataset_rt_storage::durable::Disk;
use dataset_rt_storage::{
    Begin, CacheWriter, Endings, FinishedCache, InterruptCheck, Pushed, StorageError, WriteOptions,
    WriteProgress, WriteReport, find_finished,
};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

use crate::convert::bytes::PayloadBytes;
use crate::error::CoreError;
use crate::progress::Progress;
use crate::report::Report;
use crate::source::{SourceRows, SourceTimes, source_version};

/// Rows between two looks for signals; sources without Python code see none of their own.
const SIGNAL_ROWS: u64 = 64;

/// Why a source has no cache.
pub(crate) enum Failure {
    /// To be told as a value.
    Value(PyErr),
    /// To be raised: a signal, an exit.
    Raise(PyErr),
}

impl Failure {
    pub(crate) fn of(py: Python<'_>, error: PyErr) -> Self {
        if error.is_instance_of::<PyException>(py) {
            Self::Value(error)
        } else {
            Self::Raise(error)
        }
    }
}

/// A cache that is there.
pub(crate) enum Written {
    /// Written now.
    Built(WriteReport),
    /// Found, or finished by another builder while this one waited.
    Found(FinishedCache),
}

/// A source that has been asked for all its rows, or need not be asked.
pub(crate) enum RowsIn {
    /// The cache is there.
    Found(FinishedCache),
    /// The cache is to be completed.
    All {
        writer: Box<CacheWriter<PayloadBytes>>,
        signals: Signals,
    },
}

/// Where the time of one source went.
#[derive(Clone, Debug, Default)]
pub(crate) struct SourceProfile {
    pub(crate) times: SourceTimes,
    pub(crate) counters: Arc<WriteProgress>,
}

/// Signals that arrive while the core waits: seen between its waits, raised when it has stopped.
#[derive(Clone, Default)]
pub(crate) struct Signals {
    raised: Arc<Mutex<Option<PyErr>>>,
    look: Option<Arc<Look>>,
}

/// What else is done at each look; what it raises is raised as a signal is.
type Look = dyn Fn(Python<'_>) -> PyResult<()> + Send + Sync;

impl Signals {
    /// Signals of a wait that a watcher, if there is one, is to take for a sign of life.
    fn of_write(report: Option<Arc<Report>>) -> Self {
        match report {
            Some(report) => Self::with_look(move |py| report.repeat(py)),
            None => Self::default(),
        }
    }

    /// Signals of a wait in which something else is to be done now and then.
    pub(crate) fn with_look(
        look: impl Fn(Python<'_>) -> PyResult<()> + Send + Sync + 'static,
    ) -> Self {
        Self {
            look: Some(Arc::new(look)),
            ..Self::default()
        }
    }

    /// The core's way to ask.
    pub(crate) fn check(&self) -> InterruptCheck {
        let (raised, more) = (Arc::clone(&self.raised), self.look.clone());
        let look = move |py: Python<'_>| {
            py.check_signals()?;
            more.as_ref().map_or(Ok(()), |more| more(py))
        };
        InterruptCheck::new(move || match Python::attach(&look) {
            Ok(()) => false,
            Err(error) => {
                *raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                true
            }
        })
    }

    /// The exception of an error: the signal's own if there was one.
    pub(crate) fn failure(&self, py: Python<'_>, error: StorageError) -> Failure {
        let raised = self
            .raised
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        match raised {
            Some(signal) if matches!(error, StorageError::Cancelled) => Failure::of(py, signal),
            _ => Failure::of(py, CoreError::from(error).into_pyerr()),
        }
    }

    /// The same for an error of reading, which is raised either way.
    pub(crate) fn read_failure(&self, py: Python<'_>, error: ReaderError) -> CoreError {
        match error {
            ReaderError::Storage(stopped @ StorageError::Cancelled)
            | ReaderError::Cache {
                source: stopped @ StorageError::Cancelled,
                ..
            } => match self.failure(py, stopped) {
                Failure::Value(error) | Failure::Raise(error) => error.into(),
            },
            ReaderError::Replica { ref source, .. }
                if matches!(**source, ReplicaError::Storage(StorageError::Cancelled)) =>
            {
                self.read_failure(py, StorageError::Cancelled.into())
            }
            error => error.into(),
        }
    }
}

/// What all sources of one call have in common.
pub(crate) struct WriteCall<'a> {
    pub(crate) base: &'a Path,
    pub(crate) options: &'a WriteOptions,
    pub(crate) pool: &'a Arc<WorkerPool>,
    pub(crate) is_profiled: bool,
}

impl WriteCall<'_> {
    fn options_for(&self, source: &Bound<'_, PyAny>) -> Result<WriteOptions, Failure> {
        let version = source_version(source).map_err(|error| Failure::of(source.py(), error))?;
        Ok(WriteOptions {
            source_version: version,
            ..self.options.clone()
        })
    }

    /// Finds the cache of one source written; `None` when it is to be written.
    pub(crate) fn find_source(
        &self,
        source: &Bound<'_, PyAny>,
        name: &str,
    ) -> Result<Option<Written>, Failure> {
        let py = source.py();
        let options = self.options_for(source)?;
        let signals = Signals::default();
        let check = signals.check();
        let (base, pool) = (PathBuf::from(self.base), Arc::clone(self.pool));
        let found = py.detach(|| find_finished(&Disk::new(), &base, name, &options, &pool, &check));
        found
            .map(|found| found.map(Written::Found))
            .map_err(|error| signals.failure(py, error))
    }

    /// Takes all rows of one source, or finds its cache written.
    pub(crate) fn take_rows(
        &self,
        source: &Bound<'_, PyAny>,
        name: &str,
        endings: &Endings<PayloadBytes>,
        progress: &mut Progress,
        profile: &mut SourceProfile,
    ) -> Result<RowsIn, Failure> {
        let py = source.py();
        let fail = |error| Failure::of(py, error);
        let options = self.options_for(source)?;
        let signals = Signals::of_write(progress.report());
        let check = signals.check();
        let (disk, base, pool) = (Disk::new(), PathBuf::from(self.base), Arc::clone(self.pool));
        let begun = py.detach(|| {
            CacheWriter::<PayloadBytes>::begin(&disk, &base, name, &options, &pool, &check)
        });
        let mut writer = match begun.map_err(|error| signals.failure(py, error))? {
            Begin::Building(writer) => writer,
            Begin::Finished(finished) => return Ok(RowsIn::Found(finished)),
            Begin::Busy => {
                return Err(fail(
                    CoreError::internal("the cache is being written by another builder")
                        .into_pyerr(),
                ));
            }
        };
        writer.share_window(endings);
        profile.counters = writer.progress();
        match self.write_rows(source, name, &mut writer, &signals, progress, profile) {
            Ok(()) => Ok(RowsIn::All { writer, signals }),
            Err(failure) => {
                py.detach(|| drop(writer));
                Err(failure)
            }
        }
    }

    fn write_rows(
        &self,
        source: &Bound<'_, PyAny>,
        name: &str,
        writer: &mut CacheWriter<PayloadBytes>,
        signals: &Signals,
        progress: &mut Progress,
        profile: &mut SourceProfile,
    ) -> Result<(), Failure> {
        let py = source.py();
        let fail = |error| Failure::of(py, error);
        let counters = Arc::clone(&profile.counters);
        let is_watched = progress.report().is_some();
        let mut rows = SourceRows::new(source, self.is_profiled).map_err(fail)?;
        let mut push_all = || {
            while let Some(row) = rows.next_row().map_err(fail)? {
                let number = writer.row_count();
                let values = row
                    .fields
                    .values(RowIndex::new(number), writer.schema())
                    .map_err(|error| fail(error.into_pyerr()))?;
                if number.is_multiple_of(SIGNAL_ROWS) {
                    py.check_signals().map_err(fail)?;
                }
                let pushed = writer
                    .push(row.payload, &values)
                    .map_err(|error| signals.failure(py, error))?;
                if pushed == Pushed::BlockFull {
                    py.detach(|| writer.dispatch())
                        .map_err(|error| signals.failure(py, error))?;
                }
                if pushed == Pushed::BlockFull || is_watched {
                    progress
                        .committed(py, name, counters.samples(), counters.payload_bytes())
                        .map_err(fail)?;
                }
            }
            Ok(())
        };
        let outcome = push_all();
        profile.times = rows.times;
        outcome
    }
}
