//! The block table as a value: which block of which file has which checksum.
//!
//! Owns look-ups and their arithmetic, and the encoding. Must not read files. Invariant: a table in memory is
//! consistent: block counts fit the lengths, row ends rise and the last one is the row count.
//! Format text: `FORMAT.md`, "blocks.bin".

use std::ops::Range;

use super::BlockSums;
use crate::checksum::block_checksum;
use crate::error::{FormatError, Region, Site};
use crate::files::CacheFile;
use crate::ids::Checksum;
use crate::limits::{BLOCK_BYTES, INDEX_ROW_LEN};
use crate::manifest::Manifest;

/// First eight bytes of `blocks.bin`.
pub(super) const MAGIC: [u8; 8] = *b"DRTBLKS1";
/// Version of the layout of `blocks.bin`.
pub(super) const LAYOUT_VERSION: u32 = 1;
/// Bytes before the batch ends.
pub(super) const HEADER_BYTES: u64 = 40;
/// Bytes of the checksum at the end.
pub(super) const TRAILER_BYTES: u64 = 8;

/// A file that is checked block by block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlockedFile {
    /// `index.bin`
    Index,
    /// `metadata.arrow`
    Metadata,
}

impl BlockedFile {
    /// The file.
    pub const fn file(self) -> CacheFile {
        match self {
            Self::Index => CacheFile::Index,
            Self::Metadata => CacheFile::Metadata,
        }
    }
}

/// Block checksums of `index.bin` and `metadata.arrow`, and where metadata batches end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockTable {
    pub(super) index_bytes: u64,
    pub(super) metadata_bytes: u64,
    pub(super) batch_ends: Box<[u64]>,
    pub(super) index_sums: Box<[u64]>,
    pub(super) metadata_sums: Box<[u64]>,
}

impl BlockTable {
    /// A table of two files that were just written.
    ///
    /// # Errors
    ///
    /// [`FormatError::Mismatch`] and [`FormatError::OutOfRange`] where the parts do not fit each other.
    pub fn new(
        index: BlockSums,
        metadata: BlockSums,
        batch_ends: Vec<u64>,
    ) -> Result<Self, FormatError> {
        let table = Self {
            index_bytes: index.bytes,
            metadata_bytes: metadata.bytes,
            batch_ends: batch_ends.into_boxed_slice(),
            index_sums: index.sums.into_boxed_slice(),
            metadata_sums: metadata.sums.into_boxed_slice(),
        };
        table.check_rows()?;
        Ok(table)
    }

    /// Length of a file in bytes.
    #[inline]
    pub const fn file_bytes(&self, file: BlockedFile) -> u64 {
        match file {
            BlockedFile::Index => self.index_bytes,
            BlockedFile::Metadata => self.metadata_bytes,
        }
    }

    /// Number of rows of the cache.
    #[inline]
    pub const fn row_count(&self) -> u64 {
        self.index_bytes / INDEX_ROW_LEN
    }

    /// Rows before the end of each metadata batch, rising; the last is the row count.
    #[inline]
    pub const fn batch_ends(&self) -> &[u64] {
        &self.batch_ends
    }

    /// Number of blocks of a file.
    #[inline]
    pub fn block_count(&self, file: BlockedFile) -> usize {
        self.sums(file).len()
    }

    /// Bytes of a block, as a range of its file; `None` beyond the last block.
    #[inline]
    pub fn block_range(&self, file: BlockedFile, block: usize) -> Option<Range<u64>> {
        if block >= self.block_count(file) {
            return None;
        }
        let start = block as u64 * BLOCK_BYTES;
        Some(start..(start + BLOCK_BYTES).min(self.file_bytes(file)))
    }

    /// Checks the bytes of a block.
    ///
    /// # Errors
    ///
    /// [`FormatError::Absent`] where the file has no such block, [`FormatError::Truncated`] for another
    /// length, [`FormatError::ChecksumMismatch`] for other bytes.
    ///
    /// # Cost
    ///
    /// One hash pass over the block.
    pub fn check_block(
        &self,
        file: BlockedFile,
        block: usize,
        bytes: &[u8],
    ) -> Result<(), FormatError> {
        let (Some(range), Some(expected)) =
            (self.block_range(file, block), self.sums(file).get(block))
        else {
            let count = self.block_count(file) as u64;
            return Err(FormatError::Absent {
                what: "block",
                count,
                found: block as u64,
            });
        };
        let site = Site::new(file.file(), Region::Block, range.start);
        let expected_bytes = range.end - range.start;
        let found_bytes = bytes.len() as u64;
        if found_bytes != expected_bytes {
            return Err(FormatError::Truncated {
                site,
                expected_bytes,
                found_bytes,
            });
        }
        let found = block_checksum(bytes);
        let expected = Checksum::new(*expected);
        if found == expected {
            return Ok(());
        }
        Err(FormatError::ChecksumMismatch {
            site,
            covered_bytes: expected_bytes,
            expected,
            found,
        })
    }

    /// Compares lengths and row count with the manifest.
    ///
    /// # Errors
    ///
    /// [`FormatError::Mismatch`] naming the first that differs.
    pub fn check_lengths(&self, manifest: &Manifest) -> Result<(), FormatError> {
        let pairs = [
            (
                "length of index.bin",
                16,
                manifest.index.bytes,
                self.index_bytes,
            ),
            (
                "length of metadata.arrow",
                24,
                manifest.metadata.bytes,
                self.metadata_bytes,
            ),
            ("row count", 16, manifest.sample_count, self.row_count()),
        ];
        for (field, offset, expected, found) in pairs {
            if expected != found {
                let site = Site::new(CacheFile::Blocks, Region::Header, offset);
                return Err(FormatError::Mismatch {
                    site,
                    field,
                    expected,
                    found,
                });
            }
        }
        Ok(())
    }

    /// The bytes of `blocks.bin`.
    pub fn encode(&self) -> Vec<u8> {
        let numbers = self.batch_ends.len() + self.index_sums.len() + self.metadata_sums.len();
        let mut out = Vec::with_capacity(48 + 8 * numbers);
        out.extend_from_slice(&MAGIC);
        out.extend_from_slice(&LAYOUT_VERSION.to_le_bytes());
        out.extend_from_slice(&65_536_u32.to_le_bytes());
        out.extend_from_slice(&self.index_bytes.to_le_bytes());
        out.extend_from_slice(&self.metadata_bytes.to_le_bytes());
        out.extend_from_slice(&(self.batch_ends.len() as u64).to_le_bytes());
        for part in [&self.batch_ends, &self.index_sums, &self.metadata_sums] {
            for number in part {
                out.extend_from_slice(&number.to_le_bytes());
            }
        }
        let checksum = block_checksum(&out);
        out.extend_from_slice(&checksum.get().to_le_bytes());
        out
    }

    fn sums(&self, file: BlockedFile) -> &[u64] {
        match file {
            BlockedFile::Index => &self.index_sums,
            BlockedFile::Metadata => &self.metadata_sums,
        }
    }
}
