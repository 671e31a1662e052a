//! Full verification of an open cache, in parallel.
//!
//! Owns: hashing every file, and naming the samples that damage concerns. Must not: stop at the first finding, or
//! repair.
//! Invariant: a cache without findings is byte for byte what was published, and its parts fit each other. Records are
//! looked at one by one only where a file's digest does not fit, so an intact cache costs one hash pass.
//! Format text: `FORMAT.md`, "Verification".

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dataset_rt_format::{CacheFile, FileSeal, SampleId, ShardId};
use dataset_rt_pool::{CancelToken, OrderedWindow, WorkerPool};

use super::cache::LoadedCache;
use super::verify_file::verify_file;
use crate::error::StorageError;
use crate::interrupt::InterruptCheck;

/// Findings listed one by one; the rest is counted.
const MAX_LISTED: usize = 1000;

/// One finding of a verification.
#[derive(Debug)]
pub struct Damage {
    /// What is wrong, with cache, file, sample, byte range, expected and found as far as they are known.
    pub error: StorageError,
    /// The samples it concerns; `None` when it can't be told or concerns none.
    pub samples: Option<Range<u64>>,
}

/// Outcome of a full verification.
#[derive(Debug, Default)]
pub struct VerifyReport {
    /// Files hashed.
    pub files: u64,
    /// Bytes hashed.
    pub bytes: u64,
    /// The findings, by file and then by sample.
    pub damages: Vec<Damage>,
    /// Findings beyond those listed.
    pub omitted: u64,
}

impl VerifyReport {
    /// Says whether nothing was found.
    #[must_use]
    pub fn is_intact(&self) -> bool {
        self.damages.is_empty()
    }

    /// The first finding as an error.
    ///
    /// # Errors
    /// That finding.
    pub fn into_result(self) -> Result<(), StorageError> {
        self.damages
            .into_iter()
            .next()
            .map_or(Ok(()), |damage| Err(damage.error))
    }

    fn add(&mut self, verdict: Vec<Damage>) {
        for damage in verdict {
            if self.damages.len() < MAX_LISTED {
                self.damages.push(damage);
            } else {
                self.omitted += 1;
            }
        }
    }
}

/// Counters of a running verification, for whoever shows progress.
#[derive(Debug, Default)]
pub struct VerifyProgress {
    pub(super) bytes: AtomicU64,
    total_bytes: AtomicU64,
}

impl VerifyProgress {
    /// Bytes hashed so far.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Bytes to hash in all; grows by each cache that is begun.
    #[must_use]
    pub fn total_bytes(&self) -> u64 {
        self.total_bytes.load(Ordering::Relaxed)
    }
}

impl LoadedCache {
    /// Verifies every file against the manifest, and that index, metadata and shards fit each other.
    ///
    /// # Errors
    /// Damage is no error but a finding of the report. [`StorageError::Cancelled`] when the interrupt check says so,
    /// [`StorageError::Io`] when a file can't be read, [`StorageError::Pool`] when a worker panicked.
    ///
    /// # Cost
    /// One read and one hash pass over all files, files in parallel. Memory of a read buffer per worker.
    pub fn verify(
        self: &Arc<Self>,
        pool: &Arc<WorkerPool>,
        interrupt: &InterruptCheck,
        progress: &Arc<VerifyProgress>,
    ) -> Result<VerifyReport, StorageError> {
        let total: u64 = self.manifest.files().map(|(_, seal)| seal.bytes).sum();
        progress.total_bytes.fetch_add(total, Ordering::Relaxed);
        let capacity = NonZeroUsize::new(pool.num_workers()).unwrap_or(NonZeroUsize::MIN);
        let mut window: OrderedWindow<Result<Vec<Damage>, StorageError>> =
            OrderedWindow::new(pool, capacity, &CancelToken::new());
        let mut report = VerifyReport::default();
        for (file, seal) in self.manifest.files() {
            if window.is_full()
                && let Some(verdict) = interrupt.take(&mut window)?
            {
                report.add(verdict?);
            }
            let (cache, progress, cancel) = (
                Arc::clone(self),
                Arc::clone(progress),
                window.cancel_token().clone(),
            );
            window.submit(move || verify_file(&cache, file, seal, &progress, &cancel))?;
            report.files += 1;
            report.bytes += seal.bytes;
        }
        while let Some(verdict) = interrupt.take(&mut window)? {
            report.add(verdict?);
        }
        Ok(report)
    }
}

/// What is checked of one file.
pub(super) struct FileCheck<'a> {
    pub(super) cache: &'a LoadedCache,
    pub(super) file: CacheFile,
    pub(super) seal: FileSeal,
}

impl FileCheck<'_> {
    /// Runs `check` on consecutive samples and lists those that fail, neighbours together.
    pub(super) fn name_samples(
        &self,
        samples: Range<u64>,
        cancel: &CancelToken,
        mut check: impl FnMut(SampleId) -> Result<(), StorageError>,
    ) -> Result<Vec<Damage>, StorageError> {
        let mut damages: Vec<Damage> = Vec::new();
        for sample in samples {
            if sample % 1024 == 0 && cancel.is_cancelled() {
                return Err(StorageError::Cancelled);
            }
            let Err(error) = check(SampleId::new(sample)) else {
                continue;
            };
            if error.kind() != dataset_rt_format::ErrorKind::Corrupt {
                return Err(error);
            }
            match damages
                .last_mut()
                .and_then(|damage| damage.samples.as_mut())
            {
                Some(last) if last.end == sample => last.end += 1,
                _ => damages.push(Damage {
                    error,
                    samples: Some(sample..sample + 1),
                }),
            }
        }
        Ok(damages)
    }

    /// The samples of a shard, found by bisection; all samples where the index is damaged.
    pub(super) fn samples_of(&self, shard: ShardId) -> Range<u64> {
        let count = self.cache.sample_count();
        let first_not_below = |wanted: u32| {
            let (mut low, mut high) = (0, count);
            while low < high {
                let middle = low + (high - low) / 2;
                let row = self.cache.index_row(SampleId::new(middle)).ok()?;
                if row.shard.get() < wanted {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            Some(low)
        };
        match (
            first_not_below(shard.get()),
            first_not_below(shard.get().saturating_add(1)),
        ) {
            (Some(start), Some(end)) => start..end,
            _ => 0..count,
        }
    }
}
