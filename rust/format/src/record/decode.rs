//! Checking and decoding of stored records.
//!
//! Owns the comparison of a record with its index row. Must not allocate: the caller brings the buffer, made
//! after the row was checked. Invariant: `Ok` means that the payload is the one that was written, whole.
//! Format text: `FORMAT.md`, "Records".

use super::{Codec, lz4};
use crate::checksum::record_checksum;
use crate::error::{FormatError, Region, Site};
use crate::files::CacheFile;
use crate::ids::SampleId;
use crate::index::IndexRow;

/// Checks stored bytes against the length and checksum of their index row.
///
/// # Errors
///
/// [`FormatError::Truncated`] and [`FormatError::ChecksumMismatch`], located at the record.
///
/// # Cost
///
/// One hash pass over the stored bytes.
#[inline]
pub fn check_record(sample: SampleId, row: &IndexRow, stored: &[u8]) -> Result<(), FormatError> {
    row.check_length(sample, stored.len() as u64)?;
    let found = record_checksum(sample, stored);
    if found == row.checksum {
        return Ok(());
    }
    Err(FormatError::ChecksumMismatch {
        site: record_site(sample, row),
        covered_bytes: u64::from(row.stored_bytes),
        expected: row.checksum,
        found,
    })
}

/// Decodes stored bytes into `out`, which has exactly the payload's length. Does not look at the checksum.
///
/// # Errors
///
/// [`FormatError::BufferLength`] when `out` has another length than `row.raw_bytes`;
/// [`FormatError::Truncated`], [`FormatError::Malformed`] and [`FormatError::Mismatch`] when the stored
/// bytes do not hold exactly that payload. `out` is then all zero.
///
/// # Cost
///
/// One copy, or one decompression pass; no allocation.
pub fn decode_record(
    sample: SampleId,
    row: &IndexRow,
    stored: &[u8],
    out: &mut [u8],
) -> Result<(), FormatError> {
    if out.len() as u64 != u64::from(row.raw_bytes) {
        return Err(FormatError::BufferLength {
            expected_bytes: u64::from(row.raw_bytes),
            found_bytes: out.len() as u64,
        });
    }
    let outcome = decode_exact(sample, row, stored, out);
    if outcome.is_err() {
        out.fill(0);
    }
    outcome
}

fn decode_exact(
    sample: SampleId,
    row: &IndexRow,
    stored: &[u8],
    out: &mut [u8],
) -> Result<(), FormatError> {
    row.check_length(sample, stored.len() as u64)?;
    let site = record_site(sample, row);
    let held = match row.codec {
        Codec::Raw if stored.len() == out.len() => {
            out.copy_from_slice(stored);
            stored.len()
        }
        Codec::Raw => stored.len(),
        Codec::Lz4 => lz4::decompress(stored, out).map_err(|source| FormatError::Malformed {
            site,
            what: "LZ4 block",
            source,
        })?,
    };
    if held == out.len() {
        return Ok(());
    }
    Err(FormatError::Mismatch {
        site,
        field: "payload length",
        expected: u64::from(row.raw_bytes),
        found: held as u64,
    })
}

impl IndexRow {
    /// Checks that there are exactly the stored bytes that the row says.
    ///
    /// # Errors
    ///
    /// [`FormatError::Truncated`], located at the record.
    #[inline]
    pub fn check_length(&self, sample: SampleId, found_bytes: u64) -> Result<(), FormatError> {
        if found_bytes == u64::from(self.stored_bytes) {
            return Ok(());
        }
        Err(FormatError::Truncated {
            site: record_site(sample, self),
            expected_bytes: u64::from(self.stored_bytes),
            found_bytes,
        })
    }
}

fn record_site(sample: SampleId, row: &IndexRow) -> Site {
    Site::new(
        CacheFile::Shard(row.shard),
        Region::Record,
        row.offset_bytes,
    )
    .about(sample)
}
