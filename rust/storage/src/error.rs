//! What can go wrong between a caller and the files of a cache.
//!
//! Owns: the one error type of this crate. Must not: carry prepared sentences, or let a bare `io::Error` out.
//! Invariant: every failure of a file names its path and the operation; every finding about stored bytes names the
//! cache and keeps the located finding of `dataset_rt_format`.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use dataset_rt_format::{CacheFile, ErrorKind, FormatError};
use dataset_rt_pool::PoolError;

use crate::durable::{FolderFault, Operation};

/// An error of writing, opening, reading or checking a cache.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StorageError {
    /// The operating system refused a call.
    #[error("{operation} {}: {source}{}", path.display(), Needed(*needed_bytes))]
    Io {
        /// The call.
        operation: Operation,
        /// What it was made on.
        path: PathBuf,
        /// The answer, with errno where there is one.
        source: io::Error,
        /// For a write that found no room: how many bytes it still had to write.
        needed_bytes: Option<u64>,
    },
    /// The cache is complete under its final name, but the name could not be made durable.
    #[error("cache {} is complete, but its name may be lost in a power failure: {source}", path.display())]
    NameNotDurable {
        /// The cache.
        path: PathBuf,
        /// Why the parent directory was not synced.
        source: Box<StorageError>,
    },
    /// Bytes of a cache are damaged, of another version, or of another system.
    #[error("cache {}: {finding}", cache.display())]
    Cache {
        /// The cache.
        cache: PathBuf,
        /// The finding, located within the cache.
        #[source]
        finding: Box<FormatError>,
    },
    /// A file that the manifest lists is not there.
    #[error("cache {}: {file} is missing", cache.display())]
    MissingFile {
        /// The cache.
        cache: PathBuf,
        /// The file.
        file: CacheFile,
        /// Its length in the manifest; 0 where the manifest does not say it.
        expected_bytes: u64,
    },
    /// The path holds no manifest, so no finished cache.
    #[error("{}: not a cache, there is no manifest.json{}", path.display(), Inside(caches))]
    NoManifest {
        /// The path.
        path: PathBuf,
        /// Names of folders in it that have a manifest, as far as somebody looked.
        caches: Vec<String>,
    },
    /// The sample does not exist.
    #[error("cache {}: no sample {sample}, there are {sample_count}", cache.display())]
    NoSuchSample {
        /// The cache.
        cache: PathBuf,
        /// The sample asked for.
        sample: u64,
        /// Samples of the cache.
        sample_count: u64,
    },
    /// What a source yields, or its name, can't be stored.
    #[error("source {source_name:?}: {finding}")]
    Refused {
        /// The source.
        source_name: String,
        /// Row, column, expected and found.
        #[source]
        finding: Box<FormatError>,
    },
    /// The source ended before its first sample.
    #[error("cache source yielded no samples")]
    NoSamples {
        /// The source.
        source_name: String,
    },
    /// A finished cache has the name of the cache to be written.
    #[error("{} is a finished cache already: reuse it, write under another name, or remove that directory", path.display())]
    AlreadyFinished {
        /// The cache.
        path: PathBuf,
    },
    /// Something that is not a finished cache has the name of the cache to be written.
    #[error("{}: exists and is not a finished cache", path.display())]
    Occupied {
        /// The path.
        path: PathBuf,
    },
    /// A finished cache was written from another version of the source.
    #[error(
        "cache {}: written from source version {}, not {wanted}: rebuild it, or give the source another name",
        path.display(),
        recorded.as_deref().unwrap_or("none")
    )]
    SourceVersion {
        /// The cache.
        path: PathBuf,
        /// The version in its manifest.
        recorded: Option<String>,
        /// The version of the source now.
        wanted: String,
    },
    /// An option has a value that can't be used.
    #[error("{option} is {found}, expected {expected}")]
    InvalidOption {
        /// The option.
        option: &'static str,
        /// Its value.
        found: String,
        /// What is allowed.
        expected: &'static str,
    },
    /// A folder for files of this user alone is one in which others can interfere.
    #[error("{}: {found}, expected a directory of this user that nobody else can change", path.display())]
    ExposedFolder {
        /// The folder.
        path: PathBuf,
        /// What is wrong with it.
        found: FolderFault,
    },
    /// Memory was asked for, and refused.
    #[error("{bytes} bytes of memory are not to be had")]
    NoMemory {
        /// How much was asked for.
        bytes: u64,
    },
    /// The worker pool failed or lost a job.
    #[error(transparent)]
    Pool(#[from] PoolError),
    /// The writer failed before and can only be dropped.
    #[error("the writer of this cache has failed before")]
    WriterFailed,
    /// The caller asked to stop.
    #[error("cancelled")]
    Cancelled,
}

