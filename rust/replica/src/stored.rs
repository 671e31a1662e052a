//! The folder of one cache in the store, open.
//!
//! Owns: where records are in it, and which of them are there. Must not: fetch. Invariant: places come from checked rows of the index.
//! Format text: `STORE.md`, "Folders".

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dataset_rt_format::{CacheFile, Digest128, SampleId, ShardId};
use dataset_rt_storage::StorageError;
use dataset_rt_storage::durable::{Disk, SparseFile};
use dataset_rt_storage::load::{LoadedCache, OpenOptions};

use crate::error::ReplicaError;
use crate::plan::RecordRange;
use crate::resident::Resident;

/// A cache whose records are there as far as they are resident.
#[derive(Debug)]
pub(crate) struct StoredCache {
    pub(crate) cache: Arc<LoadedCache>,
    pub(crate) resident: Resident,
    pub(crate) digest: Digest128,
    disk: Disk,
    folder: PathBuf,
}

impl StoredCache {
    pub(crate) fn open(
        disk: &Disk,
        folder: &Path,
        options: OpenOptions,
    ) -> Result<Self, StorageError> {
        let cache = Arc::new(LoadedCache::open(disk, folder, options)?);
        Ok(Self {
            resident: Resident::open(disk, folder)?,
            digest: cache.manifest().content_digest(),
            cache,
            disk: disk.clone(),
            folder: folder.to_owned(),
        })
    }

    /// Where the record of a sample is.
    pub(crate) fn range(&self, sample: u64) -> Result<RecordRange, ReplicaError> {
        let place = self.cache.record_place(SampleId::new(sample))?;
        Ok(RecordRange {
            shard: place.shard.get(),
            start_bytes: place.offset_bytes,
            end_bytes: place.offset_bytes + u64::from(place.stored_bytes),
        })
    }

    /// The file of a shard; opened for each use: a cache may have more shards than a process has descriptors.
    pub(crate) fn shard(&self, shard: u32) -> Result<SparseFile, StorageError> {
        let name = CacheFile::Shard(ShardId::new(shard)).path();
        SparseFile::open(&self.disk, &self.folder.join(name))
    }

    /// Samples of a shard whose records hold bytes of a range of it.
    pub(crate) fn samples_in(
        &self,
        shard: u32,
        bytes: &Range<u64>,
    ) -> Result<Range<u64>, ReplicaError> {
        let first = self.first(|range| (range.shard, range.end_bytes) > (shard, bytes.start))?;
        let end = self.first(|range| (range.shard, range.start_bytes) >= (shard, bytes.end))?;
        Ok(first..end.max(first))
    }

    /// The first sample whose record is so; records before it are not, and those behind it are.
    fn first(&self, is_so: impl Fn(RecordRange) -> bool) -> Result<u64, ReplicaError> {
        let (mut low, mut high) = (0, self.cache.sample_count());
        while low < high {
            let middle = low + (high - low) / 2;
            match is_so(self.range(middle)?) {
                true => high = middle,
                false => low = middle + 1,
            }
        }
        Ok(low)
    }
}
