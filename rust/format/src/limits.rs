//! Widths and limits of format 1, each a named constant with its unit.
//!
//! Owns the numbers that encoders and decoders share. Must not hold tunable defaults: a change here is a
//! change of the format. Invariant: every limit is stated in `FORMAT.md`, "Limits", with the same value.

/// Bytes of one row of `index.bin`.
pub const INDEX_ROW_BYTES: usize = 32;

/// [`INDEX_ROW_BYTES`] as a file length.
pub const INDEX_ROW_LEN: u64 = 32;

/// Bytes of one check block of `index.bin` and `metadata.arrow`.
pub const BLOCK_BYTES: u64 = 65_536;

/// Largest payload, in bytes: its length has to fit a `u32`.
pub const MAX_PAYLOAD_BYTES: u64 = u32::MAX as u64;

/// Largest payload that may be stored as one LZ4 block, in bytes (the limit of the LZ4 block format).
pub const MAX_LZ4_RAW_BYTES: u64 = 0x7E00_0000;

/// An LZ4 block of n bytes holds at most this many times n bytes.
pub const MAX_LZ4_EXPANSION: u64 = 255;

/// Shards of one cache: their names have six decimal digits.
pub const MAX_SHARDS: u64 = 1_000_000;

/// A metadata batch closes when it has this many rows.
pub const BATCH_ROWS: u64 = 65_536;

/// A metadata batch closes when its text values reach this many bytes.
pub const BATCH_STRING_BYTES: u64 = 8 * 1024 * 1024;