/// The end of a sentence about a write that found no room.
struct Needed(Option<u64>);

impl fmt::Display for Needed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(bytes) => write!(out, ", {bytes} bytes more are needed"),
            None => Ok(()),
        }
    }
}

/// Caches in a folder that was taken for one.
struct Inside<'a>(&'a [String]);

impl fmt::Display for Inside<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [] => Ok(()),
            [only] => write!(out, "; the cache in it is {only:?}"),
            [first, .., last] => {
                let count = self.0.len();
                write!(out, "; {count} caches are in it, {first:?} to {last:?}")
            }
        }
    }
}

/// What is known about a cache after its writing failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing has the cache's name, or what had it before still has it.
    NotPublished,
    /// The cache is complete under its name, but may be gone after a power failure.
    Unknown,
}

impl StorageError {
    pub(crate) fn io(operation: Operation, path: &Path, source: io::Error) -> Self {
        Self::Io {
            operation,
            path: path.to_owned(),
            source,
            needed_bytes: None,
        }
    }

    /// The same failure of a write that had `bytes` left to write, if it is one for want of room.
    pub(crate) fn needing(mut self, bytes: u64) -> Self {
        if let Self::Io {
            source,
            needed_bytes,
            ..
        } = &mut self
            && matches!(
                source.kind(),
                io::ErrorKind::StorageFull
                    | io::ErrorKind::QuotaExceeded
                    | io::ErrorKind::FileTooLarge
            )
        {
            *needed_bytes = Some(bytes);
        }
        self
    }

    pub(crate) fn cache(cache: &Path, finding: FormatError) -> Self {
        Self::Cache {
            cache: cache.to_owned(),
            finding: Box::new(finding),
        }
    }

    pub(crate) fn refused(source_name: &str, finding: FormatError) -> Self {
        Self::Refused {
            source_name: source_name.to_owned(),
            finding: Box::new(finding),
        }
    }

    /// What a caller can do about it.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Io { .. } | Self::NameNotDurable { .. } => ErrorKind::Io,
            Self::Cache { finding, .. } | Self::Refused { finding, .. } => finding.kind(),
            Self::MissingFile { .. } => ErrorKind::Corrupt,
            Self::NoManifest { .. } => ErrorKind::NotFound,
            Self::NoSuchSample { .. }
            | Self::NoSamples { .. }
            | Self::InvalidOption { .. }
            | Self::ExposedFolder { .. } => ErrorKind::InvalidInput,
            Self::AlreadyFinished { .. } | Self::Occupied { .. } => ErrorKind::AlreadyExists,
            Self::SourceVersion { .. } => ErrorKind::UnsupportedVersion,
            Self::NoMemory { .. } => ErrorKind::OutOfMemory,
            Self::WriterFailed => ErrorKind::Internal,
            Self::Cancelled => ErrorKind::Cancelled,
            Self::Pool(error) => match error {
                PoolError::NoWorkers => ErrorKind::InvalidInput,
                PoolError::WorkerPanicked { .. } => ErrorKind::WorkerPanicked,
                PoolError::Cancelled => ErrorKind::Cancelled,
                // What a later version of the pool can answer is a fault of this library until it is named here.
                _ => ErrorKind::Internal,
            },
        }
    }

    /// What is known about the cache whose writing failed with this error.
    #[must_use]
    pub fn effect(&self) -> Effect {
        match self {
            Self::NameNotDurable { .. } => Effect::Unknown,
            _ => Effect::NotPublished,
        }
    }

    /// The operating system's error number, where it gave one.
    #[must_use]
    pub fn errno(&self) -> Option<i32> {
        match self {
            Self::Io { source, .. } => source.raw_os_error(),
            Self::NameNotDurable { source, .. } => source.errno(),
            _ => None,
        }
    }

    /// The path the error is about, where it is about one.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Io { path, .. }
            | Self::NameNotDurable { path, .. }
            | Self::NoManifest { path, .. }
            | Self::AlreadyFinished { path }
            | Self::Occupied { path }
            | Self::ExposedFolder { path, .. }
            | Self::SourceVersion { path, .. } => Some(path),
            Self::Cache { cache, .. }
            | Self::MissingFile { cache, .. }
            | Self::NoSuchSample { cache, .. } => Some(cache),
            _ => None,
        }
    }

    /// What kind of failure the operating system's is, where it is one.
    #[must_use]
    pub fn io_kind(&self) -> Option<io::ErrorKind> {
        match self {
            Self::Io { source, .. } => Some(source.kind()),
            _ => None,
        }
    }
}
