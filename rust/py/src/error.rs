//! Errors of the core as exceptions of `dataset_rt.errors`.
//!
//! Owns the map from error kinds to exception classes. Must not read a sentence or look into an error's variants: kind and facts are all it uses. Invariant:
//! every error of the core becomes an exception with its fields; none becomes a bare string.

use dataset_rt_format::{ErrorFacts, ErrorKind, FormatError};
use dataset_rt_pool::PoolError;
use dataset_rt_reader::{ReaderError, Undelivered};
use dataset_rt_replica::ReplicaError;
use dataset_rt_sampler::SamplerError;
use dataset_rt_storage::StorageError;
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::classes;
use crate::convert::arrow::ImportError;

/// An error of the core, or an exception that passes through.
pub(crate) enum CoreError {
    Core {
        kind: ErrorKind,
        facts: Box<ErrorFacts>,
        message: String,
    },
    Python(PyErr),
}

impl CoreError {
    fn new(kind: ErrorKind, facts: ErrorFacts, message: String) -> Self {
        Self::Core {
            kind,
            facts: Box::new(facts),
            message,
        }
    }

    /// An argument or setting of `option` that can't be used.
    pub(crate) fn option(option: &str, found: impl ToString, expected: &str) -> Self {
        let found = found.to_string();
        let message = format!("{option} is {found}, expected {expected}");
        let mut facts = ErrorFacts::default().with_values(expected, found);
        facts.field = Some(option.to_owned());
        Self::new(ErrorKind::InvalidInput, facts, message)
    }

    /// A part of a saved state that can't be used.
    pub(crate) fn state(key: &str, found: &str, expected: &str) -> Self {
        let message = format!("the state's {key} is {found}, expected {expected}");
        let mut facts = ErrorFacts::default().with_values(expected, found);
        facts.field = Some(key.to_owned());
        Self::new(ErrorKind::StateMismatch, facts, message)
    }

    /// A fault of this library.
    pub(crate) fn internal(message: impl ToString) -> Self {
        Self::new(
            ErrorKind::Internal,
            ErrorFacts::default(),
            message.to_string(),
        )
    }

    /// The exception, made now.
    pub(crate) fn into_pyerr(self) -> PyErr {
        match self {
            Self::Python(error) => error,
            Self::Core {
                kind,
                facts,
                message,
            } => Python::attach(|py| exception(py, kind, &facts, &message)),
        }
    }
}

macro_rules! core_errors {
    ($($error:ty),*) => {$(
        impl From<$error> for CoreError {
            fn from(error: $error) -> Self {
                Self::new(error.kind(), error.facts(), error.to_string())
            }
        }
    )*};
}

core_errors!(
    FormatError,
    StorageError,
    SamplerError,
    ReplicaError,
    ReaderError
);

impl From<Undelivered<PyErr>> for CoreError {
    fn from(error: Undelivered<PyErr>) -> Self {
        match error {
            Undelivered::Read(error) => error.into(),
            Undelivered::Sink(error) => error.into(),
        }
    }
}

impl From<PoolError> for CoreError {
    fn from(error: PoolError) -> Self {
        StorageError::from(error).into()
    }
}

impl From<std::io::Error> for CoreError {
    fn from(error: std::io::Error) -> Self {
        Self::Python(error.into())
    }
}

impl From<PyErr> for CoreError {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

impl From<ImportError> for CoreError {
    fn from(error: ImportError) -> Self {
        match error {
            ImportError::Python(error) => Self::Python(error),
            ImportError::Column { column, given } => {
                let message = format!("column {column:?} has a type that can't be held: {given}");
                let mut facts = ErrorFacts::default().with_values("a type of Apache Arrow", given);
                facts.column = Some(column);
                Self::new(ErrorKind::InvalidMetadata, facts, message)
            }
            ImportError::Stream { reason } => {
                let message = format!("the table could not be taken over: {reason}");
                Self::new(
                    ErrorKind::InvalidMetadata,
                    ErrorFacts::default().with_values("an Arrow stream", reason),
                    message,
                )
            }
        }
    }
}

impl From<CoreError> for PyErr {
    fn from(error: CoreError) -> Self {
        error.into_pyerr()
    }
}

fn exception(py: Python<'_>, kind: ErrorKind, facts: &ErrorFacts, message: &str) -> PyErr {
    if kind == ErrorKind::OutOfMemory {
        return PyMemoryError::new_err(message.to_owned());
    }
    let made = keywords(py, kind, facts).and_then(|(class, keywords)| {
        classes::errors(py)?
            .getattr(class)?
            .call((message,), Some(&keywords))
    });
    made.map_or_else(|failed| failed, PyErr::from_value)
}

/// The class for a kind of error and the fields it takes.
fn keywords<'py>(
    py: Python<'py>,
    kind: ErrorKind,
    facts: &ErrorFacts,
) -> PyResult<(&'static str, Bound<'py, PyDict>)> {
    let fields = PyDict::new(py);
    let path = facts
        .path
        .as_ref()
        .map(|path| path.to_string_lossy().into_owned());
    let expected_and_found = || -> PyResult<()> {
        fields.set_item("expected", facts.expected.as_deref())?;
        fields.set_item("found", facts.found.as_deref())
    };
    if kind != ErrorKind::Io {
        fields.set_item("kind", format!("{kind:?}"))?;
        fields.set_item("path", path.as_deref())?;
    }
    let class = match kind {
        ErrorKind::InvalidInput => {
            fields.set_item("field", facts.field.as_deref())?;
            fields.set_item("value", facts.found.as_deref())?;
            "InvalidConfigError"
        }
        ErrorKind::InvalidMetadata => {
            expected_and_found()?;
            fields.set_item("column", facts.column.as_deref())?;
            fields.set_item("count", facts.count)?;
            fields.set_item("rows", PyTuple::new(py, &facts.rows)?)?;
            "InvalidMetadataError"
        }
        ErrorKind::StateMismatch => {
            expected_and_found()?;
            fields.set_item("field", facts.field.as_deref())?;
            "StateMismatchError"
        }
        ErrorKind::Corrupt => {
            expected_and_found()?;
            fields.set_item("file", facts.file.as_deref())?;
            fields.set_item("cache_id", facts.cache_id)?;
            fields.set_item("sample_id", facts.sample_id)?;
            fields.set_item("shard", facts.shard)?;
            fields.set_item("byte_range", facts.byte_range)?;
            fields.set_item("url", facts.url.as_deref())?;
            "CorruptCacheError"
        }
        ErrorKind::UnsupportedVersion => {
            expected_and_found()?;
            "CacheVersionError"
        }
        ErrorKind::AlreadyExists => {
            expected_and_found()?;
            "CacheExistsError"
        }
        ErrorKind::NotFound if facts.sample_id.is_some() => {
            fields.set_item("cache_id", facts.cache_id)?;
            fields.set_item("sample_id", facts.sample_id)?;
            "UnknownSampleError"
        }
        ErrorKind::Remote => {
            fields.set_item("url", facts.url.as_deref())?;
            fields.set_item("byte_range", facts.byte_range)?;
            fields.set_item("attempts", facts.attempts)?;
            fields.set_item("cause", facts.found.as_deref())?;
            "RemoteReadError"
        }
        ErrorKind::Io => {
            fields.set_item("errno", facts.errno)?;
            fields.set_item("filename", path)?;
            fields.set_item("operation", facts.operation.as_deref())?;
            fields.set_item("needed_bytes", facts.needed_bytes)?;
            "io_error"
        }
        _ => "DatasetError",
    };
    Ok((class, fields))
}
