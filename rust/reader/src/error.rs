//! What can go wrong between a dataset and a delivered sample.
//!
//! Owns the error type of the crate. Must not carry ready sentences, nor know Python. Invariant: an error about a sample says which cache of the dataset it
//! belongs to, beside what storage found.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_schema::ArrowError;
use dataset_rt_format::{CacheId, ErrorFacts, ErrorKind, FormatError, SampleId};
use dataset_rt_pool::PoolError;
use dataset_rt_replica::ReplicaError;
use dataset_rt_sampler::SamplerError;
use dataset_rt_storage::StorageError;

/// An error of opening, drawing from or sharing a dataset.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReaderError {
    /// A cache could not be opened or read.
    #[error("{source}")]
    Cache {
        /// Position of the cache in the dataset.
        cache: CacheId,
        /// What storage found.
        source: StorageError,
    },
    /// A cache at a URL could not be opened, or its records not be fetched.
    #[error("{source}")]
    Replica {
        /// Position of the cache in the dataset, where it is one cache's error.
        cache: Option<CacheId>,
        /// What was found.
        source: Arc<ReplicaError>,
    },
    /// A file beside the caches could not be read or written.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// A table, a state or a position was refused.
    #[error(transparent)]
    Sampler(#[from] SamplerError),
    /// The worker pool failed.
    #[error(transparent)]
    Pool(#[from] PoolError),
    /// A dataset of no caches was asked for.
    #[error("a dataset needs at least one cache")]
    NoCaches,
    /// A cache has other metadata columns than the first one.
    #[error("cache {}: columns are {found}, those of the first cache are {expected}", path.display())]
    SchemaMismatch {
        /// The cache.
        path: PathBuf,
        /// Columns of the first cache.
        expected: String,
        /// Columns of this one.
        found: String,
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
    /// No loaded cache holds the sample.
    #[error("there is no sample ({cache}, {sample})")]
    NoSuchSample {
        /// The cache asked for.
        cache: CacheId,
        /// The sample asked for.
        sample: SampleId,
    },
    /// The files of a snapshot are damaged or of another version.
    #[error("snapshot {}: {finding}", path.display())]
    Snapshot {
        /// The file.
        path: PathBuf,
        /// The finding.
        #[source]
        finding: Box<FormatError>,
    },
    /// A cache is not the one that a snapshot was taken of.
    #[error("cache {}: content digest is {found}, the snapshot was taken of {expected}", path.display())]
    OtherCache {
        /// The cache.
        path: PathBuf,
        /// Digest in the snapshot.
        expected: String,
        /// Digest of the cache.
        found: String,
    },
    /// A table could not be put together from its columns.
    #[error("the table can't be put together: {source}")]
    Table {
        /// The finding.
        #[source]
        source: ArrowError,
    },
    /// Draws outside a window were asked for.
    #[error("draws {start}..{stop} are outside a window of {draws} draws")]
    OutsideWindow {
        /// First draw asked for.
        start: u64,
        /// End of the draws asked for.
        stop: u64,
        /// Draws of the window.
        draws: u64,
    },
}

impl ReaderError {
    pub(crate) fn snapshot(path: &Path, finding: FormatError) -> Self {
        Self::Snapshot {
            path: path.to_owned(),
            finding: Box::new(finding),
        }
    }

    /// What a store, or the replica of a cache in it, answered.
    pub(crate) fn of_store(cache: Option<CacheId>, source: impl Into<Arc<ReplicaError>>) -> Self {
        Self::Replica {
            cache,
            source: source.into(),
        }
    }

    pub(crate) fn table(source: ArrowError) -> Self {
        Self::Table { source }
    }

    /// What a caller can do about it.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Cache { source, .. } | Self::Storage(source) => source.kind(),
            Self::Replica { source, .. } => source.kind(),
            Self::Sampler(error) => error.kind(),
            Self::Pool(error) => StorageError::from(error.clone()).kind(),
            Self::Snapshot { finding, .. } => finding.kind(),
            Self::NoSuchSample { .. } => ErrorKind::NotFound,
            Self::OtherCache { .. } => ErrorKind::Corrupt,
            Self::Table { .. } => ErrorKind::Internal,
            Self::SchemaMismatch { .. } => ErrorKind::InvalidMetadata,
            Self::NoCaches | Self::InvalidOption { .. } | Self::OutsideWindow { .. } => {
                ErrorKind::InvalidInput
            }
        }
    }

    /// Its fields by name.
    #[must_use]
    pub fn facts(&self) -> ErrorFacts {
        let mut facts = ErrorFacts::default();
        match self {
            Self::Cache { cache, source } => {
                facts = source.facts();
                facts.cache_id = Some(cache.get());
            }
            Self::Replica { cache, source } => {
                facts = source.facts();
                facts.cache_id = cache.map(CacheId::get);
            }
            Self::Storage(source) => facts = source.facts(),
            Self::Sampler(error) => facts = error.facts(),
            Self::Pool(_) => {}
            Self::NoCaches => facts.field = Some("paths".to_owned()),
            Self::SchemaMismatch {
                path,
                expected,
                found,
            } => {
                facts = facts.with_values(expected, found);
                facts.path = Some(path.clone());
            }
            Self::InvalidOption {
                option,
                found,
                expected,
            } => {
                facts = facts.with_values(expected, found);
                facts.field = Some((*option).to_owned());
            }
            Self::NoSuchSample { cache, sample } => {
                facts.cache_id = Some(cache.get());
                facts.sample_id = Some(sample.get());
            }
            Self::Snapshot { path, finding } => {
                facts = finding.facts();
                facts.path = Some(path.clone());
            }
            Self::OtherCache {
                path,
                expected,
                found,
            } => {
                facts = facts.with_values(expected, found);
                facts.path = Some(path.clone());
            }
            Self::Table { source } => facts.found = Some(source.to_string()),
            Self::OutsideWindow { start, stop, draws } => {
                facts = facts.with_values(
                    format_args!("draws within 0..{draws}"),
                    format_args!("{start}..{stop}"),
                );
            }
        }
        facts
    }
}
