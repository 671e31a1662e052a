//! One row of `index.bin`: where a record is and how to check it.
//!
//! Owns the 32-byte layout and what a single row must satisfy. Must not read records. Invariant: a decoded
//! row never makes a reader allocate more than 255 times the stored bytes it names.
//! Format text: `FORMAT.md`, "index.bin".

use crate::error::{FormatError, Region, Site};
use crate::files::CacheFile;
use crate::ids::{Checksum, SampleId, ShardId};
use crate::limits::{INDEX_ROW_BYTES, INDEX_ROW_LEN, MAX_LZ4_EXPANSION, MAX_LZ4_RAW_BYTES};
use crate::record::Codec;

/// Place, lengths, codec and checksum of one record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexRow {
    /// The shard that holds the record.
    pub shard: ShardId,
    /// How the record is stored.
    pub codec: Codec,
    /// Start of the record in its shard, in bytes.
    pub offset_bytes: u64,
    /// Bytes in the shard.
    pub stored_bytes: u32,
    /// Bytes of the payload.
    pub raw_bytes: u32,
    /// XXH3-64 of the stored bytes, seeded with the sample id.
    pub checksum: Checksum,
}

/// The 32 bytes of a row.
#[rustfmt::skip] // a line of the array is eight bytes
pub const fn encode_index_row(row: &IndexRow) -> [u8; INDEX_ROW_BYTES] {
    let [s0, s1, s2, s3] = row.shard.get().to_le_bytes();
    let [o0, o1, o2, o3, o4, o5, o6, o7] = row.offset_bytes.to_le_bytes();
    let [l0, l1, l2, l3] = row.stored_bytes.to_le_bytes();
    let [r0, r1, r2, r3] = row.raw_bytes.to_le_bytes();
    let [c0, c1, c2, c3, c4, c5, c6, c7] = row.checksum.get().to_le_bytes();
    [
        s0, s1, s2, s3, row.codec.code(), 0, 0, 0,
        o0, o1, o2, o3, o4, o5, o6, o7,
        l0, l1, l2, l3, r0, r1, r2, r3,
        c0, c1, c2, c3, c4, c5, c6, c7,
    ]
}

/// Reads the row of a sample and checks what one row alone can show.
///
/// # Errors
///
/// [`FormatError::OutOfRange`] for an unknown codec, padding that is not zero, or lengths that do not fit the
/// codec; [`FormatError::Mismatch`] for a raw record with two lengths.
#[inline]
pub fn decode_index_row(
    sample: SampleId,
    bytes: &[u8; INDEX_ROW_BYTES],
) -> Result<IndexRow, FormatError> {
    #[rustfmt::skip]
    let &[
        s0, s1, s2, s3, code, z0, z1, z2,
        o0, o1, o2, o3, o4, o5, o6, o7,
        l0, l1, l2, l3, r0, r1, r2, r3,
        c0, c1, c2, c3, c4, c5, c6, c7,
    ] = bytes;
    let padding = u32::from_le_bytes([z0, z1, z2, 0]);
    let Some(codec) = Codec::from_code(code) else {
        return Err(out_of_range(sample, "codec", 0, 1, u64::from(code)));
    };
    if padding != 0 {
        return Err(out_of_range(sample, "padding", 0, 0, u64::from(padding)));
    }
    let row = IndexRow {
        shard: ShardId::new(u32::from_le_bytes([s0, s1, s2, s3])),
        codec,
        offset_bytes: u64::from_le_bytes([o0, o1, o2, o3, o4, o5, o6, o7]),
        stored_bytes: u32::from_le_bytes([l0, l1, l2, l3]),
        raw_bytes: u32::from_le_bytes([r0, r1, r2, r3]),
        checksum: Checksum::new(u64::from_le_bytes([c0, c1, c2, c3, c4, c5, c6, c7])),
    };
    row.check_lengths(sample)?;
    Ok(row)
}

impl IndexRow {
    /// First byte after the record in its shard; `None` beyond 64 bits.
    #[inline]
    pub const fn end_bytes(&self) -> Option<u64> {
        self.offset_bytes.checked_add(self.stored_bytes as u64)
    }

    /// Checks that the record lies within a shard of the given length.
    ///
    /// # Errors
    ///
    /// [`FormatError::OutOfRange`] naming the record's end and the shard's length.
    #[inline]
    pub fn check_within(&self, sample: SampleId, shard_bytes: u64) -> Result<(), FormatError> {
        match self.end_bytes() {
            Some(end) if end <= shard_bytes => Ok(()),
            end => Err(out_of_range(
                sample,
                "record end",
                0,
                shard_bytes,
                end.unwrap_or(u64::MAX),
            )),
        }
    }

    #[inline]
    fn check_lengths(&self, sample: SampleId) -> Result<(), FormatError> {
        let stored = u64::from(self.stored_bytes);
        let raw = u64::from(self.raw_bytes);
        match self.codec {
            Codec::Raw if raw == stored => Ok(()),
            Codec::Raw => Err(FormatError::Mismatch {
                site: row_site(sample),
                field: "raw length of a raw record",
                expected: stored,
                found: raw,
            }),
            Codec::Lz4 => {
                let most = (stored * MAX_LZ4_EXPANSION).min(MAX_LZ4_RAW_BYTES);
                if stored < raw && raw <= most {
                    return Ok(());
                }
                Err(out_of_range(
                    sample,
                    "raw length of an LZ4 record",
                    stored + 1,
                    most,
                    raw,
                ))
            }
        }
    }
}

fn row_site(sample: SampleId) -> Site {
    let offset = sample.get().saturating_mul(INDEX_ROW_LEN);
    Site::new(CacheFile::Index, Region::IndexRow, offset).about(sample)
}

#[cold]
fn out_of_range(
    sample: SampleId,
    field: &'static str,
    min: u64,
    max: u64,
    found: u64,
) -> FormatError {
    FormatError::OutOfRange {
        site: row_site(sample),
        field,
        min,
        max,
        found,
    }
}
