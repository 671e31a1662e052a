//! A SHA-256 value, as manifests of the original system list one per file.
//!
//! Owns its text form. Must not compute one: only verification does, where files are read. Invariant: equal values have
//! one text. Format text: `ORIGINAL.md`, "manifest.json".

use std::fmt;

use crate::checksum::Digest128;

/// The 32 bytes of a SHA-256.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sha256Digest([u8; 32]);

impl Sha256Digest {
    /// Names 32 bytes.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The 32 bytes.
    pub const fn bytes(self) -> [u8; 32] {
        self.0
    }

    /// Reads 64 lower-case hexadecimal digits; `None` for any other text.
    pub fn parse_hex(text: &str) -> Option<Self> {
        let (high, low) = text.split_at_checked(32)?;
        let halves = [Digest128::parse_hex(high)?, Digest128::parse_hex(low)?];
        let mut bytes = [0; 32];
        let digits = halves.iter().flat_map(|half| half.bytes());
        bytes
            .iter_mut()
            .zip(digits)
            .for_each(|(to, from)| *to = from);
        Some(Self(bytes))
    }
}

/// Writes 64 lower-case hexadecimal digits.
impl fmt::Display for Sha256Digest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}
