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

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of the reference implementation (`xxhash` 4.1 for Python).
    #[test]
    fn hashes_of_known_bytes_are_those_of_xxh3() {
        let bytes: Vec<u8> = (0..=255).cycle().take(1000).collect();
        let record =
            |sample, length| record_checksum(SampleId::new(sample), &bytes[..length]).get();
        for (sample, length, expected) in RECORD_VECTORS {
            assert_eq!(record(sample, length), expected, "{sample} {length}");
        }
        assert_eq!(block_checksum(&bytes).get(), record(0, 1000));
        for (length, expected) in DIGEST_VECTORS {
            assert_eq!(Digest128::of(&bytes[..length]).to_string(), expected);
        }
    }

    #[test]
    fn file_hasher_fed_in_pieces_gives_the_digest_of_the_whole() {
        let bytes: Vec<u8> = (0..=255).cycle().take(10_000).collect();
        for piece in [1, 7, 64, 255, 1024, 4096, 10_000] {
            let mut hasher = FileHasher::new();
            bytes.chunks(piece).for_each(|chunk| hasher.update(chunk));
            assert_eq!(hasher.seal(), FileSeal::of(&bytes));
        }
        assert_eq!(FileHasher::default().seal(), FileSeal::of(b""));
    }

    #[test]
    fn digest_text_comes_back_and_other_text_does_not() {
        let digest = Digest128::of(b"x");
        assert_eq!(Digest128::parse_hex(&digest.to_string()), Some(digest));
        assert_eq!(Digest128::from_bytes(digest.bytes()), digest);
        let text = digest.to_string();
        for other in [
            &text[1..],
            &text.to_uppercase(),
            &text.replace('a', "g"),
            "",
            &"é".repeat(16),
        ] {
            assert_eq!(Digest128::parse_hex(other), None, "{other}");
        }
    }

    const RECORD_VECTORS: [(u64, usize, u64); 8] = [
        (0, 0, 0x2d06_8005_38d3_94c2),
        (0, 1000, 0xd33d_d80b_46f6_0e50),
        (1, 0, 0x4dc5_b0cc_826f_6703),
        (1, 3, 0x3b3b_85a9_68c7_f81d),
        (u64::MAX, 16, 0xc6b0_c818_3df9_cfb1),
        (7, 100, 0xf99b_7990_5a88_dc51),
        (7, 240, 0x7c24_1a22_d405_c084),
        (123_456_789, 1000, 0x25cc_7688_3cfd_4141),
    ];

    const DIGEST_VECTORS: [(usize, &str); 4] = [
        (0, "99aa06d3014798d86001c324468d497f"),
        (5, "9434532106a7c141c920d2347a85929b"),
        (200, "cb0395310643ba0edd97e9af3609d9f5"),
        (1000, "076f7e02b7120d2ad33dd80b46f60e50"),
    ];
}
