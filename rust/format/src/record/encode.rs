//! Encoding of one payload into the bytes of its record.
//!
//! Owns the choice between raw and LZ4. Must not decide where a record goes: shard and offset are given by
//! the one thread that commits in order. Invariant: the outcome depends on payload, compression and sample
//! alone, never on what a buffer held before. Format text: `FORMAT.md`, "Records".

use super::lz4;
use super::{Codec, Compression};
use crate::checksum::record_checksum;
use crate::error::FormatError;
use crate::ids::{Checksum, SampleId, ShardId};
use crate::index::IndexRow;
use crate::limits::MAX_PAYLOAD_BYTES;

/// Everything an index row says about a record except its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordHead {
    /// How the record is stored.
    pub codec: Codec,
    /// Bytes in the shard.
    pub stored_bytes: u32,
    /// Bytes of the payload.
    pub raw_bytes: u32,
    /// XXH3-64 of the stored bytes, seeded with the sample id.
    pub checksum: Checksum,
}

impl RecordHead {
    /// The bytes to store: the payload itself, or what [`encode_record`] left in `scratch`.
    #[inline]
    pub fn stored<'a>(&self, payload: &'a [u8], scratch: &'a [u8]) -> &'a [u8] {
        match self.codec {
            Codec::Raw => payload,
            Codec::Lz4 => scratch
                .get(..self.stored_bytes as usize)
                .unwrap_or_default(),
        }
    }

    /// The index row of the record at a place.
    #[inline]
    pub const fn at(self, shard: ShardId, offset_bytes: u64) -> IndexRow {
        IndexRow {
            shard,
            codec: self.codec,
            offset_bytes,
            stored_bytes: self.stored_bytes,
            raw_bytes: self.raw_bytes,
            checksum: self.checksum,
        }
    }
}

/// Says whether a payload of this length can be stored; for before its bytes are touched.
///
/// # Errors
/// [`FormatError::PayloadTooLarge`] beyond 2^32 - 1 bytes.
pub fn check_payload_bytes(sample: SampleId, payload_bytes: usize) -> Result<u32, FormatError> {
    u32::try_from(payload_bytes).map_err(|_| FormatError::PayloadTooLarge {
        sample,
        max_bytes: MAX_PAYLOAD_BYTES,
        found_bytes: payload_bytes as u64,
    })
}

/// Encodes one payload; nothing is copied when the record is raw.
///
/// [`RecordHead::stored`] tells the stored bytes: with [`Codec::Lz4`] they are the start of `scratch`, with
/// [`Codec::Raw`] the payload. `scratch` only ever grows and may be handed in again to save allocations.
///
/// # Errors
///
/// [`FormatError::PayloadTooLarge`] beyond 2^32 - 1 bytes.
///
/// # Cost
///
/// One hash pass over the stored bytes; with LZ4 one compression pass and a buffer of about the payload's
/// length.
pub fn encode_record(
    payload: &[u8],
    compression: Compression,
    sample: SampleId,
    scratch: &mut Vec<u8>,
) -> Result<RecordHead, FormatError> {
    let raw_bytes = check_payload_bytes(sample, payload.len())?;
    let block = match compression {
        Compression::None => None,
        Compression::Lz4 => lz4::compress_smaller(payload, scratch),
    };
    let (codec, stored) = match block {
        None => (Codec::Raw, payload),
        Some(block) => (Codec::Lz4, block),
    };
    // A block is kept only where it is smaller than the payload, whose length fits.
    let stored_bytes = u32::try_from(stored.len()).unwrap_or(raw_bytes);
    let checksum = record_checksum(sample, stored);
    Ok(RecordHead {
        codec,
        stored_bytes,
        raw_bytes,
        checksum,
    })
}
