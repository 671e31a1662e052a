//! How a cache is to be written.
//!
//! Owns: the options of one cache and their bounds. Must not: choose defaults that depend on the machine.
//! Invariant: an accepted set of options can't make the writer hold more than a bounded amount of memory.
//! Format text: `FORMAT.md`, "Shards".

use std::num::NonZeroUsize;

use dataset_rt_format::{Compression, check_source_name};
use dataset_rt_pool::WorkerPool;

use crate::error::StorageError;

/// What to do with a finished cache that was written from another version of the source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnVersionChange {
    /// Answer with [`StorageError::SourceVersion`] and leave the cache.
    #[default]
    Refuse,
    /// Write the cache anew and exchange the directories.
    Rebuild,
}

/// Options of one cache.
#[derive(Clone, Debug)]
pub struct WriteOptions {
    /// Most encoding tasks in flight; the number of workers is a bound too. At least 1.
    pub prefetch_size: usize,
    /// Length after which a shard is closed, in bytes. At least 1. A larger record gets a shard of its own.
    pub max_shard_bytes: u64,
    /// How records are stored.
    pub compression: Compression,
    /// Name of the source, where it is not the name of the directory.
    pub source_name: Option<String>,
    /// Version text of the source; recorded, and compared on reuse.
    pub source_version: Option<String>,
    /// What to do when a finished cache has another version.
    pub on_version_change: OnVersionChange,
    /// Whether a finished cache is verified in full before it is reused.
    pub validates_reused: bool,
    /// Version text of the package that writes, for `origin.json`.
    pub writer_version: String,
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self {
            prefetch_size: 64,
            max_shard_bytes: 64 * 1024 * 1024,
            compression: Compression::None,
            source_name: None,
            source_version: None,
            on_version_change: OnVersionChange::Refuse,
            validates_reused: false,
            writer_version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

impl WriteOptions {
    /// Refuses values out of bounds.
    ///
    /// # Errors
    /// [`StorageError::InvalidOption`], [`StorageError::Refused`] for a source name that is no path segment.
    pub fn check(&self) -> Result<(), StorageError> {
        let at_least_one = |option, value: u64| match value {
            0 => Err(StorageError::InvalidOption {
                option,
                found: "0".to_owned(),
                expected: "at least 1",
            }),
            _ => Ok(()),
        };
        if let Some(name) = &self.source_name {
            check_source_name(name).map_err(|finding| StorageError::refused(name, finding))?;
        }
        at_least_one("prefetch_size", self.prefetch_size as u64)?;
        at_least_one("max_shard_bytes", self.max_shard_bytes)
    }

    /// Most tasks that all writers of one call may have on the pool.
    pub(super) fn tasks_in_flight(&self, pool: &WorkerPool) -> NonZeroUsize {
        let tasks = pool.num_workers().min(self.prefetch_size);
        NonZeroUsize::new(tasks).unwrap_or(NonZeroUsize::MIN)
    }
}
