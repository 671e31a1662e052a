//! One cache at a URL and its folder in the store.
//!
//! Owns: filling records into the folder. Must not: decide which, or when. Invariant: bytes are written only after the checksum of each of their records was compared, and
//! a record is marked only after it was written.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dataset_rt_format::{CacheFile, FormatError, SampleId, ShardId, check_record};
use dataset_rt_pool::WorkerPool;
use dataset_rt_storage::durable::Disk;
use dataset_rt_storage::load::{LoadedCache, OpenOptions};
use dataset_rt_storage::{InterruptCheck, StorageError};

use crate::error::ReplicaError;
use crate::folder::open_folder;
use crate::options::StoreOptions;
use crate::plan::Run;
use crate::remote::{Finding, Remote};
use crate::resident::{ABSENT, USED};
use crate::stored::StoredCache;
use crate::transport::Transport;

/// Number of the next replica of this process.
static NEXT_NUMBER: AtomicU64 = AtomicU64::new(0);

/// A cache whose records come from a URL as they are needed.
#[derive(Debug)]
pub struct Replica {
    pub(crate) number: u64,
    pub(crate) remote: Arc<Remote>,
    pub(crate) stored: StoredCache,
}

impl Replica {
    /// Opens the cache at a URL: its manifest is read there, and index and metadata too, unless the store has them.
    ///
    /// # Errors
    /// What the object store or the disk answers, and what opening a cache finds.
    pub fn open(
        url: &str,
        transport: Arc<dyn Transport>,
        options: &StoreOptions,
        cache_options: OpenOptions,
        pool: &Arc<WorkerPool>,
        interrupt: &InterruptCheck,
    ) -> Result<Self, ReplicaError> {
        let disk = Disk::new();
        let remote = Arc::new(Remote::new(url, transport, options));
        let folder = open_folder(&disk, &options.path, &remote, pool, interrupt)?;
        Ok(Self::of(
            remote,
            StoredCache::open(&disk, &folder, cache_options)?,
        ))
    }

    /// Opens a cache whose folder another process found or made in the store; asks the object store nothing.
    ///
    /// # Errors
    /// What opening a cache finds.
    pub fn attach(
        url: &str,
        folder: &Path,
        transport: Arc<dyn Transport>,
        options: &StoreOptions,
        cache_options: OpenOptions,
    ) -> Result<Self, ReplicaError> {
        let remote = Arc::new(Remote::new(url, transport, options));
        let stored = StoredCache::open(&Disk::new(), folder, cache_options)?;
        Ok(Self::of(remote, stored))
    }

    fn of(remote: Arc<Remote>, stored: StoredCache) -> Self {
        Self {
            number: NEXT_NUMBER.fetch_add(1, Ordering::Relaxed),
            remote,
            stored,
        }
    }

    /// The cache, whose records are there as far as they are resident.
    #[must_use]
    pub fn cache(&self) -> &Arc<LoadedCache> {
        &self.stored.cache
    }

    /// The URL it comes from.
    #[must_use]
    pub fn url(&self) -> &str {
        self.remote.url()
    }

    /// Whether the record of a sample is in the store; notes that it is used.
    ///
    /// # Errors
    /// [`ReplicaError::Storage`].
    ///
    /// # Cost
    /// One system call; a second one for a record that was not used lately.
    pub(crate) fn touch(&self, sample: SampleId) -> Result<bool, StorageError> {
        let sample = sample.get();
        Ok(match self.stored.resident.state(sample)? {
            ABSENT => false,
            USED => true,
            _ => {
                self.stored.resident.set(sample..sample + 1, USED)?;
                true
            }
        })
    }

    /// Forgets that the record of a sample is in the store.
    pub(crate) fn forget(&self, sample: SampleId) -> Result<(), StorageError> {
        let sample = sample.get();
        self.stored.resident.set(sample..sample + 1, ABSENT)
    }

    /// Fetches a run of records, compares each with its checksum, writes them and marks them. Where some are wrong the others are kept: only those fail then.
    ///
    /// # Errors
    /// What the object store or the disk answers.
    pub(crate) fn fill(&self, run: &Run, is_wanted: &dyn Fn() -> bool) -> Result<(), ReplicaError> {
        if !run.bytes.is_empty() {
            let file = CacheFile::Shard(ShardId::new(run.shard)).path();
            let number = usize::try_from(run.shard).unwrap_or(usize::MAX);
            let shard_bytes = self.cache().manifest().shard_bytes(number).unwrap_or(0);
            let range = run.bytes.clone();
            self.remote
                .read(&file, range, shard_bytes, is_wanted, &mut |bytes| {
                    let (right, finding) = self.check(run, bytes).map_err(local)?;
                    let shard = self.stored.shard(run.shard).map_err(local)?;
                    for part in right {
                        let start = part.bytes.start;
                        let found = slice(bytes, start - run.bytes.start, part.bytes.end - start);
                        shard.write_all_at(found, start).map_err(local)?;
                        let marked = self.stored.resident.set(part.samples, USED);
                        marked.map_err(local)?;
                    }
                    finding.map_or(Ok(()), |finding| Err(Finding::Wrong(finding)))
                })?;
            return Ok(());
        }
        Ok(self.stored.resident.set(run.samples.clone(), USED)?)
    }

    /// Compares every record of a run with its row: parts of the run that are right, and the first finding.
    fn check(
        &self,
        run: &Run,
        bytes: &[u8],
    ) -> Result<(Vec<Run>, Option<FormatError>), StorageError> {
        let (mut right, mut finding): (Vec<Run>, _) = (Vec::new(), None);
        for sample in run.samples.clone() {
            let id = SampleId::new(sample);
            let row = self.cache().index_row(id)?;
            let (start, length) = (row.offset_bytes, u64::from(row.stored_bytes));
            let stored = slice(bytes, start.saturating_sub(run.bytes.start), length);
            if let Err(wrong) = check_record(id, &row, stored) {
                finding.get_or_insert(wrong);
                continue;
            }
            match right.last_mut() {
                Some(part) if part.samples.end == sample => {
                    part.samples.end = sample + 1;
                    part.bytes.end = start + length;
                }
                _ => right.push(Run {
                    samples: sample..sample + 1,
                    bytes: start..start + length,
                    ..run.clone()
                }),
            }
        }
        Ok((right, finding))
    }
}

fn local(error: StorageError) -> Finding {
    Finding::Local(error.into())
}

/// A range of bytes, empty if it is not there.
fn slice(bytes: &[u8], start: u64, length: u64) -> &[u8] {
    usize::try_from(start)
        .ok()
        .and_then(|start| bytes.get(start..))
        .and_then(|rest| rest.get(..usize::try_from(length).ok()?))
        .unwrap_or_default()
}
