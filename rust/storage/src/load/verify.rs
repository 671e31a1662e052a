//! Full verification of a cache, in parallel.
//!
//! Owns: the order of files and the report. Must not: stop at the first finding, or repair.
//! Invariant: a cache without findings is byte for byte what was published, and its parts fit each other. Records of
//! format 1 are looked at one by one only where a file's digest does not fit, so an intact cache costs one hash pass.
//! Format text: `FORMAT.md`, "Verification"; `ORIGINAL.md`, "Verification".

use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dataset_rt_format::ErrorKind;
use dataset_rt_pool::{CancelToken, OrderedWindow, WorkerPool};

use super::cache::{LoadedCache, OpenOptions};
use super::files::read_manifest_in;
use super::manifest::CacheManifest;
use super::verify_file::FileCheck;
use crate::durable::{DirHandle, Disk};
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
    /// Samples of the cache.
    pub sample_count: u64,
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

/// Verifies the cache at `path` also where it is too damaged to be opened.
///
/// # Errors
/// What keeps it from being taken for a cache at all: no manifest, a damaged one, another version. Otherwise as
/// [`LoadedCache::verify`].
///
/// # Cost
/// As [`LoadedCache::verify`].
pub fn verify_cache(
    disk: &Disk,
    path: &Path,
    pool: &Arc<WorkerPool>,
    interrupt: &InterruptCheck,
    progress: &Arc<VerifyProgress>,
) -> Result<VerifyReport, StorageError> {
    let dir = Arc::new(DirHandle::open(disk, path)?);
    let manifest = Arc::new(read_manifest_in(&dir)?);
    match LoadedCache::open_in(Arc::clone(&dir), OpenOptions::default()) {
        Ok(cache) => Arc::new(cache).verify(pool, interrupt, progress),
        Err(error) if error.kind() == ErrorKind::Corrupt => {
            // Each file is judged by itself: the parts that would have to fit can't be read together.
            let verification = Verification {
                dir,
                manifest,
                cache: None,
            };
            let mut report = verification.run(pool, interrupt, progress)?;
            if report.is_intact() {
                report.add(vec![Damage {
                    error,
                    samples: None,
                }]);
            }
            Ok(report)
        }
        Err(error) => Err(error),
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
    /// One read and one hash pass over all files, files in parallel; caches of the original system are read twice.
    /// Memory of a read buffer and a record per worker.
    pub fn verify(
        self: &Arc<Self>,
        pool: &Arc<WorkerPool>,
        interrupt: &InterruptCheck,
        progress: &Arc<VerifyProgress>,
    ) -> Result<VerifyReport, StorageError> {
        let verification = Verification {
            dir: Arc::clone(&self.dir),
            manifest: Arc::clone(&self.manifest),
            cache: Some(Arc::clone(self)),
        };
        verification.run(pool, interrupt, progress)
    }
}

/// What is verified: a directory by its manifest, and the open cache where there is one.
struct Verification {
    dir: Arc<DirHandle>,
    manifest: Arc<CacheManifest>,
    cache: Option<Arc<LoadedCache>>,
}

impl Verification {
    fn run(
        &self,
        pool: &Arc<WorkerPool>,
        interrupt: &InterruptCheck,
        progress: &Arc<VerifyProgress>,
    ) -> Result<VerifyReport, StorageError> {
        let files = self.manifest.files();
        let total: u64 = files.iter().map(|listed| listed.bytes).sum();
        progress.total_bytes.fetch_add(total, Ordering::Relaxed);
        let capacity = NonZeroUsize::new(pool.num_workers()).unwrap_or(NonZeroUsize::MIN);
        let mut window: OrderedWindow<Result<Vec<Damage>, StorageError>> =
            OrderedWindow::new(pool, capacity, &CancelToken::new());
        let mut report = VerifyReport {
            sample_count: self.manifest.sample_count(),
            ..VerifyReport::default()
        };
        for listed in files {
            // Files that are done before they are waited for leave no other moment to ask.
            interrupt.check()?;
            if window.is_full()
                && let Some(verdict) = interrupt.take(&mut window)?
            {
                report.add(verdict?);
            }
            let (dir, cache, progress, cancel) = (
                Arc::clone(&self.dir),
                self.cache.clone(),
                Arc::clone(progress),
                window.cancel_token().clone(),
            );
            window.submit(move || {
                let check = FileCheck {
                    dir: &dir,
                    cache: cache.as_deref(),
                    listed,
                };
                check.run(&progress, &cancel)
            })?;
            report.files += 1;
            report.bytes += listed.bytes;
        }
        while let Some(verdict) = interrupt.take(&mut window)? {
            report.add(verdict?);
        }
        Ok(report)
    }
}
