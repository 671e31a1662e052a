//! Decoding of `blocks.bin`, which is checked whole before any of it is used.
//!
//! Owns the order of checks: length, magic, version, lengths, checksum, row ends. Must not allocate before
//! the declared counts fit the bytes there are. Invariant: a decoded table encodes to the same bytes.
//! Format text: `FORMAT.md`, "blocks.bin".

use super::BlockTable;
use super::table::{HEADER_BYTES, LAYOUT_VERSION, MAGIC, TRAILER_BYTES};
use crate::checksum::block_checksum;
use crate::coding::Steps;
use crate::error::{FormatError, Region, Site};
use crate::files::CacheFile;
use crate::ids::Checksum;
use crate::limits::{BLOCK_BYTES, INDEX_ROW_LEN};

impl BlockTable {
    /// Reads `blocks.bin`.
    ///
    /// # Errors
    ///
    /// [`FormatError::UnsupportedVersion`] for a later layout; otherwise a located finding of kind `Corrupt`.
    ///
    /// # Cost
    ///
    /// One hash pass; memory of about the file's length.
    pub fn decode(bytes: &[u8]) -> Result<Self, FormatError> {
        let short = |needed| FormatError::Truncated {
            site: Site::new(CacheFile::Blocks, Region::File, 0),
            expected_bytes: needed,
            found_bytes: bytes.len() as u64,
        };
        let least = HEADER_BYTES + TRAILER_BYTES;
        let mut steps = Steps::new(bytes);
        let magic = steps.array::<8>().ok_or_else(|| short(least))?;
        if magic != MAGIC {
            let site = Site::new(CacheFile::Blocks, Region::Header, 0);
            return Err(FormatError::WrongMagic {
                site,
                expected: MAGIC,
                found: magic,
            });
        }
        let version = steps.u32().ok_or_else(|| short(least))?;
        if version != LAYOUT_VERSION {
            return Err(FormatError::UnsupportedVersion {
                file: CacheFile::Blocks,
                supported: u64::from(LAYOUT_VERSION),
                found: u64::from(version),
            });
        }
        let block_bytes = u64::from(steps.u32().ok_or_else(|| short(least))?);
        expect(Region::Header, 12, "block size", BLOCK_BYTES, block_bytes)?;
        let index_bytes = steps.u64().ok_or_else(|| short(least))?;
        let metadata_bytes = steps.u64().ok_or_else(|| short(least))?;
        let batch_count = steps.u64().ok_or_else(|| short(least))?;

        let index_blocks = index_bytes.div_ceil(BLOCK_BYTES);
        let metadata_blocks = metadata_bytes.div_ceil(BLOCK_BYTES);
        // Saturation can't hide a fault: no slice has 2^64 - 1 bytes.
        let needed = batch_count
            .saturating_add(index_blocks)
            .saturating_add(metadata_blocks)
            .saturating_mul(8)
            .saturating_add(least);
        if needed != bytes.len() as u64 {
            return Err(short(needed));
        }
        check_trailer(bytes)?;
        let mut numbers = |count: u64| {
            usize::try_from(count)
                .ok()
                .and_then(|n| steps.u64s(n))
                .ok_or_else(|| short(needed))
        };
        let table = Self {
            index_bytes,
            metadata_bytes,
            batch_ends: numbers(batch_count)?,
            index_sums: numbers(index_blocks)?,
            metadata_sums: numbers(metadata_blocks)?,
        };
        table.check_rows()?;
        Ok(table)
    }

    /// Row ends rise strictly and end at the row count, which is not zero.
    pub(super) fn check_rows(&self) -> Result<(), FormatError> {
        expect(
            Region::Header,
            16,
            "index length modulo 32",
            0,
            self.index_bytes % INDEX_ROW_LEN,
        )?;
        let rows = self.row_count();
        let mut last = 0;
        for (number, end) in self.batch_ends.iter().enumerate() {
            if *end <= last || *end > rows {
                let offset = HEADER_BYTES + 8 * number as u64;
                return Err(FormatError::OutOfRange {
                    site: Site::new(CacheFile::Blocks, Region::BatchEnds, offset),
                    field: "batch end",
                    min: last + 1,
                    max: rows,
                    found: *end,
                });
            }
            last = *end;
        }
        expect(
            Region::BatchEnds,
            HEADER_BYTES,
            "last batch end",
            rows.max(1),
            last,
        )
    }
}

fn check_trailer(bytes: &[u8]) -> Result<(), FormatError> {
    let Some((head, trailer)) = bytes.split_last_chunk::<8>() else {
        return Ok(());
    };
    let expected = Checksum::new(u64::from_le_bytes(*trailer));
    let found = block_checksum(head);
    if found == expected {
        return Ok(());
    }
    Err(FormatError::ChecksumMismatch {
        site: Site::new(CacheFile::Blocks, Region::File, 0),
        covered_bytes: head.len() as u64,
        expected,
        found,
    })
}

fn expect(
    region: Region,
    offset: u64,
    field: &'static str,
    expected: u64,
    found: u64,
) -> Result<(), FormatError> {
    if expected == found {
        return Ok(());
    }
    let site = Site::new(CacheFile::Blocks, region, offset);
    Err(FormatError::Mismatch {
        site,
        field,
        expected,
        found,
    })
}
