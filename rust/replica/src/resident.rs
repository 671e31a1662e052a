//! Which records of a cache are in the store.
//!
//! Owns `resident.bin`: one byte per record. Must not read or write records. Invariant: a byte is set after its record was written, and cleared before its room is given back; what
//! a power cut makes of that order is found by the record's checksum.
//! Format text: `STORE.md`, "resident.bin".

use std::ops::Range;
use std::path::Path;

use dataset_rt_storage::StorageError;
use dataset_rt_storage::durable::{Disk, SparseFile};
use dataset_rt_storage::memory::zeroed;

/// Name of the file, relative to the cache's folder in the store.
pub(crate) const RESIDENT_FILE: &str = "resident.bin";

/// Whether a folder is that of a cache in a store, which is not a cache by itself.
#[must_use]
pub fn is_in_store(folder: &Path) -> bool {
    folder.join(RESIDENT_FILE).is_file()
}

/// The record is not in the store.
pub(crate) const ABSENT: u8 = 0;
/// It is, and nobody needed it since the last look for room.
pub(crate) const RESTING: u8 = 1;
/// It is, and somebody did.
pub(crate) const USED: u8 = 2;

/// The bytes of one cache.
#[derive(Debug)]
pub(crate) struct Resident(SparseFile);

impl Resident {
    pub(crate) fn create(disk: &Disk, folder: &Path, records: u64) -> Result<(), StorageError> {
        SparseFile::create(disk, &folder.join(RESIDENT_FILE), records).map(drop)
    }

    pub(crate) fn open(disk: &Disk, folder: &Path) -> Result<Self, StorageError> {
        Ok(Self(SparseFile::open(disk, &folder.join(RESIDENT_FILE))?))
    }

    /// The byte of one record.
    pub(crate) fn state(&self, sample: u64) -> Result<u8, StorageError> {
        let mut byte = [ABSENT];
        self.0.read_exact_at(&mut byte, sample)?;
        Ok(byte[0])
    }

    /// The bytes of a run of records.
    pub(crate) fn states(&self, samples: Range<u64>) -> Result<Vec<u8>, StorageError> {
        let count = samples.end.saturating_sub(samples.start);
        let mut bytes = zeroed(usize::try_from(count).unwrap_or(usize::MAX))?;
        self.0.read_exact_at(&mut bytes, samples.start)?;
        Ok(bytes)
    }

    /// Sets the bytes of a run of records.
    pub(crate) fn set(&self, samples: Range<u64>, state: u8) -> Result<(), StorageError> {
        let count = samples.end.saturating_sub(samples.start);
        let bytes = vec![state; usize::try_from(count).unwrap_or(usize::MAX)];
        self.0.write_all_at(&bytes, samples.start)
    }
}
