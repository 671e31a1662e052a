//! Shard files, in the order of samples.
//!
//! Owns: the place of each record, the change to a new shard, the digests of shards. Must not: encode, or know rows
//! and schemas.
//! Invariant: records stand back to back in sample order; a shard is closed when it is not empty and the next record
//! would make it longer than the limit. So the bytes of all shards are a function of the records.
//! Format text: `FORMAT.md`, "Shards".

use std::path::{Path, PathBuf};

use dataset_rt_format::limits::MAX_SHARDS;
use dataset_rt_format::{CacheFile, FileSeal, FormatError, ShardId, encode_index_row};

use super::block::Block;
use super::sealed_file::SealedFile;
use crate::durable::{Disk, DiskFile};
use crate::error::StorageError;

/// Bytes after which an open shard is synced while it grows, so that the disk is busy early and little is left for the end.
const SYNCED_BYTES: u64 = 16 * 1024 * 1024;

/// Appends records to shards and tells where they are.
pub(super) struct ShardWriter {
    disk: Disk,
    cache: PathBuf,
    source_name: String,
    max_shard_bytes: u64,
    current: SealedFile,
    current_bytes: u64,
    unsynced_bytes: u64,
    seals: Vec<FileSeal>,
}

impl ShardWriter {
    pub(super) fn create(
        disk: &Disk,
        cache: &Path,
        source_name: &str,
        max_shard_bytes: u64,
    ) -> Result<Self, StorageError> {
        Ok(Self {
            disk: disk.clone(),
            cache: cache.to_owned(),
            source_name: source_name.to_owned(),
            max_shard_bytes,
            current: SealedFile::create(disk, &shard_path(cache, 0))?,
            current_bytes: 0,
            unsynced_bytes: 0,
            seals: Vec::new(),
        })
    }

    /// Appends the records of a block, and their index rows to `index`.
    ///
    /// Returns the files to be synced: shards that became complete, and the open one when much was appended to it.
    pub(super) fn append<P: AsRef<[u8]>>(
        &mut self,
        block: &Block<P>,
        index: &mut Vec<u8>,
    ) -> Result<Vec<DiskFile>, StorageError> {
        let mut to_sync = Vec::new();
        let mut unwritten = 0;
        for (number, head) in block.heads().iter().enumerate() {
            let stored_bytes = u64::from(head.stored_bytes);
            let would_be = self.current_bytes.saturating_add(stored_bytes);
            if self.current_bytes > 0 && would_be > self.max_shard_bytes {
                self.current.append(block.pieces(unwritten..number))?;
                unwritten = number;
                to_sync.push(self.rotate()?);
            }
            index.extend_from_slice(&encode_index_row(
                &head.at(self.shard(), self.current_bytes),
            ));
            self.current_bytes += stored_bytes;
            self.unsynced_bytes += stored_bytes;
        }
        self.current.append(block.pieces(unwritten..block.len()))?;
        if self.unsynced_bytes >= SYNCED_BYTES {
            self.unsynced_bytes = 0;
            to_sync.push(self.current.share());
        }
        Ok(to_sync)
    }

    /// Closes the last shard; all seals in order.
    pub(super) fn finish(mut self) -> (DiskFile, Vec<FileSeal>) {
        let (file, seal) = self.current.finish();
        self.seals.push(seal);
        (file, self.seals)
    }

    fn shard(&self) -> ShardId {
        ShardId::new(u32::try_from(self.seals.len()).unwrap_or(u32::MAX))
    }

    fn rotate(&mut self) -> Result<DiskFile, StorageError> {
        let next = self.seals.len() as u64 + 1;
        if next >= MAX_SHARDS {
            let finding = FormatError::LimitExceeded {
                what: "shards",
                max: MAX_SHARDS,
                found: next + 1,
            };
            return Err(StorageError::refused(&self.source_name, finding));
        }
        let shard = u32::try_from(next).unwrap_or(u32::MAX);
        let started = SealedFile::create(&self.disk, &shard_path(&self.cache, shard))?;
        let (file, seal) = std::mem::replace(&mut self.current, started).finish();
        self.seals.push(seal);
        self.current_bytes = 0;
        self.unsynced_bytes = 0;
        Ok(file)
    }
}

fn shard_path(cache: &Path, shard: u32) -> PathBuf {
    cache.join(CacheFile::Shard(ShardId::new(shard)).path())
}
