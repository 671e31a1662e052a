//! Caches of the original system, manifest versions 2 and 3: decoded, never encoded.

mod manifest;
mod record;
mod sha256;

pub use manifest::{OriginalManifest, OriginalShard, decode_original_manifest};
pub use record::{ORIGINAL_ROW_BYTES, ORIGINAL_ROW_LEN, OriginalRecord, check_envelope};
pub use sha256::Sha256Digest;

#[cfg(test)]
mod tests;
