//! The one hash family of the format: XXH3, 64 bits for records and blocks, 128 for files and digests.
//!
//! Owns which bytes are hashed with which seed, and the text form of a digest. Must not be used against
//! forgers: XXH3 finds accidents, it does not authenticate. Invariant: a value depends on the bytes and the
//! sample id alone, on every platform. Format text: `FORMAT.md`, "Hashes".

use std::fmt;

use twox_hash::{XxHash3_64, XxHash3_128};

use crate::ids::{Checksum, SampleId};

/// An XXH3-128 value, kept as its canonical (big-endian) bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest128([u8; 16]);

impl Digest128 {
    /// Digest of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(XxHash3_128::oneshot(bytes).to_be_bytes())
    }

    /// Names 16 canonical bytes.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The 16 canonical bytes.
    pub const fn bytes(self) -> [u8; 16] {
        self.0
    }

    /// Reads 32 lower-case hexadecimal digits; `None` for any other text.
    pub fn parse_hex(text: &str) -> Option<Self> {
        let mut bytes = [0; 16];
        if text.len() != 32 {
            return None;
        }
        for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            let &[high, low] = pair else { return None };
            *byte = hex_value(high)? << 4 | hex_value(low)?;
        }
        Some(Self(bytes))
    }
}

/// Writes 32 lower-case hexadecimal digits.
impl fmt::Display for Digest128 {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:032x}", u128::from_be_bytes(self.0))
    }
}

fn hex_value(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

/// Checksum of a record's stored bytes, bound to its sample: exchanged index rows do not pass.
#[inline]
pub fn record_checksum(sample: SampleId, stored: &[u8]) -> Checksum {
    Checksum::new(XxHash3_64::oneshot_with_seed(sample.get(), stored))
}

/// Checksum of one 64 KiB block, or of the head of `blocks.bin`.
#[inline]
pub fn block_checksum(block: &[u8]) -> Checksum {
    Checksum::new(XxHash3_64::oneshot(block))
}

/// Running digest and length of a file that is written or read in pieces.
pub struct FileHasher {
    state: XxHash3_128,
    bytes: u64,
}

impl Default for FileHasher {
    fn default() -> Self {
        Self::new()
    }
}

impl FileHasher {
    /// A hasher that has seen nothing.
    pub fn new() -> Self {
        Self {
            state: XxHash3_128::new(),
            bytes: 0,
        }
    }

    /// Adds the next bytes of the file; how they are cut into pieces does not matter.
    pub fn update(&mut self, bytes: &[u8]) {
        self.state.write(bytes);
        self.bytes += bytes.len() as u64;
    }

    /// Length and digest of everything seen.
    pub fn seal(&self) -> FileSeal {
        FileSeal {
            bytes: self.bytes,
            digest: Digest128(self.state.finish_128().to_be_bytes()),
        }
    }
}

/// Length and digest of a whole file, as the manifest lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileSeal {
    /// Length in bytes.
    pub bytes: u64,
    /// XXH3-128 of the whole file.
    pub digest: Digest128,
}

impl FileSeal {
    /// Seal of a file held in memory.
    pub fn of(bytes: &[u8]) -> Self {
        Self {
            bytes: bytes.len() as u64,
            digest: Digest128::of(bytes),
        }
    }
}
