//! Codecs of records and compressions of caches.
//!
//! Owns their numbers and names. Must not compress anything itself. Invariant: a codec number, once given,
//! never changes its meaning. Format text: `FORMAT.md`, "Records".

use std::fmt;

/// How one record is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Codec {
    /// The payload itself.
    Raw = 0,
    /// One LZ4 block.
    Lz4 = 1,
}

impl Codec {
    /// The number in an index row.
    #[inline]
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The codec of a number; `None` where format 1 has none.
    #[inline]
    pub const fn from_code(code: u8) -> Option<Self> {
        match code {
            0 => Some(Self::Raw),
            1 => Some(Self::Lz4),
            _ => None,
        }
    }
}

/// What was asked for when a cache was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Compression {
    /// All records are raw.
    None,
    /// Records are LZ4 blocks where that makes them smaller.
    Lz4,
}

impl Compression {
    /// The name in a manifest.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Lz4 => "lz4",
        }
    }

    /// The compression of a name; `None` where format 1 has none.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "none" => Some(Self::None),
            "lz4" => Some(Self::Lz4),
            _ => None,
        }
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}
