//! What only all rows together can show: records stand back to back and fill the shards.
//!
//! Owns that check for full verification. Must not be needed for reading: a reader checks each row by
//! itself. Invariant: after `finish` no byte of a shard belongs to two records or to none.
//! Format text: `FORMAT.md`, "index.bin".

use super::IndexRow;
use crate::error::{FormatError, Region, Site};
use crate::files::CacheFile;
use crate::ids::{SampleId, ShardId};
use crate::limits::INDEX_ROW_LEN;

/// Follows the rows of an index in sample order.
#[derive(Debug)]
pub struct IndexAudit<'a> {
    shard_bytes: &'a [u64],
    shard: usize,
    offset: u64,
    shard_is_empty: bool,
    payload_bytes: u64,
    row_bytes: u64,
}

impl<'a> IndexAudit<'a> {
    /// Starts before the first row; `shard_bytes` are the lengths of the shards in order.
    pub const fn new(shard_bytes: &'a [u64]) -> Self {
        Self::with_row_bytes(shard_bytes, INDEX_ROW_LEN)
    }

    /// The same for an index whose rows have another length, in bytes.
    pub const fn with_row_bytes(shard_bytes: &'a [u64], row_bytes: u64) -> Self {
        Self {
            shard_bytes,
            shard: 0,
            offset: 0,
            shard_is_empty: true,
            payload_bytes: 0,
            row_bytes,
        }
    }

    /// Adds the row of the next sample.
    ///
    /// # Errors
    ///
    /// [`FormatError::Mismatch`] where the record does not start at the end of the one before, or starts a
    /// shard before the last one is full.
    pub fn push(&mut self, sample: SampleId, row: &IndexRow) -> Result<(), FormatError> {
        let shard = row.shard.get() as usize;
        if shard != self.shard {
            self.check_full()?;
            self.expect(sample, "shard", self.shard as u64 + 1, shard as u64)?;
            if self.shard_is_empty {
                return self.expect(sample, "shard", self.shard as u64, shard as u64);
            }
            self.shard = shard;
            self.offset = 0;
        }
        self.expect(sample, "offset", self.offset, row.offset_bytes)?;
        let bytes = self.shard_bytes.get(shard).copied().unwrap_or(0);
        row.check_within(sample, bytes)?;
        self.offset = self.offset.saturating_add(u64::from(row.stored_bytes));
        self.shard_is_empty = false;
        self.payload_bytes = self.payload_bytes.saturating_add(u64::from(row.raw_bytes));
        Ok(())
    }

    /// Sum of the payload lengths so far, to be compared with the manifest's.
    pub const fn payload_bytes(&self) -> u64 {
        self.payload_bytes
    }

    /// Checks that the last row ended the last shard.
    ///
    /// # Errors
    ///
    /// [`FormatError::Mismatch`] where bytes or shards are left over.
    pub fn finish(self) -> Result<(), FormatError> {
        self.check_full()?;
        let used = if self.shard_is_empty {
            0
        } else {
            self.shard as u64 + 1
        };
        if used == self.shard_bytes.len() as u64 {
            return Ok(());
        }
        Err(FormatError::Mismatch {
            site: Site::new(CacheFile::Index, Region::File, 0),
            field: "shards in use",
            expected: self.shard_bytes.len() as u64,
            found: used,
        })
    }

    fn check_full(&self) -> Result<(), FormatError> {
        let bytes = self.shard_bytes.get(self.shard).copied().unwrap_or(0);
        if self.offset == bytes {
            return Ok(());
        }
        let shard = ShardId::new(u32::try_from(self.shard).unwrap_or(u32::MAX));
        Err(FormatError::Mismatch {
            site: Site::new(CacheFile::Shard(shard), Region::File, self.offset),
            field: "end of the last record",
            expected: bytes,
            found: self.offset,
        })
    }

    fn expect(
        &self,
        sample: SampleId,
        field: &'static str,
        expected: u64,
        found: u64,
    ) -> Result<(), FormatError> {
        if expected == found {
            return Ok(());
        }
        let offset = sample.get().saturating_mul(self.row_bytes);
        Err(FormatError::Mismatch {
            site: Site::new(CacheFile::Index, Region::IndexRow, offset).about(sample),
            field,
            expected,
            found,
        })
    }
}
