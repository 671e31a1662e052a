//! The manifest as a value.
//!
//! Owns what a manifest says; paths are not part of it, they follow from the shard count. Must not know JSON.
//! Invariant: content digest, ratio and file list are functions of the other fields.
//! Format text: `FORMAT.md`, "manifest.json".

use crate::checksum::FileSeal;
use crate::error::{FormatError, Region, Site};
use crate::files::CacheFile;
use crate::ids::ShardId;
use crate::limits::{INDEX_ROW_LEN, MAX_SHARDS};
use crate::metadata::MetadataSchema;
use crate::record::Compression;

/// Value of the key `format`.
pub const FORMAT_NAME: &str = "dataset_rt";
/// Newest `format_version` that this build reads, and the one it writes.
pub const FORMAT_VERSION: u64 = 1;

/// Bit masks of additions that later versions make to the format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features {
    /// Readers and writers that don't know them may ignore them.
    pub compatible: u64,
    /// Readers that don't know them may read, but must not rewrite the cache in place.
    pub read_only: u64,
    /// Readers that don't know them must refuse the cache. Format 1 knows none.
    pub incompatible: u64,
}

/// The source a cache was written from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceInfo {
    /// Its name, one plain path segment.
    pub name: String,
    /// Its version text, where it gave one.
    pub version: Option<String>,
}

/// What a cache consists of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// Feature bits.
    pub features: Features,
    /// The source.
    pub source: SourceInfo,
    /// Number of samples, at least one.
    pub sample_count: u64,
    /// Sum of the payload lengths, in bytes.
    pub payload_bytes: u64,
    /// What was asked for when the cache was written.
    pub compression: Compression,
    /// Metadata columns.
    pub schema: MetadataSchema,
    /// `blocks.bin`
    pub blocks: FileSeal,
    /// `index.bin`
    pub index: FileSeal,
    /// `metadata.arrow`
    pub metadata: FileSeal,
    /// The shards in order, at least one.
    pub shards: Vec<FileSeal>,
}

impl Manifest {
    /// Every listed file with its length and digest, sorted by path.
    pub fn files(&self) -> impl Iterator<Item = (CacheFile, FileSeal)> + '_ {
        let fixed = [
            (CacheFile::Blocks, self.blocks),
            (CacheFile::Index, self.index),
            (CacheFile::Metadata, self.metadata),
        ];
        let shards = (0..).map(|shard| CacheFile::Shard(ShardId::new(shard)));
        fixed
            .into_iter()
            .chain(shards.zip(self.shards.iter().copied()))
    }

    /// Sum of the shard lengths, in bytes.
    pub fn stored_bytes(&self) -> u64 {
        self.shards
            .iter()
            .fold(0, |sum, shard| sum.saturating_add(shard.bytes))
    }

    /// Payload bytes per stored byte; 1 where nothing is stored.
    pub fn compression_ratio(&self) -> f64 {
        match self.stored_bytes() {
            0 => 1.0,
            stored => self.payload_bytes as f64 / stored as f64,
        }
    }

    /// Checks what the counts say about each other.
    pub(super) fn check_counts(&self) -> Result<(), FormatError> {
        let site = Site::new(CacheFile::Manifest, Region::Json, 0);
        let range = |field, min, max, found| {
            if (min..=max).contains(&found) {
                return Ok(());
            }
            Err(FormatError::OutOfRange {
                site,
                field,
                min,
                max,
                found,
            })
        };
        range(
            "sample_count",
            1,
            u64::MAX / INDEX_ROW_LEN,
            self.sample_count,
        )?;
        range("number of shards", 1, MAX_SHARDS, self.shards.len() as u64)?;
        let expected = self.sample_count * INDEX_ROW_LEN;
        if self.index.bytes != expected {
            let found = self.index.bytes;
            return Err(FormatError::Mismatch {
                site,
                field: "length of index.bin",
                expected,
                found,
            });
        }
        Ok(())
    }
}
