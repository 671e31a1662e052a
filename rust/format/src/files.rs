//! Names of the files of a cache, relative to its directory.
//!
//! Owns the spelling of paths inside a cache. Must not join them to a directory or touch one.
//! Invariant: names are made here and never taken from a file, so no stored text can lead a reader out of
//! the cache. Format text: `FORMAT.md`, "Directory".

use std::fmt;

use crate::ids::ShardId;

/// Folder of the shards, relative to the cache.
pub const SHARD_FOLDER: &str = "shards";

/// One file of a cache or of a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CacheFile {
    /// `manifest.json`
    Manifest,
    /// `origin.json`
    Origin,
    /// `blocks.bin`
    Blocks,
    /// `index.bin`
    Index,
    /// `metadata.arrow`
    Metadata,
    /// `shards/NNNNNN.bin`
    Shard(ShardId),
    /// `snapshot.json` of a snapshot directory
    SnapshotHandle,
    /// `tables.bin` of a snapshot directory
    SnapshotTables,
    /// `table.arrow` of a snapshot directory
    SnapshotTable,
    /// `order-<cycle>.bin` of a snapshot directory
    SnapshotOrder(u64),
}

/// Writes the relative path, with `/` between folder and file.
impl fmt::Display for CacheFile {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Manifest => out.write_str("manifest.json"),
            Self::Origin => out.write_str("origin.json"),
            Self::Blocks => out.write_str("blocks.bin"),
            Self::Index => out.write_str("index.bin"),
            Self::Metadata => out.write_str("metadata.arrow"),
            Self::Shard(shard) => write!(out, "{SHARD_FOLDER}/{:06}.bin", shard.get()),
            Self::SnapshotHandle => out.write_str("snapshot.json"),
            Self::SnapshotTables => out.write_str("tables.bin"),
            Self::SnapshotTable => out.write_str("table.arrow"),
            Self::SnapshotOrder(cycle) => write!(out, "order-{cycle}.bin"),
        }
    }
}

impl CacheFile {
    /// The relative path, with `/` between folder and file.
    pub fn path(self) -> String {
        self.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shard_path_has_six_decimal_digits() {
        let path = |shard| CacheFile::Shard(ShardId::new(shard)).path();
        assert_eq!(path(0), "shards/000000.bin");
        assert_eq!(path(42), "shards/000042.bin");
        assert_eq!(path(999_999), "shards/999999.bin");
    }
}
