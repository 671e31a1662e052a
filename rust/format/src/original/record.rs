//! Records of the original system: a 24-byte index row, and an envelope before the payload.
//!
//! Owns the way from a row to the place of the payload. Must not take metadata from the envelope (its floats are not
//! exact), or trust a length before it is compared. Invariant: what is handed out lies within its shard, and declares no
//! more payload than an LZ4 block of its length can hold. Format text: `ORIGINAL.md`, "index.bin", "Records".

use std::fmt;

use serde::Deserialize;
use serde::de::{IgnoredAny, MapAccess, Visitor};

use super::OriginalManifest;
use crate::error::{FormatError, Region, SharedError, Site};
use crate::files::CacheFile;
use crate::ids::{Checksum, SampleId, ShardId};
use crate::index::IndexRow;
use crate::limits::{MAX_LZ4_EXPANSION, MAX_LZ4_RAW_BYTES};
use crate::record::{Codec, Compression};

/// Bytes of one row of the original's `index.bin`.
pub const ORIGINAL_ROW_BYTES: usize = 24;

/// [`ORIGINAL_ROW_BYTES`] as a file length.
pub const ORIGINAL_ROW_LEN: u64 = 24;

/// Bytes of the length before the JSON of a record.
const JSON_LENGTH_BYTES: u32 = 8;
/// Bytes of the payload's length before an LZ4 block.
const RAW_LENGTH_BYTES: u32 = 4;

/// A record as the index has it: envelope and stored payload, within its shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OriginalRecord {
    /// The sample.
    pub sample: SampleId,
    /// The shard that holds the record.
    pub shard: ShardId,
    /// How the payload is stored.
    pub compression: Compression,
    /// Start of the record in its shard, in bytes.
    pub offset_bytes: u64,
    /// Bytes of the whole record.
    pub bytes: u32,
}

impl OriginalRecord {
    /// Reads the row of a sample and compares it with the manifest.
    ///
    /// # Errors
    ///
    /// [`FormatError::OutOfRange`] for a shard that is not listed, a record that does not end within its shard, or one
    /// that is too short for an envelope or longer than 2^32 - 1 bytes.
    #[inline]
    pub fn decode(
        manifest: &OriginalManifest,
        sample: SampleId,
        row: &[u8; ORIGINAL_ROW_BYTES],
    ) -> Result<Self, FormatError> {
        let &[
            s0,
            s1,
            s2,
            s3,
            s4,
            s5,
            s6,
            s7, //
            o0,
            o1,
            o2,
            o3,
            o4,
            o5,
            o6,
            o7, //
            l0,
            l1,
            l2,
            l3,
            l4,
            l5,
            l6,
            l7,
        ] = row;
        let shard = u64::from_le_bytes([s0, s1, s2, s3, s4, s5, s6, s7]);
        let offset_bytes = u64::from_le_bytes([o0, o1, o2, o3, o4, o5, o6, o7]);
        let length = u64::from_le_bytes([l0, l1, l2, l3, l4, l5, l6, l7]);
        let wrong = |field, min, max, found| out_of_range(row_site(sample), field, min, max, found);
        let listed = usize::try_from(shard)
            .ok()
            .and_then(|at| manifest.shards.get(at));
        let (Some(listed), Ok(number)) = (listed, u32::try_from(shard)) else {
            let last = (manifest.shards.len() as u64).saturating_sub(1);
            return Err(wrong("shard", 0, last, shard));
        };
        let end = offset_bytes.saturating_add(length);
        if end > listed.bytes {
            return Err(wrong("record end", 0, listed.bytes, end));
        }
        let least = JSON_LENGTH_BYTES;
        match u32::try_from(length) {
            Ok(bytes) if bytes >= least => Ok(Self {
                sample,
                shard: ShardId::new(number),
                compression: listed.compression,
                offset_bytes,
                bytes,
            }),
            _ => Err(wrong(
                "record length",
                u64::from(least),
                u64::from(u32::MAX),
                length,
            )),
        }
    }

