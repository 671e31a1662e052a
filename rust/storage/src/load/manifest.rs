//! What an open cache consists of, whichever system wrote it.
//!
//! Owns: the one view of manifests that the rest of the crate and its users have. Must not: read files or check bytes.
//! Invariant: the files listed are those that are read, in the order of their paths.
//! Format text: `FORMAT.md`, "manifest.json"; `ORIGINAL.md`, "manifest.json".

use std::fmt;
use std::sync::Arc;

use dataset_rt_format::{
    CacheFile, Compression, Digest128, Manifest, MetadataSchema, OriginalManifest, Sha256Digest,
    ShardId, SourceInfo,
};

/// The manifest of a cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CacheManifest {
    /// Of format 1.
    Format1(Box<Manifest>),
    /// Of the original system.
    Original {
        /// What it says.
        manifest: Arc<OriginalManifest>,
        /// Length of `metadata.arrow` when it was read, in bytes: the manifest does not say it.
        metadata_bytes: u64,
    },
}

/// The hash of a file as its manifest lists it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileHash {
    /// Of format 1.
    Xxh3(Digest128),
    /// Of the original system.
    Sha256(Sha256Digest),
}

/// Writes the name of the hash and its hexadecimal digits.
impl fmt::Display for FileHash {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Xxh3(digest) => write!(out, "xxh3_128:{digest}"),
            Self::Sha256(digest) => write!(out, "sha256:{digest}"),
        }
    }
}

/// One file of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedFile {
    /// The file.
    pub file: CacheFile,
    /// Its length, in bytes.
    pub bytes: u64,
    /// Its hash.
    pub hash: FileHash,
}

impl CacheManifest {
    /// Whether the original system wrote the cache.
    #[must_use]
    pub fn is_original(&self) -> bool {
        matches!(self, Self::Original { .. })
    }

    /// Its format version; those of the original system count apart.
    #[must_use]
    pub fn format_version(&self) -> u64 {
        match self {
            Self::Format1(_) => dataset_rt_format::manifest::FORMAT_VERSION,
            Self::Original { manifest, .. } => manifest.version,
        }
    }

    /// The source it was written from; the original system recorded no version of it.
    #[must_use]
    pub fn source(&self) -> SourceInfo {
        match self {
            Self::Format1(manifest) => manifest.source.clone(),
            Self::Original { manifest, .. } => SourceInfo {
                name: manifest.source_name.clone(),
                version: None,
            },
        }
    }

    /// Number of samples, at least one.
    #[must_use]
    #[inline]
    pub fn sample_count(&self) -> u64 {
        match self {
            Self::Format1(manifest) => manifest.sample_count,
            Self::Original { manifest, .. } => manifest.sample_count,
        }
    }

    /// Metadata columns.
    #[must_use]
    pub fn schema(&self) -> &MetadataSchema {
        match self {
            Self::Format1(manifest) => &manifest.schema,
            Self::Original { manifest, .. } => &manifest.schema,
        }
    }

    /// Sum of the payload lengths, in bytes.
    #[must_use]
    pub fn payload_bytes(&self) -> u64 {
        match self {
            Self::Format1(manifest) => manifest.payload_bytes,
            Self::Original { manifest, .. } => manifest.payload_bytes(),
        }
    }

    /// Sum of the shard lengths, in bytes.
    #[must_use]
    pub fn stored_bytes(&self) -> u64 {
        let shards = (0..self.shard_count()).filter_map(|shard| self.shard_bytes(shard));
        shards.fold(0, u64::saturating_add)
    }

    /// What was asked for when the cache was written.
    #[must_use]
    pub fn compression(&self) -> Compression {
        match self {
            Self::Format1(manifest) => manifest.compression,
            Self::Original { manifest, .. } => manifest.compression(),
        }
    }

    /// Digest of the data files; moving, copying or touching a cache does not change it.
    #[must_use]
    pub fn content_digest(&self) -> Digest128 {
        match self {
            Self::Format1(manifest) => manifest.content_digest(),
            Self::Original { manifest, .. } => manifest.content_digest(),
        }
    }

    /// Number of shards, at least one.
    #[must_use]
    pub fn shard_count(&self) -> usize {
        match self {
            Self::Format1(manifest) => manifest.shards.len(),
            Self::Original { manifest, .. } => manifest.shards.len(),
        }
    }

    /// Length of a shard, in bytes; `None` for one that is not listed.
    #[must_use]
    #[inline]
    pub fn shard_bytes(&self, shard: usize) -> Option<u64> {
        match self {
            Self::Format1(manifest) => Some(manifest.shards.get(shard)?.bytes),
            Self::Original { manifest, .. } => Some(manifest.shards.get(shard)?.bytes),
        }
    }

    /// Length of `index.bin`, in bytes.
    #[must_use]
    pub fn index_bytes(&self) -> u64 {
        match self {
            Self::Format1(manifest) => manifest.index.bytes,
            Self::Original { manifest, .. } => manifest.index_bytes(),
        }
    }

    /// Length of `metadata.arrow`, in bytes.
    #[must_use]
    pub fn metadata_bytes(&self) -> u64 {
        match self {
            Self::Format1(manifest) => manifest.metadata.bytes,
            Self::Original { metadata_bytes, .. } => *metadata_bytes,
        }
    }

    /// Every file but the manifest and the origin, sorted by path.
    #[must_use]
    pub fn files(&self) -> Vec<ListedFile> {
        match self {
            Self::Format1(manifest) => {
                let listed = manifest.files().map(|(file, seal)| ListedFile {
                    file,
                    bytes: seal.bytes,
                    hash: FileHash::Xxh3(seal.digest),
                });
                listed.collect()
            }
            Self::Original {
                manifest,
                metadata_bytes,
            } => {
                let listed = |file, bytes, digest| ListedFile {
                    file,
                    bytes,
                    hash: FileHash::Sha256(digest),
                };
                let shards = (0..).map(|number| CacheFile::Shard(ShardId::new(number)));
                let shards = shards.zip(&manifest.shards);
                let mut files = vec![
                    listed(CacheFile::Index, manifest.index_bytes(), manifest.index),
                    listed(CacheFile::Metadata, *metadata_bytes, manifest.metadata),
                ];
                files.extend(shards.map(|(file, shard)| listed(file, shard.bytes, shard.sha256)));
                files
            }
        }
    }
}
