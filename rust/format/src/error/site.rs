//! Where in a cache something was found.
//!
//! Owns [`Site`] and [`Region`]. Must not hold absolute paths: this crate never learns one.
//! Invariant: an offset counts from the start of the named file.
//! Format text: `FORMAT.md`, "What a reader must refuse".

use std::fmt;

use crate::files::CacheFile;
use crate::ids::SampleId;

/// Which structure of a file a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Region {
    /// The whole file.
    File,
    /// Fixed fields at the start of a file.
    Header,
    /// JSON text of a manifest or an origin file.
    Json,
    /// A row of the index.
    IndexRow,
    /// A 64 KiB check block.
    Block,
    /// The table of batch row ends in `blocks.bin`.
    BatchEnds,
    /// The footer of `metadata.arrow`.
    Footer,
    /// The header of a record batch in `metadata.arrow`.
    BatchHeader,
    /// A value in `metadata.arrow`.
    Value,
    /// The stored bytes of a sample.
    Record,
}

impl fmt::Display for Region {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::File => "file",
            Self::Header => "header",
            Self::Json => "json",
            Self::IndexRow => "index row",
            Self::Block => "block",
            Self::BatchEnds => "batch ends",
            Self::Footer => "footer",
            Self::BatchHeader => "batch header",
            Self::Value => "value",
            Self::Record => "record",
        })
    }
}

/// Where in a cache something was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Site {
    /// The file.
    pub file: CacheFile,
    /// The structure within the file.
    pub region: Region,
    /// Distance from the start of the file, in bytes.
    pub offset_bytes: u64,
    /// The sample concerned, where one is.
    pub sample: Option<SampleId>,
}

impl Site {
    /// A site without a sample.
    pub const fn new(file: CacheFile, region: Region, offset_bytes: u64) -> Self {
        Self {
            file,
            region,
            offset_bytes,
            sample: None,
        }
    }

    /// The same site, about one sample.
    #[must_use]
    pub const fn about(mut self, sample: SampleId) -> Self {
        self.sample = Some(sample);
        self
    }
}

impl fmt::Display for Site {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "{}, {} at byte {}",
            self.file, self.region, self.offset_bytes
        )?;
        match self.sample {
            Some(sample) => write!(out, ", sample {sample}"),
            None => Ok(()),
        }
    }
}