    /// Finds the payload behind the envelope; `read` fills a buffer from an offset of the record's shard.
    ///
    /// The answer has no checksum.
    ///
    /// # Errors
    ///
    /// [`FormatError::OutOfRange`] where the record is too short for what it declares, or declares more payload than its
    /// block can hold; what `read` answers.
    pub fn payload_row<E: From<FormatError>>(
        &self,
        read: impl Fn(u64, &mut [u8]) -> Result<(), E>,
    ) -> Result<IndexRow, E> {
        let mut head = [0; JSON_LENGTH_BYTES as usize];
        read(self.offset_bytes, &mut head)?;
        let json_bytes = u64::from_le_bytes(head);
        let after_length = self.bytes.saturating_sub(JSON_LENGTH_BYTES);
        let json = u32::try_from(json_bytes)
            .ok()
            .filter(|bytes| *bytes <= after_length);
        let Some(json) = json else {
            return Err(self
                .wrong("JSON length", 0, u64::from(after_length), json_bytes)
                .into());
        };
        let start = self.offset_bytes + u64::from(JSON_LENGTH_BYTES) + u64::from(json);
        let stored_bytes = after_length - json;
        if self.compression == Compression::None {
            return Ok(self.row_at(Codec::Raw, start, stored_bytes, stored_bytes));
        }
        let Some(block_bytes) = stored_bytes.checked_sub(RAW_LENGTH_BYTES) else {
            let least = u64::from(RAW_LENGTH_BYTES);
            let found = u64::from(stored_bytes);
            return Err(self
                .wrong(
                    "stored payload length",
                    least,
                    u64::from(after_length),
                    found,
                )
                .into());
        };
        let mut prefix = [0; RAW_LENGTH_BYTES as usize];
        read(start, &mut prefix)?;
        let raw_bytes = u32::from_le_bytes(prefix);
        let most = (u64::from(block_bytes) * MAX_LZ4_EXPANSION).min(MAX_LZ4_RAW_BYTES);
        if u64::from(raw_bytes) > most {
            return Err(self
                .wrong("payload length", 0, most, u64::from(raw_bytes))
                .into());
        }
        let start = start + u64::from(RAW_LENGTH_BYTES);
        Ok(self.row_at(Codec::Lz4, start, block_bytes, raw_bytes))
    }

    /// The whole record as a row, for whoever looks at places alone.
    pub const fn whole_row(&self) -> IndexRow {
        self.row_at(Codec::Raw, self.offset_bytes, self.bytes, self.bytes)
    }

    const fn row_at(
        &self,
        codec: Codec,
        offset_bytes: u64,
        stored_bytes: u32,
        raw_bytes: u32,
    ) -> IndexRow {
        IndexRow {
            shard: self.shard,
            codec,
            offset_bytes,
            stored_bytes,
            raw_bytes,
            checksum: Checksum::new(0),
        }
    }

    fn wrong(&self, field: &'static str, min: u64, max: u64, found: u64) -> FormatError {
        out_of_range(self.site(), field, min, max, found)
    }

    fn site(&self) -> Site {
        let file = CacheFile::Shard(self.shard);
        Site::new(file, Region::Record, self.offset_bytes).about(self.sample)
    }
}

/// Checks that the envelope of a record holds one JSON object; `payload` is the record's payload row.
///
/// Its values are not looked at.
///
/// # Errors
///
/// [`FormatError::Malformed`], located at the record.
pub fn check_envelope(
    record: &OriginalRecord,
    payload: &IndexRow,
    bytes: &[u8],
) -> Result<(), FormatError> {
    let prefix = match payload.codec {
        Codec::Raw => 0,
        Codec::Lz4 => RAW_LENGTH_BYTES as usize,
    };
    let start = JSON_LENGTH_BYTES as usize;
    let end = bytes
        .len()
        .saturating_sub(payload.stored_bytes as usize + prefix);
    let json = bytes.get(start..end).unwrap_or_default();
    serde_json::from_slice::<AnyObject>(json)
        .map(|_| ())
        .map_err(|error| FormatError::Malformed {
            site: record.site(),
            what: "metadata of a record",
            source: std::sync::Arc::new(error) as SharedError,
        })
}

/// An object whose keys and values do not matter.
struct AnyObject;

impl<'de> Deserialize<'de> for AnyObject {
    fn deserialize<D: serde::Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = AnyObject;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<AnyObject, A::Error> {
                while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(AnyObject)
            }
        }
        reader.deserialize_map(Entries)
    }
}

pub(super) fn row_site(sample: SampleId) -> Site {
    let offset = sample.get().saturating_mul(ORIGINAL_ROW_LEN);
    Site::new(CacheFile::Index, Region::IndexRow, offset).about(sample)
}

#[cold]
fn out_of_range(site: Site, field: &'static str, min: u64, max: u64, found: u64) -> FormatError {
    FormatError::OutOfRange {
        site,
        field,
        min,
        max,
        found,
    }
}
