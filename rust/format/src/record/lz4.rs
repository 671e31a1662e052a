//! One LZ4 block per record, without prefix, frame or dictionary.
//!
//! Owns the calls into `lz4_flex` (its safe encoder and decoder). Must not allocate by a declared size.
//! Invariant: what a buffer held before is never part of an answer. Format text: `FORMAT.md`, "Records".

use std::sync::Arc;

use lz4_flex::block::{compress_into, decompress_into, get_maximum_output_size};

use crate::error::SharedError;
use crate::limits::MAX_LZ4_RAW_BYTES;

/// Compresses into the start of `scratch` and answers the block, or `None` where raw is at least as small.
pub(super) fn compress_smaller<'a>(payload: &[u8], scratch: &'a mut Vec<u8>) -> Option<&'a [u8]> {
    if payload.is_empty() || payload.len() as u64 > MAX_LZ4_RAW_BYTES {
        return None;
    }
    let most = get_maximum_output_size(payload.len());
    if scratch.len() < most {
        scratch.resize(most, 0);
    }
    let written = compress_into(payload, scratch).ok()?;
    if written >= payload.len() {
        return None;
    }
    scratch.get(..written)
}

/// Decompresses `stored` into the whole of `out`; `Ok(n)` says how many bytes the block held.
pub(super) fn decompress(stored: &[u8], out: &mut [u8]) -> Result<usize, SharedError> {
    decompress_into(stored, out).map_err(|error| Arc::new(error) as SharedError)
}
