//! From a sample to the place of its record and of its payload.
//!
//! Owns: the one difference between layouts that readers would see. Must not: read payloads.
//! Invariant: what is handed out lies within its shard; bytes of the index come from checked blocks where the cache has
//! block checksums.
//! Format text: `FORMAT.md`, "index.bin"; `ORIGINAL.md`, "index.bin".

use dataset_rt_format::limits::INDEX_ROW_LEN;
use dataset_rt_format::{
    BlockTable, BlockedFile, ByteSource, Codec, IndexRow, SampleId, ShardId, decode_index_row,
};
use std::sync::Arc;

use super::files::read_blocks;
use super::manifest::CacheManifest;
use crate::durable::DirHandle;
use crate::error::StorageError;
use crate::original::OriginalRows;
use crate::read::{CheckedFile, Fault, Shards};

/// Where a record is, told without touching it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordPlace {
    /// The shard that holds it.
    pub shard: ShardId,
    /// Its start in the shard, in bytes.
    pub offset_bytes: u64,
    /// Its length, in bytes.
    pub stored_bytes: u32,
    /// Bytes that decoding it makes, about; 0 where nothing is to be decoded.
    pub decoded_bytes: u32,
}

/// The index of an open cache.
pub(super) enum Rows {
    Format1(CheckedFile),
    Original(OriginalRows),
}

impl Rows {
    /// Opens the index; with it comes the block table, where the cache has one.
    pub(super) fn open(
        dir: &DirHandle,
        manifest: &CacheManifest,
        is_mapped: bool,
    ) -> Result<(Self, Option<Arc<BlockTable>>), StorageError> {
        let table = match manifest {
            CacheManifest::Format1(manifest) => Some(Arc::new(read_blocks(dir, manifest)?)),
            CacheManifest::Original { .. } => None,
        };
        let which = BlockedFile::Index;
        let file = dir.open_file(&which.file().path())?;
        let bytes = manifest.index_bytes();
        let index = CheckedFile::new(which, table.as_ref(), bytes, file, is_mapped)?;
        let rows = match manifest {
            CacheManifest::Format1(_) => Self::Format1(index),
            CacheManifest::Original { manifest, .. } => {
                Self::Original(OriginalRows::new(Arc::clone(manifest), index))
            }
        };
        Ok((rows, table))
    }

    /// Where the record of a sample that exists is.
    #[inline]
    pub(super) fn place(
        &self,
        manifest: &CacheManifest,
        sample: SampleId,
    ) -> Result<RecordPlace, Fault> {
        match self {
            Self::Format1(index) => {
                let row = format1_row(index, manifest, sample)?;
                Ok(RecordPlace {
                    shard: row.shard,
                    offset_bytes: row.offset_bytes,
                    stored_bytes: row.stored_bytes,
                    decoded_bytes: match row.codec {
                        Codec::Raw => 0,
                        Codec::Lz4 => row.raw_bytes,
                    },
                })
            }
            Self::Original(rows) => rows.place(sample),
        }
    }

    /// The row of a sample whose index block was checked before, in a cache that has checksums of records.
    #[inline]
    pub(super) fn checked_row(&self, sample: SampleId) -> Option<IndexRow> {
        let Self::Format1(index) = self else {
            return None;
        };
        let offset = sample.get().checked_mul(INDEX_ROW_LEN)?;
        decode_index_row(sample, &index.checked_array(offset)?).ok()
    }

    /// Where the stored payload of a sample that exists is.
    #[inline]
    pub(super) fn payload(
        &self,
        dir: &DirHandle,
        manifest: &CacheManifest,
        shards: &Shards,
        sample: SampleId,
    ) -> Result<IndexRow, Fault> {
        match self {
            Self::Format1(index) => format1_row(index, manifest, sample),
            Self::Original(rows) => rows.payload(dir, shards, sample),
        }
    }
}

#[inline]
fn format1_row(
    index: &CheckedFile,
    manifest: &CacheManifest,
    sample: SampleId,
) -> Result<IndexRow, Fault> {
    let bytes = index.array(sample.get() * INDEX_ROW_LEN)?;
    let row = decode_index_row(sample, &bytes)?;
    let shard_bytes = manifest.shard_bytes(row.shard.get() as usize);
    row.check_within(sample, shard_bytes.unwrap_or(0))?;
    Ok(row)
}
