//! The caches of a dataset: what samples exist.
//!
//! Owns the order of caches, the rule that their columns are equal, and their common digest. Must not know rows or draws. Invariant: a `cache_id` is a position in
//! this set, for its whole life.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dataset_rt_format::{CacheId, Compression, Digest128, FileHasher, MetadataSchema};
use dataset_rt_pool::WorkerPool;
use dataset_rt_replica::Store;
use dataset_rt_sampler::Identity;
use dataset_rt_storage::durable::Disk;
use dataset_rt_storage::load::{LoadedCache, OpenOptions};
use dataset_rt_storage::{InterruptCheck, StorageError};

use crate::config::ReaderOptions;
use crate::error::ReaderError;
use crate::stats::ReadCounters;

/// Opened caches, in `cache_id` order.
#[derive(Debug)]
pub struct CacheSet {
    caches: Vec<Arc<LoadedCache>>,
    identity: Arc<Identity>,
    schema: MetadataSchema,
    digest: Digest128,
    may_hold_compressed: bool,
    counters: Arc<ReadCounters>,
    /// Of caches that come from URLs.
    store: Option<Arc<Store>>,
}

impl CacheSet {
    /// Takes caches in the order of their ids.
    ///
    /// # Errors
    /// [`ReaderError::NoCaches`], and [`ReaderError::SchemaMismatch`] for the first cache whose columns differ from those of the first one.
    pub fn new(caches: Vec<Arc<LoadedCache>>) -> Result<Self, ReaderError> {
        let schema = caches
            .first()
            .ok_or(ReaderError::NoCaches)?
            .manifest()
            .schema()
            .clone();
        for cache in &caches {
            check_schema(cache.path(), &schema, cache.manifest().schema())?;
        }
        let identity = Arc::new(Identity::new(
            caches.iter().map(|cache| cache.sample_count()),
        )?);
        let mut hasher = FileHasher::new();
        for cache in &caches {
            hasher.update(&cache.manifest().content_digest().bytes());
        }
        let may_hold_compressed = caches
            .iter()
            .any(|cache| cache.manifest().compression() != Compression::None);
        Ok(Self {
            identity,
            schema,
            digest: hasher.seal().digest,
            may_hold_compressed,
            counters: Arc::default(),
            store: None,
            caches,
        })
    }

    /// Opens caches in the order of their ids; with `validates_caches` every byte of them is checked first.
    ///
    /// # Errors
    /// As [`new`](Self::new), and [`ReaderError::Cache`] for the first cache that can't be opened or is damaged.
    pub fn open(
        paths: &[impl AsRef<Path>],
        options: &ReaderOptions,
        pool: &Arc<WorkerPool>,
        interrupt: &InterruptCheck,
    ) -> Result<Self, ReaderError> {
        let caches = (0..).map(CacheId::new).zip(paths).map(|(cache, path)| {
            open_cache(path.as_ref(), options, pool, interrupt)
                .map_err(|source| ReaderError::Cache { cache, source })
        });
        Self::new(caches.collect::<Result<_, _>>()?)
    }

    /// The cache with this id.
    #[must_use]
    #[inline]
    pub fn get(&self, cache: CacheId) -> Option<&LoadedCache> {
        self.caches
            .get(usize::try_from(cache.get()).ok()?)
            .map(AsRef::as_ref)
    }

    /// All caches with their ids.
    pub fn iter(&self) -> impl Iterator<Item = (CacheId, &Arc<LoadedCache>)> {
        (0..).map(CacheId::new).zip(&self.caches)
    }

    /// Directories in `cache_id` order.
    #[must_use]
    pub fn paths(&self) -> Vec<PathBuf> {
        self.caches
            .iter()
            .map(|cache| cache.path().to_owned())
            .collect()
    }

    /// The samples that exist.
    #[must_use]
    pub fn identity(&self) -> &Arc<Identity> {
        &self.identity
    }

    /// The stored columns, equal in all caches.
    #[must_use]
    pub fn schema(&self) -> &MetadataSchema {
        &self.schema
    }

    /// Whether a cache was written with compression; otherwise no index has to be asked.
    pub(crate) fn may_hold_compressed(&self) -> bool {
        self.may_hold_compressed
    }

    /// The same set, the caches of which come from URLs as far as the store says.
    #[must_use]
    pub(crate) fn backed_by(mut self, store: Arc<Store>) -> Self {
        self.store = Some(store);
        self
    }

    /// The store of caches that come from URLs; `None` where all are on the disk.
    #[must_use]
    #[inline]
    pub fn store(&self) -> Option<&Arc<Store>> {
        self.store.as_ref()
    }

    /// Counts of what is read through this set.
    pub(crate) fn counters(&self) -> &Arc<ReadCounters> {
        &self.counters
    }

    /// XXH3-128 of the content digests in `cache_id` order.
    ///
    /// # Guarantees
    /// Moving or copying a cache does not change it; other caches, or another order of them, do.
    #[must_use]
    pub fn digest(&self) -> Digest128 {
        self.digest
    }
}

/// Opens one cache as a dataset with these options would.
///
/// # Errors
/// What storage finds.
pub fn open_cache(
    path: &Path,
    options: &ReaderOptions,
    pool: &Arc<WorkerPool>,
    interrupt: &InterruptCheck,
) -> Result<Arc<LoadedCache>, StorageError> {
    let cache = Arc::new(LoadedCache::open(
        &Disk::new(),
        path,
        OpenOptions {
            mapped: options.is_mapped,
        },
    )?);
    if options.validates_caches {
        cache
            .verify(pool, interrupt, &Arc::default())?
            .into_result()?;
    }
    Ok(cache)
}

/// Refuses a cache whose columns are not those of the first one.
///
/// # Errors
/// [`ReaderError::SchemaMismatch`] with both lists of columns.
pub fn check_schema(
    path: &Path,
    first: &MetadataSchema,
    other: &MetadataSchema,
) -> Result<(), ReaderError> {
    if first == other {
        return Ok(());
    }
    let list = |schema: &MetadataSchema| {
        let columns = schema
            .columns()
            .iter()
            .map(|column| format!("{}: {}", column.name, column.value_type));
        columns.collect::<Vec<_>>().join(", ")
    };
    Err(ReaderError::SchemaMismatch {
        path: path.to_owned(),
        expected: list(first),
        found: list(other),
    })
}
