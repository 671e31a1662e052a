//! The content digest of a cache and the checksum of a small JSON file.
//!
//! Owns which bytes they cover. Must not depend on names of directories or on time: a moved or copied cache
//! keeps its digest. Invariant: equal data files give equal digests.
//! Format text: `FORMAT.md`, "Content digest", "Checksum of a JSON file".

use super::Manifest;
use crate::checksum::{Digest128, FileHasher};
use crate::error::{FormatError, Region, Site};
use crate::files::CacheFile;

const DOMAIN: &[u8] = b"dataset_rt content 1\n";

const BEFORE_DIGITS: &[u8] = b"  \"checksum\": \"";
const AFTER_DIGITS: &[u8] = b"\"\n}\n";
/// The digits while the checksum is computed.
pub(crate) const ZERO_DIGITS: &str = "00000000000000000000000000000000";

impl Manifest {
    /// Digest of sample count and data files; moving, copying or touching a cache does not change it.
    pub fn content_digest(&self) -> Digest128 {
        let mut hasher = FileHasher::new();
        hasher.update(DOMAIN);
        hasher.update(&self.sample_count.to_le_bytes());
        for (file, seal) in self.files() {
            let path = file.path();
            // Paths have a few bytes.
            let length = u32::try_from(path.len()).unwrap_or(u32::MAX);
            hasher.update(&length.to_le_bytes());
            hasher.update(path.as_bytes());
            hasher.update(&seal.bytes.to_le_bytes());
            hasher.update(&seal.digest.bytes());
        }
        hasher.seal().digest
    }
}

/// Puts the checksum in place of the zero digits at the end of a JSON file.
pub(crate) fn fill_checksum(text: &mut Vec<u8>) {
    let digest = Digest128::of(text);
    text.truncate(text.len() - ZERO_DIGITS.len() - AFTER_DIGITS.len());
    text.extend_from_slice(digest.to_string().as_bytes());
    text.extend_from_slice(AFTER_DIGITS);
}

/// Checks the checksum at the end of a JSON file: the last key, in the one spelling that writers use.
pub(crate) fn check_checksum(file: CacheFile, text: &[u8]) -> Result<(), FormatError> {
    let covered_bytes = text.len() as u64;
    let parts = text
        .strip_suffix(AFTER_DIGITS)
        .and_then(|rest| rest.split_last_chunk::<32>())
        .filter(|(head, _)| head.ends_with(BEFORE_DIGITS));
    let expected = parts.and_then(|(_, digits)| {
        std::str::from_utf8(digits)
            .ok()
            .and_then(Digest128::parse_hex)
    });
    let (Some((head, _)), Some(expected)) = (parts, expected) else {
        let tail = text.len().saturating_sub(64);
        return Err(FormatError::InvalidText {
            site: Site::new(file, Region::Json, tail as u64),
            field: "checksum",
            expected: "32 lower-case hex digits in the last line but one".to_owned(),
            found: String::from_utf8_lossy(text.get(tail..).unwrap_or_default()).into_owned(),
        });
    };
    let mut hasher = FileHasher::new();
    hasher.update(head);
    hasher.update(ZERO_DIGITS.as_bytes());
    hasher.update(AFTER_DIGITS);
    let found = hasher.seal().digest;
    if found == expected {
        return Ok(());
    }
    let site = Site::new(file, Region::File, 0);
    Err(FormatError::DigestMismatch {
        site,
        covered_bytes,
        expected,
        found,
    })
}
